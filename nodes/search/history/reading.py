"""Read from the history of some places which changes may have broken them, and who knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.history.claims import named_commits, read_claims
from nodes.search.history.log import DEEPEST, WINDOW, Log
from nodes.search.history.owners import find_owners
from nodes.search.history.printed import is_sha
from nodes.search.history.project import own_names
from nodes.search.history.ranges import find_range
from nodes.search.history.suspects import suspect_changes
from nodes.search.history.touched import Depth, Touched, read_touched
from nodes.search.history.types import History, NoRange, Suspicion
from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.stacktraces import find_traces
from nodes.search.paths.suffixes import PathIndex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.search.git import Repository
    from nodes.search.history.types import Range, Spot
    from nodes.search.types import Query

PLACES = 5
"""The maximum number of places whose history is read."""


def read_history(
    repository: Repository, commit: str, query: Query, spots: Sequence[Spot], paths: Mapping[str, str]
) -> History:
    """Read the suspect changes, owners and crash fingerprints of places from the history of a commit.

    Only ancestors of that commit are considered, and only tags that existed when it was made.

    Args:
        repository: the clone.
        commit: full SHA.
        query: the issue.
        spots: the places, most suspicious first.
        paths: the commit's files, each with its blob.
    """
    # Each file costs a blame, which walks the history.
    spots = spots[:PLACES]
    text = "\n\n".join((query.body, *query.extra))
    names = fingerprints(find_traces(text), PathIndex(tuple(paths)))
    log = Log(repository, commit)
    claims = read_claims(query.title, text)
    own = own_names(repository, paths)
    span = find_range(claims, log, own, log.committed_at)
    named = named_commits(log, claims)
    # A commit that the issue blames is a suspect even if no place was found.
    if not spots and not named:
        return History(Suspicion(doubt="no_places", explanation="no place in the code was found"), fingerprints=names)
    window = log.horizon(WINDOW)
    touched = read_touched(log, spots, _depth(log, span, window))
    # Without the files' history, as in a partial clone, the age of lines is unknown.
    known = touched if touched is not None else [Touched(spot, {}, None, (spot.path,)) for spot in spots]
    return History(
        suspect_changes(log, query, span, known, named=named, own=own), find_owners(log, known, window), names
    )


def subject_of(repository: Repository, commit: str, change: str) -> str | None:
    """Return the first line of a change's message, or None if the commit's history does not contain the change.

    Args:
        repository: the clone.
        commit: full SHA of the commit whose history is searched.
        change: full SHA of the change; any other text gives None.
    """
    log = Log(repository, commit)
    found = log.details([change]) if is_sha(change) and log.is_ancestor(change) else []
    return found[0].subject if found else None


def _depth(log: Log, span: Range | NoRange, window: str | None) -> Depth:
    """Choose how far lines are followed: the window, or the start of the range if that is close enough."""
    if isinstance(span, NoRange):
        return Depth(window)
    back = len(log.between(span.start, log.commit))
    if back >= DEEPEST:
        return Depth(window)
    # A deep range costs a long walk per file, so replaced lines are only followed in the first file.
    if back > WINDOW:
        return Depth(span.start, replaced=1, replaced_since=span.start)
    return Depth(window, replaced=PLACES, replaced_since=span.start)
