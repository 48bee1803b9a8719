"""Python."""

from nodes.search.languages.grammar import Language

LANGUAGE = Language(
    name="python",
    endings=(".py", ".pyi", ".pyx", ".pxd"),
    package="tree_sitter_python",
    query="""
(decorated_definition definition: (function_definition
  name: (identifier) @name parameters: (_) @parameters)) @function
(decorated_definition definition: (class_definition name: (identifier) @name)) @class
(function_definition name: (identifier) @name parameters: (_) @parameters) @function
(class_definition name: (identifier) @name) @class
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(string) @string
""",
    files=("SConscript", "SConstruct", "wscript"),
)
