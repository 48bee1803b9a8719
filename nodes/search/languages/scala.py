"""Scala."""

from nodes.search.languages.grammar import Language

LANGUAGE = Language(
    name="scala",
    endings=(".scala", ".sc", ".sbt"),
    package="tree_sitter_scala",
    query="""
(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @class
(trait_definition name: (identifier) @name) @interface
(enum_definition name: (identifier) @name) @enum
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(type_definition name: (type_identifier) @name) @type
(import_declaration) @import
(string) @string
(interpolated_string) @string
""",
)
