"""C."""

from nodes.search.languages.grammar import Language

QUERY = """
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator:
  (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator:
  (function_declarator declarator: (identifier) @name)))) @function
(struct_specifier name: (type_identifier) @name body: (_)) @class
(union_specifier name: (type_identifier) @name body: (_)) @class
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition type: (struct_specifier !name) declarator: (type_identifier) @name) @class
(type_definition type: (union_specifier !name) declarator: (type_identifier) @name) @class
(type_definition type: (enum_specifier !name) declarator: (type_identifier) @name) @enum
(preproc_function_def name: (identifier) @name) @macro
(preproc_include path: (_) @import)
(string_literal) @string
"""

LANGUAGE = Language("c", (".c", ".h"), "tree_sitter_c", QUERY)
