"""TypeScript and TSX, and the scripts in components and templates."""

import re

from nodes.search.languages.grammar import Language
from nodes.search.languages.javascript import QUERY, fields

_QUERY = (
    QUERY
    + fields("public_field_definition", "name")
    + """
(abstract_class_declaration name: (_) @name) @class
(export_statement decorator: (_) declaration: (abstract_class_declaration name: (_) @name)) @class
(abstract_method_signature name: (_) @name) @method
(interface_declaration name: (_) @name) @interface
(enum_declaration name: (_) @name) @enum
(type_alias_declaration name: (_) @name) @type
(function_signature name: (_) @name) @function
(internal_module name: (_) @name) @module
(module name: (identifier) @name) @module
(class_body (decorator) @lead)
(import_require_clause source: (string) @import)
"""
)

LANGUAGE = Language("typescript", (".ts", ".mts", ".cts"), "tree_sitter_typescript", _QUERY, "language_typescript")
TSX = Language("tsx", (".tsx",), "tree_sitter_typescript", _QUERY, "language_tsx")
_SCRIPT = re.compile(rb"<script\b[^<>]*>", re.IGNORECASE)
_NOT_FEED = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


def scripts_of(source: bytes) -> bytes:
    """Return a page with everything blanked except its scripts; lines and columns stay."""
    parts, at = [], 0
    while opening := _SCRIPT.search(source, at):
        closing = source.find(b"</script", opening.end())
        end = closing if closing >= 0 else len(source)
        parts += [source[at : opening.end()].translate(_NOT_FEED), source[opening.end() : end]]
        at = end
    return b"".join([*parts, source[at:].translate(_NOT_FEED)])


COMPONENT = Language(
    name="component",
    endings=(".vue", ".svelte", ".astro", ".erb", ".ejs"),
    package="tree_sitter_typescript",
    query=_QUERY,
    factory="language_typescript",
    code_of=scripts_of,
)
