(function_declaration name: (identifier) @name) @function
(method_declaration receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @owner
    (pointer_type (type_identifier) @owner)
    (generic_type type: (type_identifier) @owner)
    (pointer_type (generic_type type: (type_identifier) @owner))
  ])) name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @class
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name type: [
    (function_type) (map_type) (slice_type) (type_identifier) (qualified_type) (pointer_type)
    (channel_type) (array_type)
  ]) @type
(type_alias name: (type_identifier) @name) @type
(var_spec name: (identifier) @name value: (expression_list . (func_literal) .)) @function
(import_spec path: (_) @import)
(interpreted_string_literal) @string
(raw_string_literal) @string
