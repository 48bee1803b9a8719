"""C++."""

from nodes.search.languages.c import TYPES, functions
from nodes.search.languages.grammar import Language

_NAME = (
    "[(identifier) (qualified_identifier) (field_identifier) (destructor_name) (operator_name)"
    " (template_function)] @name"
)

LANGUAGE = Language(
    name="cpp",
    endings=(".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".cu", ".cuh"),
    package="tree_sitter_cpp",
    query=functions(
        _NAME,
        f"(reference_declarator (function_declarator declarator: {_NAME}))",
        "(operator_cast) @name",
        "(qualified_identifier name: (operator_cast)) @name",
    )
    + TYPES
    + """
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
""",
)
