(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @class
(enum_declaration name: (name) @name) @enum
(method_declaration name: (name) @name) @method
(function_definition name: (name) @name) @function
(expression_statement (assignment_expression left: (variable_name (name) @name)
  right: [(anonymous_function) (arrow_function)])) @function
(namespace_use_declaration (namespace_use_clause [(qualified_name) (name)] @import))
(namespace_use_declaration (namespace_name) @import body: (namespace_use_group))
(require_expression [(string) (encapsed_string)] @import)
(require_once_expression [(string) (encapsed_string)] @import)
(require_expression (binary_expression right: (string) @import))
(require_once_expression (binary_expression right: (string) @import))
(include_expression [(string) (encapsed_string)] @import)
(include_once_expression [(string) (encapsed_string)] @import)
(string) @string
(encapsed_string) @string
(heredoc_body (string_content) @string)
