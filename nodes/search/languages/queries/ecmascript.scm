; What JavaScript and TypeScript have in common.
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
; The ways to write a function as a value.
(lexical_declaration (variable_declarator name: (identifier) @name value:
  [(arrow_function) (function_expression) (generator_function)])) @function
(variable_declaration (variable_declarator name: (identifier) @name value:
  [(arrow_function) (function_expression) (generator_function)])) @function
(expression_statement (assignment_expression left: (identifier) @name right:
  [(arrow_function) (function_expression) (generator_function)])) @function
; `A.b = function` and `A.prototype.b = function`: how classes were written before `class`.
(expression_statement (assignment_expression left: (member_expression
    object: [(identifier) (member_expression object: (identifier))] @owner
    property: [(property_identifier) (private_property_identifier)] @name)
  right: [(arrow_function) (function_expression) (generator_function)])) @function
(expression_statement (assignment_expression left: (member_expression
    object: (this) property: [(property_identifier) (private_property_identifier)] @name)
  right: [(arrow_function) (function_expression) (generator_function)])) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method
(import_statement source: (string) @import)
(export_statement source: (string) @import)
(call_expression function: (import) arguments: (arguments . (string) @import))
(call_expression function: (identifier) @_require arguments: (arguments . (string) @import)
  (#eq? @_require "require"))
(string) @string
(template_string) @string
