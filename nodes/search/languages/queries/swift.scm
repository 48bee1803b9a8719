(class_declaration declaration_kind: ["class" "struct" "actor"] name: (type_identifier) @name) @class
(class_declaration declaration_kind: "enum" name: (type_identifier) @name) @enum
(class_declaration declaration_kind: "extension" name: (_) @name) @scope
(protocol_declaration name: (type_identifier) @name) @interface
(function_declaration name: _ @name) @function
(subscript_declaration "subscript" @name) @method
(property_declaration name: (pattern bound_identifier: (simple_identifier) @name) computed_value: (_)) @method
(macro_declaration (simple_identifier) @name) @macro
(protocol_function_declaration name: (simple_identifier) @name) @method
(init_declaration "init" @name) @method
(deinit_declaration "deinit" @name) @method
(typealias_declaration name: (type_identifier) @name) @type
(import_declaration (identifier) @import)
(line_string_literal) @string
(multi_line_string_literal) @string
