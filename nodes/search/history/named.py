"""Find the commits that an issue names, by SHA or by the number of the change that contained them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.git.errors import SearchError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.history.claims import Claims
    from nodes.search.history.log import Log

MOST = 5
"""The maximum number of SHAs and numbers of one issue that are looked up."""


def named_commits(log: Log, claims: Claims) -> dict[str, tuple[str, bool]]:
    """Map each commit of this history that the issue names to the way it is named, and to whether the issue blames it.

    A number is looked up only if the issue blames it, because most numbers are cross-references.
    """
    found: dict[str, tuple[str, bool]] = {}
    for named in sorted(claims.commits, key=lambda named: not named.blamed)[:MOST]:
        sha = _resolved(log, named.text)
        if sha is not None:
            found.setdefault(sha, (f"`{named.text[:12]}`", named.blamed))
    for sha, number, by_own_message in _numbered(log, [named.text for named in claims.numbers if named.blamed][:MOST]):
        found.setdefault(
            sha,
            (f"#{number}, which its message names" if by_own_message else f"#{number}, which it was merged by", True),
        )
    return found


def _numbered(log: Log, numbers: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield (commit, number, whether its own message names it); a merge yields the commits that it added."""
    for commit in log.mentioning(numbers) if numbers else ():
        number = next((n for n in numbers if re.search(rf"(?<![\w&])#{n}(?!\d)", commit.subject)), None)
        if number is None or commit.subject.startswith("Revert "):
            continue
        if commit.files:
            yield commit.sha, number, True
        else:
            yield from ((sha, number, False) for sha in log.merged(commit.sha))


def _resolved(log: Log, prefix: str) -> str | None:
    try:
        sha = log.repository.resolve(prefix)
    except SearchError:
        return None
    # A branch or tag may have a name that looks like a SHA.
    return sha if sha.startswith(prefix) and log.is_ancestor(sha) else None
