"""PHP."""

from nodes.search.languages.grammar import Language

LANGUAGE = Language(
    name="php",
    endings=(".php", ".phtml", ".php5", ".inc"),
    package="tree_sitter_php",
    factory="language_php",
    query="""
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @class
(enum_declaration name: (name) @name) @enum
(method_declaration name: (name) @name) @method
(function_definition name: (name) @name) @function
(namespace_use_clause (qualified_name) @import)
(string) @string
(encapsed_string) @string
""",
)
