(class_definition name: (identifier) @name) @class
(object_definition name: (identifier) @name) @class
(trait_definition name: (identifier) @name) @interface
(enum_definition name: (identifier) @name) @enum
(function_definition name: (_) @name) @function
(function_declaration name: (_) @name) @function
(val_definition pattern: (identifier) @name value: (lambda_expression)) @function
(given_definition name: (identifier) @name) @class
(given_definition !name return_type: (type_identifier) @name) @class
(package_object name: (identifier) @name) @scope
(type_definition name: (type_identifier) @name) @type
(import_declaration) @import
(string) @string
(interpolated_string) @string
