"""GitHub's search of issues: its parameters, and the issues in its response."""

from __future__ import annotations

from typing import Any

from bot.github.answers import Answer, UndecodableError
from bot.github.values import Json

_MOST = 50
"""Issues of one search at most."""


def issue_search(query: str, limit: int) -> dict[str, str | int]:
    """The parameters of ``GET /search/issues``. Results are in GitHub's default order, best first."""
    return {"q": query, "per_page": max(1, min(limit, _MOST))}


def found_issues(answer: Answer) -> list[Json]:
    """The issues in a response, at most 50.

    Raises:
        UndecodableError: The response has no list of issues.
    """
    items: Any = answer.object().get("items")
    if not isinstance(items, list):
        raise UndecodableError("GitHub's answer to a search holds no issues")
    return [item for item in items[:_MOST] if isinstance(item, dict)]
