; The grammar nests a declarator per `*` of a function's result; two levels cover nearly all functions. There is one
; pattern for all of them, because compiling a pattern takes milliseconds in a large grammar.
(function_definition declarator: [
  (function_declarator declarator: (identifier) @name)
  (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))
  (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name)))
]) @function
