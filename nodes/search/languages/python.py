"""Python, and Cython as far as Python's grammar parses it."""

from dataclasses import replace

from nodes.search.languages.grammar import Language
from nodes.search.languages.plain_python import outline_by_lines

LANGUAGE = Language(
    name="python",
    endings=(".py", ".pyi"),
    package="tree_sitter_python",
    query="""
(decorated_definition definition: (function_definition name: (identifier) @name)) @function
(decorated_definition definition: (class_definition name: (identifier) @name)) @class
(function_definition name: (identifier) @name) @function
(class_definition name: (identifier) @name) @class
(import_statement name: (dotted_name) @import)
(import_statement name: (aliased_import name: (dotted_name) @import))
(import_from_statement module_name: (_) @import)
(string) @string
""",
    files=("SConscript", "SConstruct", "wscript"),
    outline_by_lines=outline_by_lines,
)
# ``cdef`` and typed arguments are forms that the line parser does not know.
CYTHON = replace(LANGUAGE, endings=(".pyx", ".pxd"), files=(), outline_by_lines=None)
