; Functions, also with up to two levels of pointers as result, as in C.
(function_definition declarator: [
  (function_declarator declarator:
    [(identifier) (qualified_identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @name)
  (pointer_declarator declarator: (function_declarator declarator:
    [(identifier) (qualified_identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator:
    [(identifier) (qualified_identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @name)))
  (reference_declarator (function_declarator declarator:
    [(identifier) (qualified_identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @name))
  (operator_cast) @name
  (qualified_identifier name: (operator_cast)) @name
]) @function
(function_definition type: [(class_specifier !body) (struct_specifier !body)] declarator: (identifier) @name) @class
(class_specifier name: [(type_identifier) (template_type)] @name body: (_)) @class
(struct_specifier name: (template_type) @name body: (_)) @class
(namespace_definition name: (_) @name) @scope
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type
(template_declaration "template" @lead)
(template_declaration parameters: (_) @lead)
(template_declaration (requires_clause) @lead)
(raw_string_literal (raw_string_content) @string)
