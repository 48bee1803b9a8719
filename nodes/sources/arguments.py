"""Build the arguments of a tool call from the schema that the tool publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodes.sources import SourceError

_QUESTIONS = ("query", "question", "q", "search", "search_query", "text", "input", "prompt", "keywords", "term")
_COUNTS = frozenset({"limit", "max_results", "maxresults", "num_results", "top_k", "topk", "k", "n", "count", "size"})


def fill(
    schema: Mapping[str, Any], question: str, limit: int, *, given: Mapping[str, Any], argument: str = ""
) -> dict[str, Any]:
    """Return a tool's arguments: the question, the number of results if it accepts one, and the operator's arguments.

    Args:
        schema: JSON Schema of the tool's input.
        question: the question as text.
        limit: the number of results wanted.
        given: arguments that the operator fixed.
        argument: the argument for the question; if empty, it is derived from the schema.

    Raises:
        SourceError: the tool requires an argument without a value.
    """
    properties = schema.get("properties")
    fields: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    required = [name for name in schema.get("required") or () if isinstance(name, str)]
    name = argument or _question_of(fields, required, given)
    counts = {key: limit for key, field in fields.items() if key.lower() in _COUNTS and _is(field, "integer", "number")}
    # `given` comes last, so the operator's arguments win.
    filled = {**counts, name: question, **given}
    missing = [key for key in required if key not in filled]
    if missing:
        raise SourceError(f"the tool also needs {', '.join(missing[:5])[:120]}; give them under `arguments`")
    return filled


def _question_of(fields: Mapping[str, Any], required: list[str], given: Mapping[str, Any]) -> str:
    texts = [name for name, field in fields.items() if _is(field, "string") and name not in given]
    needed = [name for name in texts if name in required]
    known = [name for name in _QUESTIONS if name in texts]
    for choice in (needed if len(needed) == 1 else [], known, texts if len(texts) == 1 else []):
        if choice:
            return choice[0]
    raise SourceError("no argument of the tool is clearly the question; name it as `argument`")


def _is(field: Any, *types: str) -> bool:
    if not isinstance(field, Mapping):
        return False
    own = field.get("type")
    choices = [own, *(one.get("type") for one in field.get("anyOf") or () if isinstance(one, Mapping))]
    return any(kind in types for kind in choices if isinstance(kind, str))
