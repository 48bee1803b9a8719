"""Read from the history of some places which changes may have introduced the fault, and who knows the places."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from nodes.search.git import Repository
from nodes.search.git.objects import is_sha
from nodes.search.history.claims import Claims, is_mentioned, read_claims
from nodes.search.history.log import DEEPEST, WINDOW, Log
from nodes.search.history.names import own_names
from nodes.search.history.owners import find_owners, recent_changes
from nodes.search.history.ranges import find_range
from nodes.search.history.types import Basis, Commit, Doubt, History, NoRange, Range, Spot, Suspicion, Touched
from nodes.search.history.weigh import ScoringData, is_mechanical, issue_terms, score_change
from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import PathIndex
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
MAX_NAMED = 5
"""Maximum number of SHAs, and of numbers, of one issue that are looked up in the history."""


def suspect_changes(
    log: Log,
    query: Query,
    span: Range | NoRange,
    touched: Sequence[Touched],
    *,
    named: dict[str, tuple[str, bool]],
    own: frozenset[str],
) -> Suspicion:
    """Rank the changes that may have broken the places.

    ``span`` is the range that the issue gives. ``named`` has the commits that the issue names: in which way, and
    whether it blames them. ``own`` has the project's names.
    """
    words, in_span = "", frozenset[str]()
    basis: Basis = "recent"
    if isinstance(span, Range):
        words, basis, in_span = span.words, span.basis, log.between(span.start, span.end)
    elif span.end:
        basis = "affected"
    commits = _candidates(log, span, in_span, touched, named)
    messages = [f"{commit.subject} {commit.body[:500]}" for commit in commits]
    scale = ScoringData(touched, issue_terms(query.title, query.body, messages, own), words, log.committed_at)
    scored = []
    for commit in commits:
        mention, blamed = named.get(commit.sha, ("", False))
        in_range = commit.sha in in_span
        of_commit: Basis = "named" if blamed else basis if in_range or isinstance(span, NoRange) else "recent"
        scored.append(score_change(commit, scale, of_commit, mention, in_range=in_range))
    # The SHA decides between equal scores and times, so that the order is deterministic.
    ranked = sorted(scored, key=lambda change: (-round(change.score, 6), -change.commit.committed, change.commit.sha))
    # Its age alone makes no change a suspect, and a mechanical one must be blamed.
    suspects = [
        change
        for change in ranked
        if change.basis == "named" or (change.basis in ("versions", "dates") and not is_mechanical(change.commit))
    ]
    if suspects:
        return Suspicion(tuple(suspects[:SHOWN]), span=words, commits=len(in_span))
    doubt, explanation = _doubt(span, len(in_span), log)
    recent = tuple(ranked[:SHOWN])
    return Suspicion(recent=recent, span=words, commits=len(in_span), doubt=doubt, explanation=explanation)


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
    """Read the suspect changes, owners and crash fingerprints of places, the most suspicious first.

    Only ancestors of the commit, given by its full SHA, are considered, and only tags that existed when it was made.
    ``paths`` has the commit's files, each with its blob.
    """
    # Each file costs a blame, which walks the history.
    spots = spots[:PLACES]
    text = "\n\n".join((query.body, *query.extra))
    names = fingerprints(find_traces(text), PathIndex(tuple(paths)))
    log = Log(repository, commit)
    claims = read_claims(query.title, text)
    own = own_names(repository, paths)
    span = find_range(claims, log, own)
    named = named_commits(log, claims)
    # A commit that the issue blames is a suspect even if no place was found.
    if not spots and not named:
        return History(Suspicion(doubt="no_places", explanation="no place in the code was found"), fingerprints=names)
    horizon = log.horizon(WINDOW)
    with ThreadPoolExecutor(1) as meanwhile:
        recent = meanwhile.submit(recent_changes, log, spots, horizon)
        touched = read_touched(log, spots, span, horizon)
        # Without the files' history, as in a partial clone, the age of lines is unknown.
        known = touched if touched is not None else [Touched(spot, {}, None, (spot.path,)) for spot in spots]
        suspicion = suspect_changes(log, query, span, known, named=named, own=own)
        return History(suspicion, find_owners(log, known, recent.result()), names)


def subject_of(log: Log, change: str) -> str | None:
    """Return the first line of the message of a change, given by its full SHA; None if the history lacks it."""
    found = log.details([change]) if is_sha(change) and log.is_ancestor(change) else []
    return found[0].subject if found else None


def named_commits(log: Log, claims: Claims) -> dict[str, tuple[str, bool]]:
    """Map each commit of this history that the issue names to the way it is named, and to whether the issue blames it.

    A number is looked up only if the issue blames it, because most numbers are cross-references.
    """
    found: dict[str, tuple[str, bool]] = {}
    changes = (named for named in claims.commits if not named.in_use)
    for named in sorted(changes, key=lambda named: not named.blamed)[:MAX_NAMED]:
        if sha := log.resolved(named.text):
            found.setdefault(sha, (f"`{named.text[:12]}`", named.blamed))
    numbers = [named.text for named in claims.numbers if named.blamed][:MAX_NAMED]
    for commit in log.mentioning(numbers) if numbers else ():
        number = next((n for n in numbers if is_mentioned(n, commit.subject)), None)
        if number is None or commit.subject.startswith("Revert "):
            continue
        # A merge represents the commits that it added.
        how = "which its message names" if commit.files else "which it was merged by"
        for sha in (commit.sha,) if commit.files else log.merged(commit.sha):
            found.setdefault(sha, (f"{'#' * number.isdigit()}{number}, {how}", True))
    return found


def read_touched(log: Log, spots: Sequence[Spot], span: Range | NoRange, horizon: str | None) -> list[Touched] | None:
    """Return the commits that changed each place; None if the files' history is missing, as in a partial clone.

    Lines are followed back to the horizon, or to the start of the range if that is close enough.
    """
    windows = [window(spot) for spot in spots]
    by_path: dict[str, list[tuple[int, int]]] = {}
    for spot, lines in zip(spots, windows, strict=True):
        by_path.setdefault(spot.path, []).append(lines)
    start = span.start if isinstance(span, Range) else None
    back = len(log.between(start, log.commit)) if isinstance(span, Range) else DEEPEST
    # A deep range costs a long walk per file, so replaced lines are only followed in the first file.
    since, files = (start, 1) if WINDOW < back < DEEPEST else (horizon, PLACES if back < DEEPEST else 0)
    # Threads suffice: each only waits for a git process.
    with ThreadPoolExecutor(AT_ONCE) as pool:
        blames = pool.map(lambda item: log.blame(item[0], item[1], since), by_path.items())
        # One walk covers all places of a file, because the walk is the main cost.
        moved = _changed_in(log, [*by_path], span) if files > 1 else None
        replaced = {path: by_path[path] for path in islice(by_path, files) if moved is None or path in moved}
        walks = pool.map(lambda item: log.of_lines(item[0], item[1], start, MAX_CHANGES), replaced.items())
        blamed = dict(zip(by_path, blames, strict=True))
        walked = zip(replaced, walks, strict=True)
        changed = {path: frozenset[str]() for path in by_path if moved is not None and path not in moved}
        changed |= {path: frozenset(found) - log.ignored for path, found in walked if found is not None}
    touched = []
    for spot, (first, last) in zip(spots, windows, strict=True):
        found = blamed[spot.path]
        # The places of an unreadable file would seem unchanged, so none is compared by its lines.
        if found is None:
            return None
        lines_of = {number: sha for number, sha in found.lines.items() if first <= number <= last}
        paths = tuple(dict.fromkeys((spot.path, *found.paths)))
        touched.append(Touched(spot, lines_of, changed.get(spot.path), paths))
    return touched


def window(spot: Spot) -> tuple[int, int]:
    """Return the lines of a place that are followed (1-based, inclusive)."""
    if spot.end_line - spot.start_line < MAX_LINES:
        return spot.start_line, spot.end_line
    middle = (spot.focus[0] + spot.focus[1]) // 2
    first = max(spot.start_line, min(middle - MAX_LINES // 2, spot.end_line - MAX_LINES + 1))
    return first, first + MAX_LINES - 1


def _changed_in(log: Log, paths: list[str], span: Range | NoRange) -> set[str] | None:
    """Return those of some files that a commit since the start of a range changes; None if that is not known."""
    if not isinstance(span, Range) or log.shallow:
        return None
    commits = log.touching(paths, span.start, log.commit, MAX_IN_FILES)
    if commits is None or len(commits) == MAX_IN_FILES:
        return None
    return {path for commit in commits for path in commit.files}
