"""Ruby."""

from nodes.search.languages.grammar import Language

LANGUAGE = Language(
    name="ruby",
    endings=(".rb", ".rake", ".gemspec", ".ru"),
    package="tree_sitter_ruby",
    query="""
(class name: (_) @name) @class
(module name: (_) @name) @module
(method name: (_) @name) @method
(singleton_method name: (_) @name) @method
(call method: (identifier) @_require arguments: (argument_list . (string) @import)
  (#any-of? @_require "require" "require_relative" "load" "autoload"))
(string) @string
""",
)
