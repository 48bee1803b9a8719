"""Facts are checked again, by other means than those that found them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nodes.search.facts.types import Fact
    from nodes.search.git import Repository


def verify(fact: Fact, repository: Repository, sha: str, issue_text: str) -> str | None:
    """Return why a fact does not hold, or None."""
    return None
