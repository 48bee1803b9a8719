(class name: (_) @name) @class
(module name: (_) @name) @module
(method name: (_) @name) @method
(singleton_method object: (self) name: (_) @name) @method
(singleton_method object: [(constant) (scope_resolution)] @owner name: (_) @name) @method
(assignment left: [(constant) (scope_resolution)] @name right: (call
  receiver: (constant) @_maker method: (identifier) @_new block: (_))
  (#any-of? @_maker "Struct" "Class" "Module" "Data") (#any-of? @_new "new" "define")) @class
(call method: (identifier) @_define arguments: (argument_list . (simple_symbol) @name) block: (_)
  (#any-of? @_define "define_method" "define_singleton_method")) @method
(call method: (identifier) @_require arguments: (argument_list . (string) @import)
  (#any-of? @_require "require" "require_relative" "load" "autoload"))
(string) @string
(heredoc_body (heredoc_content) @string)
