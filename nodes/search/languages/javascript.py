"""JavaScript and JSX."""

from nodes.search.languages.grammar import Language


def _callables(prefix: str, suffix: str) -> str:
    """Return a pattern for each way to write a function as a value."""
    return f"{prefix}[(arrow_function) (function_expression) (generator_function)]{suffix}\n"


# ``A.b = function`` and ``A.prototype.b = function``: how classes were written before ``class``.
_OWNER = "[(identifier) (member_expression object: (identifier))] @owner"

QUERY = (
    """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @class
(variable_declarator name: (identifier) @name value: (object)) @scope
(pair key: (property_identifier) @name value: (object)) @scope
(export_statement decorator: (_) declaration: (class_declaration name: (_) @name)) @class
(assignment_expression left: (member_expression) @name right: (object)
  (#match? @name "^[A-Za-z_$][A-Za-z0-9_$.]*$") (#not-any-of? @name "module.exports")) @scope
"""
    + _callables("(lexical_declaration (variable_declarator name: (identifier) @name value: ", ")) @function")
    + _callables("(variable_declaration (variable_declarator name: (identifier) @name value: ", ")) @function")
    + _callables("(expression_statement (assignment_expression left: (identifier) @name right: ", ")) @function")
    + _callables(
        f"(expression_statement (assignment_expression left: (member_expression object: {_OWNER} "
        "property: [(property_identifier) (private_property_identifier)] @name) right: ",
        ")) @function",
    )
    + _callables(
        "(expression_statement (assignment_expression left: (member_expression object: (this) "
        "property: [(property_identifier) (private_property_identifier)] @name) right: ",
        ")) @function",
    )
    + _callables("(pair key: (property_identifier) @name value: ", ") @method")
    + """
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (import) arguments: (arguments . (string) @import))
(call_expression function: (identifier) @_require arguments: (arguments . (string) @import)
  (#eq? @_require "require"))
(string) @string
(template_string) @string
"""
)


def fields(node: str, key: str) -> str:
    """Return the pattern of class fields whose value is a function; node names differ between grammars."""
    return _callables(f"({node} {key}: (_) @name value: ", ") @method")


LANGUAGE = Language(
    name="javascript",
    endings=(".js", ".jsx", ".mjs", ".cjs"),
    package="tree_sitter_javascript",
    query=QUERY + fields("field_definition", "property"),
)
