; What C and C++ have in common.
[(struct_specifier name: (type_identifier) @name body: (_)) (union_specifier name: (type_identifier) @name body: (_))]
  @class
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition type: [(struct_specifier !name) (union_specifier !name)] declarator: (type_identifier) @name) @class
(type_definition type: (enum_specifier !name) declarator: (type_identifier) @name) @enum
(preproc_function_def name: (identifier) @name) @macro
(preproc_include path: (_) @import)
(string_literal) @string
