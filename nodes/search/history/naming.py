"""Find the commits whose messages name an issue, and the releases that contain a commit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.search.history.mainline import references
from nodes.search.history.printed import checked
from nodes.search.history.versions import main_releases, read_releases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.history.log import Log
    from nodes.search.history.types import Commit
    from nodes.search.history.versions import Release, Releases

MAX_NAMING, MAX_READ = 4, 60
"""Maximum number of commits that are returned, and of messages that are read."""
_PULL = re.compile(r"\(#(\d{1,9})\)\s*$|^Merge pull request #(\d{1,9})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamingCommit:
    """A commit whose message names an issue."""

    sha: str
    subject: str
    committed: int
    """Seconds since 1970."""
    closes: bool
    """Whether the message says that the commit fixes or closes the issue."""
    pull: int | None = None
    """The pull request that contained the commit, if the first line of its message ends with or begins with it."""
    release: str = ""
    """The first final release that contains the commit; empty if none does."""


def naming(log: Log, number: int, project: str, since: int) -> tuple[NamingCommit, ...]:
    """Return the latest commits of a history that name an issue, without those that were reverted.

    Args:
        log: the history.
        number: the issue's number.
        project: owner/name, to recognise references that include it.
        since: when the issue was opened (seconds since 1970); earlier commits refer to another issue, for example of an
        old tracker.
    """
    found = (commit for commit in log.mentioning([str(number)], MAX_READ) if commit.committed >= since)
    named = (commit for commit in found if re.search(rf"(?<![\w&])#{number}(?!\w)", _message(commit)))
    return tuple(one for one, _ in zip(_read(log, named, number, project), range(MAX_NAMING), strict=False))


def _read(log: Log, commits: Iterator[Commit], number: int, project: str) -> Iterator[NamingCommit]:
    made = main_releases(read_releases(log.repository, log.committed_at))
    for commit in commits:
        if commit.is_bot or commit.subject.startswith("Revert ") or log.is_reverted(commit.sha):
            continue
        closes = number in references(_message(commit), project).closes
        pulled = _PULL.search(commit.subject)
        pull = int(pulled[1] or pulled[2]) if pulled else None
        later = containing(log, commit.sha, made)
        yield NamingCommit(
            commit.sha,
            commit.subject,
            commit.committed,
            closes,
            pull if pull != number else None,
            str(later.version) if later else "",
        )


def _message(commit: Commit) -> str:
    return f"{commit.subject}\n\n{commit.body}"


def containing(log: Log, change: str, made: Releases, after: Release | None = None) -> Release | None:
    """Return the first final release of a product whose tag contains a change, at most those after another release."""
    printed = log.repository.output_about_tags(
        "for-each-ref", f"--contains={checked(change)}", "--format=%(refname:lstrip=2)", "refs/tags"
    )
    tags = set((printed or b"").decode("utf-8", "surrogateescape").split("\n"))
    final = (one for one in made.all if not one.version.is_prerelease)
    return next((one for one in final if one.tag in tags and (after is None or one.version > after.version)), None)
