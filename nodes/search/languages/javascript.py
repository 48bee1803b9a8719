"""JavaScript and JSX."""

from nodes.search.languages.grammar import Language

QUERY = """
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(class_declaration name: (_) @name) @class
(method_definition name: (_) @name) @method
(lexical_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)])) @function
(variable_declaration (variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)])) @function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @class
(expression_statement (assignment_expression left: (identifier) @name
  right: [(arrow_function) (function_expression) (generator_function)])) @function
(expression_statement (assignment_expression left: (member_expression object: (identifier) @owner
  property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)])) @function
(expression_statement (assignment_expression left: (member_expression
  object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
  property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function)])) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
(import_statement source: (string) @import)
(call_expression function: (identifier) @_require arguments: (arguments . (string) @import)
  (#eq? @_require "require"))
(string) @string
(template_string) @string
"""

LANGUAGE = Language(
    name="javascript",
    endings=(".js", ".jsx", ".mjs", ".cjs"),
    package="tree_sitter_javascript",
    query=QUERY + "(field_definition property: (_) @name value: (arrow_function)) @method\n",
)
