(public_field_definition name: (_) @name value:
  [(arrow_function) (function_expression) (generator_function)]) @method
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
