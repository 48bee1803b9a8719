"""Past fixes of a repository that name the issue they close, each with its parent commit, and people's corrections."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.settings.repository import is_below, path_inside
from bot.store.runs.outcomes import Correction
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.history.mainline import MainlineCommit, files_of, read_mainline, references, reverted
from nodes.search.issue.mentions.places import find_places
from nodes.search.paths.project import PathIndex
from nodes.search.paths.roles import role_of

MAX_FILES = 20
"""Maximum number of source files of a fix. A larger fix does not locate the fault."""
MAX_ISSUES = 3
"""Maximum number of issues that one commit closes. A commit that closes more contains several fixes."""
_BATCH = 100
_SPAN = re.compile(r"`([^`]{1,300})`")
_HUNK = re.compile(rb"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fix:
    """A commit of the branch that closes or names an issue."""

    number: int
    landed: MainlineCommit


@dataclass(frozen=True, slots=True)
class FixWithFiles:
    """A fix, and the files that a triage at its parent should have named."""

    fix: Fix
    gold: tuple[str, ...]
    """Source files, without tests, that the fix changed and that existed before it; empty if it cannot be scored."""
    why_not: str = ""
    """The reason why it cannot be scored; empty if it can."""


def read_fixes(repository: Repository, tip: str, project: str = "") -> list[Fix]:
    """Return the fixes in the history of a commit, newest first. Each issue appears once, with its first fix.

    Before a later one of several closing commits, part of the fix exists already (docs/decisions.md). Reverted
    commits are left out.

    ``tip`` is the commit's full SHA; ``project`` is owner/name, for references that include it.
    """
    line = read_mainline(repository, tip)
    undone = {sha for landed in line for message in landed.messages for sha in reverted(message)}
    first: dict[int, Fix] = {}
    for landed in reversed(line):
        if landed.parent and landed.sha not in undone:
            for fix in _fixes(landed, project):
                first.setdefault(fix.number, fix)
    return list(reversed(first.values()))


def answers(repository: Repository, fixes: Sequence[Fix]) -> Iterator[FixWithFiles]:
    """Yield the files that each fix changed, querying git for a hundred fixes at a time."""
    for at in range(0, len(fixes), _BATCH):
        batch = fixes[at : at + _BATCH]
        changed = files_of(repository, [fix.landed for fix in batch])
        for fix in batch:
            yield _answered(repository, fix, changed.get(fix.landed.sha, ()))


def gold_of(repository: Repository, changed: Sequence[str], base: str) -> tuple[str, ...]:
    """Return the changed source files that exist at the base commit."""
    source = sorted(path for path in set(changed) if role_of(path) == "source")
    if not source:
        return ()
    existing = {entry.path for entry in repository.tree(base)}
    return tuple(path for path in source if path in existing)


def changed_lines(repository: Repository, landed: MainlineCommit, paths: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the lines that a fix removed, or next to which it inserted lines.

    Returns:
        (path, first, last) with 1-based inclusive line numbers from before the fix.
    """
    plain = ("--no-renames", "--no-textconv", "--no-ext-diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
    found: list[tuple[str, int, int]] = []
    for path in paths:  # one at a time, because git may quote the paths in a diff
        arguments = ("--literal-pathspecs", "diff", "-U0", *plain, landed.parent, landed.sha, "--", os.fsencode(path))
        # A pure insertion has a count of 0; git then gives the line before it.
        for start, count in _HUNK.findall(repository.output(*arguments) or b""):
            first, lines = int(start), int(count or 1)
            found.append((path, first, first + max(lines, 1) - 1))
    return found


def _fixes(landed: MainlineCommit, project: str) -> Iterator[Fix]:
    linked = [references(message, project) for message in landed.messages if "#" in message or "-" in message]
    closes = {number for reference in linked for number in reference.closes}
    if len(closes) > MAX_ISSUES:
        return
    # Without a message that closes an issue, the first line may name it or a pull request.
    numbers = sorted(closes) or references(landed.message, project).names
    yield from (Fix(number, landed) for number in numbers)


def _answered(repository: Repository, fix: Fix, changed: Sequence[str]) -> FixWithFiles:
    try:
        gold = gold_of(repository, changed, fix.landed.parent)
    except SearchError:
        return FixWithFiles(fix, (), "the commit before the fix is incomplete in this clone")
    if not gold:
        return FixWithFiles(fix, (), "the fix changed no source file that existed before it")
    if len(gold) > MAX_FILES:
        return FixWithFiles(fix, (), f"the fix changed more than {MAX_FILES} source files")
    return FixWithFiles(fix, gold)


def corrected(
    repository: Repository, corrections: Sequence[Correction], fixed: set[int], left_out: Counter[str]
) -> Iterator[FixWithFiles]:
    """Yield the corrections that name files, as fixes at the commit of the report itself.

    An issue in ``fixed`` has a known fix, which decides for it; ``left_out`` counts why others are not cases.
    """
    for correction in corrections:
        if correction.issue in fixed:
            continue
        if repository.output("cat-file", "-e", f"{correction.sha}^{{commit}}") is None:
            left_out["the commit of a corrected report is not in this clone"] += 1
        elif gold := _named(repository, correction):
            landed = MainlineCommit(correction.sha, correction.sha, int(correction.at), "")
            yield FixWithFiles(Fix(correction.issue, landed), gold)
        else:
            left_out["a correction names no other source file of the report's commit"] += 1


def _named(repository: Repository, correction: Correction) -> tuple[str, ...]:
    """Return the files that a correction names, without the file that it calls wrong."""
    index = PathIndex([entry.path for entry in repository.tree(correction.sha)])
    found = (index.with_suffix(path) for path, _, _ in find_places(correction.why))
    # A suffix that several files share names none of them.
    paths = [index.paths[files[0][0]] for files in found if len(files) == 1] or _below(index, correction.why)
    return gold_of(repository, [path for path in paths if path != correction.claimed], correction.sha)


def _below(index: PathIndex, why: str) -> list[str]:
    """Return the files of the folders that a command names, if they are few enough to be a place."""
    folders = [path for span in _SPAN.findall(why)[:MAX_FILES] if (path := path_inside(span)) is not None]
    found = [path for path in index.paths if any(is_below(path, folder) for folder in folders)]
    return found if len(found) <= MAX_FILES else []
