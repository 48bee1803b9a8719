; The grammar has one node for classes, interfaces and enums. Of several matches of a node the first pattern counts,
; so the specific ones come first.
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @enum
(class_declaration "interface" name: (identifier) @name) @interface
(class_declaration name: (identifier) @name) @class
(object_declaration name: (identifier) @name) @class
(companion_object name: (identifier) @name) @class
(function_declaration name: (identifier) @name) @function
(secondary_constructor "constructor" @name) @method
(type_alias type: (identifier) @name) @type
(import (qualified_identifier) @import)
(string_literal) @string
(multiline_string_literal) @string
