"""GitHub's search of issues: what is sent, and what of the answer is kept."""

from __future__ import annotations

from typing import Any

from bot.github.answers import Answer, UndecodableError
from bot.github.values import Json

_MOST = 50


def issue_search(query: str, limit: int) -> dict[str, str | int]:
    """The parameters of ``GET /search/issues``, in GitHub's own order: best first."""
    return {"q": query, "per_page": max(1, min(limit, _MOST))}


def found_issues(answer: Answer) -> list[Json]:
    """The issues of an answer.

    Raises:
        UndecodableError: it holds none.
    """
    items: Any = answer.object().get("items")
    if not isinstance(items, list):
        raise UndecodableError("GitHub's answer to a search holds no issues")
    return [item for item in items[:_MOST] if isinstance(item, dict)]
