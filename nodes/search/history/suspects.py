"""Rank the changes that may have introduced a fault, or give the reason why none is suspected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nodes.search.history.types import NoRange, Range, Suspicion
from nodes.search.history.weigh import ScoringData, issue_terms, score_change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.history.log import Log
    from nodes.search.history.touched import Touched
    from nodes.search.history.types import Basis, Commit, Doubt, SuspectCommit
    from nodes.search.types import Query

SHOWN = 5
MAX_IN_FILES = 200
"""The maximum number of commits in a range, newest first, that change one of the files and are scored."""


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
    """Return whether anything besides its age makes a change a suspect."""
    return change.basis in ("named", "versions", "dates")


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
    return "untouched", f"none of the {in_span} commits in {span.words} changes the files found"
