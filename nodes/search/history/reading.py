"""Read from the history of some places which changes may have introduced the fault, and who knows the places."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from nodes.search.history.claims import named_commits, read_claims
from nodes.search.history.log import DEEPEST, WINDOW, Log
from nodes.search.history.owners import find_owners
from nodes.search.history.printed import is_sha
from nodes.search.history.ranges import find_range
from nodes.search.history.types import History, NoRange, Range, Suspicion
from nodes.search.history.versions import own_names
from nodes.search.history.weigh import ScoringData, is_mechanical, issue_terms, score_change
from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.stacktraces import find_traces
from nodes.search.paths.suffixes import PathIndex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nodes.search.git import Repository
    from nodes.search.history.printed import Blamed
    from nodes.search.history.types import Basis, Commit, Doubt, Range, Spot, SuspectCommit
    from nodes.search.types import Query

SHOWN = 5
MAX_IN_FILES = 200
"""The maximum number of commits in a range, newest first, that change one of the files and are scored."""
PLACES = 5
"""The maximum number of places whose history is read."""
MAX_LINES = 300
"""The maximum number of lines followed per place; of a longer place, the lines around its focus."""
MAX_CHANGES = 100
"""The maximum number of changes followed per place."""
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Touched:
    """The commits that changed one place."""

    spot: Spot
    lines: dict[int, str]
    """Maps a 1-based line to the SHA that wrote it; older lines are absent."""
    changed: frozenset[str] | None
    """Commits that ever changed the lines of the places in this file; None if not requested or unreadable."""
    paths: tuple[str, ...]
    """The file's names over time, the current name first."""


@dataclass(frozen=True, slots=True)
class Depth:
    """The depth to which lines are followed; None means the beginning of history."""

    since: str | None
    """The current lines are followed back to this commit."""
    replaced: int = 0
    """The number of files for which replaced lines are also followed, which doubles the cost."""
    replaced_since: str | None = None


def suspect_changes(
    log: Log,
    query: Query,
    span: Range | NoRange,
    touched: Sequence[Touched],
    *,
    named: dict[str, tuple[str, bool]],
    own: frozenset[str],
) -> Suspicion:
    """Rank the changes.

    Args:
        log: the history to read.
        query: the issue.
        span: the range that the issue gives, or the reason why it gives none.
        touched: the commits that changed the places.
        named: the commits that the issue names: in which way, and whether it blames them.
        own: the project's names.
    """
    in_span = log.between(span.start, span.end) if isinstance(span, Range) else frozenset[str]()
    commits = _candidates(log, span, in_span, touched, named)
    messages = [f"{commit.subject} {commit.body[:500]}" for commit in commits]
    terms = issue_terms(query.title, query.body, messages, own)
    scale = ScoringData(touched, terms, span.words if isinstance(span, Range) else "", log.committed_at)
    scored = [_scored(commit, scale, span, in_span, named) for commit in commits]
    # The SHA decides between equal scores and times, so that the order is deterministic.
    ranked = sorted(scored, key=lambda change: (-round(change.score, 6), -change.commit.committed, change.commit.sha))
    return _conclusion(ranked, span, len(in_span), log)


def is_suspect(change: SuspectCommit) -> bool:
    """Return whether anything besides its age makes a change a suspect; a mechanical one must be blamed."""
    return change.basis == "named" or (change.basis in ("versions", "dates") and not is_mechanical(change.commit))


def _candidates(
    log: Log,
    span: Range | NoRange,
    in_span: frozenset[str],
    touched: Sequence[Touched],
    named: dict[str, tuple[str, bool]],
) -> list[Commit]:
    of_lines = {sha for place in touched for sha in (*place.lines.values(), *(place.changed or ()))}
    in_files: list[Commit] = []
    if isinstance(span, Range):
        of_lines &= in_span
        paths = list(dict.fromkeys(path for place in touched for path in place.paths))
        in_files = log.touching(paths, span.start, span.end, MAX_IN_FILES) or [] if paths else []
    elif span.end is not None:
        # The fault existed in that version, so a later commit cannot have introduced it.
        of_lines -= log.between(span.end, log.commit)
    # Sorted, because the command is the key under which its output is cached.
    detailed = log.details(sorted((of_lines | set(named)) - log.ignored))
    known = {commit.sha for commit in detailed}
    return [*detailed, *(commit for commit in in_files if commit.sha not in known | log.ignored)]


