(class_declaration name: (identifier) @name) @class
(struct_declaration name: (identifier) @name) @class
(record_declaration name: (identifier) @name) @class
(interface_declaration name: (identifier) @name) @interface
(enum_declaration name: (identifier) @name) @enum
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name) @method
(constructor_declaration name: (identifier) @name) @method
(destructor_declaration name: (identifier) @name) @method
(operator_declaration operator: _ @name) @method
(indexer_declaration "this" @name) @method
(event_declaration name: (identifier) @name) @method
(property_declaration name: (identifier) @name) @method
(local_function_statement name: (identifier) @name) @function
(using_directive (qualified_name) @import)
(using_directive !name (identifier) @import)
(string_literal) @string
(interpolated_string_expression) @string
(verbatim_string_literal) @string
