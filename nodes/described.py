"""Describe the fields of a JSON Schema by the docstrings below them."""

import ast
import functools
import inspect
import textwrap
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema


@functools.cache
def field_docs(of: type) -> dict[str, str]:
    """Return the docstring of each field of a model or a dataclass that has one, inherited fields included."""
    docs: dict[str, str] = {}
    for base in reversed([base for base in of.__mro__ if base not in BaseModel.__mro__]):
        tree = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        for field, doc in pairwise(tree.body if isinstance(tree, ast.ClassDef) else ()):
            match field, doc:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    docs[name] = inspect.cleandoc(text)
    return docs


def describe_fields(schema: dict[str, Any], of: type) -> None:
    """Add the docstrings to the schema of a model, for ``json_schema_extra``.

    They are read when a schema is made; ``use_attribute_docstrings`` reads the source of each model at import.
    """
    for name, docs in field_docs(of).items():
        schema["properties"][name].setdefault("description", docs)


class Described(GenerateJsonSchema):
    """Also describes the fields of dataclasses, which have no ``json_schema_extra``."""

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        """Return the schema of a dataclass with its fields' docstrings."""
        made = super().dataclass_schema(schema)
        describe_fields(made, schema["cls"])
        return made