def _scored(
    commit: Commit,
    scale: ScoringData,
    span: Range | NoRange,
    in_span: frozenset[str],
    named: dict[str, tuple[str, bool]],
) -> SuspectCommit:
    explanation, blamed = named.get(commit.sha, ("", False))
    in_range = commit.sha in in_span
    basis: Basis = "affected" if not isinstance(span, Range) and span.end else "recent"
    if isinstance(span, Range) and in_range:
        basis = span.basis
    return score_change(commit, scale, "named" if blamed else basis, explanation, in_range=in_range)


def _conclusion(ranked: list[SuspectCommit], span: Range | NoRange, in_span: int, log: Log) -> Suspicion:
    found = Suspicion(span=span.words if isinstance(span, Range) else "", commits=in_span)
    suspects = tuple(change for change in ranked if is_suspect(change))
    if suspects:
        return replace(found, changes=suspects[:SHOWN])
    doubt, explanation = _doubt(span, in_span, log)
    return replace(found, recent=tuple(ranked[:SHOWN]), doubt=doubt, explanation=explanation)


def _doubt(span: Range | NoRange, in_span: int, log: Log) -> tuple[Doubt, str]:
    if isinstance(span, NoRange):
        return span.doubt, span.explanation
    if not in_span:
        return "empty_range", f"no commit of this history lies in {span.words}"
    if log.shallow:
        return "shallow", f"this clone is shallow, so {span.words} cannot be searched"
    return "untouched", f"none of the {in_span} commits in {span.words} is about the files found"


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


def read_touched(log: Log, spots: Sequence[Spot], depth: Depth) -> list[Touched] | None:
    """Return the commits that changed each place; None if the files' history is missing, as in a partial clone."""
    windows = [window(spot) for spot in spots]
    by_path: dict[str, list[tuple[int, int]]] = {}
    for spot, lines in zip(spots, windows, strict=True):
        by_path.setdefault(spot.path, []).append(lines)
    # Threads suffice: each only waits for a git process.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        blames = pool.map(lambda item: log.blame(item[0], item[1], depth.since), by_path.items())
        # One walk covers all places of a file, because the walk is the main cost.
        tasks = {
            path: pool.submit(log.of_lines, path, ranges, depth.replaced_since, MAX_CHANGES)
            for path, ranges in islice(by_path.items(), depth.replaced)
        }
        blamed = dict(zip(by_path, blames, strict=True))
        walked = {path: task.result() for path, task in tasks.items()}
    changed = {path: frozenset(found) - log.ignored for path, found in walked.items() if found is not None}
    # The places of an unreadable file would seem unchanged, so none is compared by its lines.
    if any(found is None for found in blamed.values()):
        return None
    return [
        _touched(spot, lines, blamed[spot.path], changed.get(spot.path))
        for spot, lines in zip(spots, windows, strict=True)
    ]


def window(spot: Spot) -> tuple[int, int]:
    """Return the lines of a place that are followed (1-based, inclusive)."""
    if spot.end_line - spot.start_line < MAX_LINES:
        return spot.start_line, spot.end_line
    middle = (spot.focus[0] + spot.focus[1]) // 2
    first = max(spot.start_line, min(middle - MAX_LINES // 2, spot.end_line - MAX_LINES + 1))
    return first, first + MAX_LINES - 1


def _touched(spot: Spot, lines: tuple[int, int], found: Blamed | None, changed: frozenset[str] | None) -> Touched:
    authors = found.lines if found else {}
    in_window = {number: sha for number, sha in authors.items() if lines[0] <= number <= lines[1]}
    paths = dict.fromkeys((spot.path, *(found.paths if found else ())))
    return Touched(spot, in_window, changed, tuple(paths))


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
