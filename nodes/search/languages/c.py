"""C."""

from nodes.search.languages.grammar import Language


def functions(name: str, *others: str) -> str:
    """Return the pattern of functions with such a name, also for pointer results; ``others`` are further declarators.

    There is one pattern for all, because compiling a pattern takes milliseconds in a large grammar.
    """
    # The grammar nests a declarator per ``*`` of the result; two levels cover nearly all functions.
    plain = f"(function_declarator declarator: {name})"
    pointed = f"(pointer_declarator declarator: {plain})"
    every = (plain, pointed, f"(pointer_declarator declarator: {pointed})", *others)
    return f"(function_definition declarator: [{' '.join(every)}]) @function"


TYPES = """
[(struct_specifier name: (type_identifier) @name body: (_)) (union_specifier name: (type_identifier) @name body: (_))]
  @class
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(type_definition type: [(struct_specifier !name) (union_specifier !name)] declarator: (type_identifier) @name) @class
(type_definition type: (enum_specifier !name) declarator: (type_identifier) @name) @enum
(preproc_function_def name: (identifier) @name) @macro
(preproc_include path: (_) @import)
(string_literal) @string
"""

LANGUAGE = Language("c", (".c", ".h"), "tree_sitter_c", functions("(identifier) @name") + TYPES)
