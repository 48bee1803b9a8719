"""Past fixes of a repository that say which issue they close, each with what the branch was before it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nodes.search.errors import SearchError
from nodes.search.git import Repository
from nodes.search.history.closing import references, reverted
from nodes.search.history.mainline import Landed, files_of, read_mainline
from nodes.search.roles import role_of

MOST_FILES = 20
"""Source files of a fix; one that changed more says little about where the fault was."""
MOST_ISSUES = 3
"""Issues that one commit closes; one that closes more brought many fixes at once."""
_BATCH = 100
_HUNK = re.compile(rb"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fix:
    """A commit of the branch that closes an issue, or names one."""

    number: int
    landed: Landed
    sure: bool
    """It says that it closes the issue; else the number stands in its first line and may be a pull request's."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A fix, and what a triage at its parent should have named."""

    fix: Fix
    gold: tuple[str, ...]
    """Source files that the fix changed and that were there before it, tests aside; none where that says nothing."""
    why_not: str = ""
    """Why it cannot be scored."""


def find_fixes(line: Sequence[Landed], project: str = "", since: int = 0) -> list[Fix]:
    """The fixes of a branch's main line, newest first, each issue once: by the first commit that closed it.

    Args:
        line: what landed, newest first.
        project: owner/name, for references that name it.
        since: only what landed since then, in seconds since 1970.
    """
    undone = {sha for landed in line for message in landed.messages for sha in reverted(message)}
    first: dict[int, Fix] = {}
    for landed in reversed(line):
        if landed.parent and landed.sha not in undone:
            for fix in _fixes(landed, project):
                first.setdefault(fix.number, fix)
    return [fix for fix in reversed(first.values()) if fix.landed.committed >= since]


def answers(repository: Repository, fixes: Sequence[Fix]) -> Iterator[Answered]:
    """What each fix changed, asked of git by the hundred."""
    for at in range(0, len(fixes), _BATCH):
        batch = fixes[at : at + _BATCH]
        changed = files_of(repository, [fix.landed for fix in batch])
        for fix in batch:
            yield _answered(repository, fix, changed.get(fix.landed.sha, ()))


def gold_of(repository: Repository, changed: Sequence[str], base: str) -> tuple[str, ...]:
    """The source files among those that a fix changed that a commit before it has."""
    source = sorted(path for path in set(changed) if role_of(path) == "source")
    if not source:
        return ()
    there = {entry.path for entry in repository.tree(base)}
    return tuple(path for path in source if path in there)


def changed_lines(repository: Repository, landed: Landed, paths: Sequence[str]) -> list[tuple[str, int, int]]:
    """The lines that a fix took out or wrote beside: path, first and last, as they were numbered before it."""
    plain = ("--no-renames", "--no-textconv", "--no-ext-diff", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
    found: list[tuple[str, int, int]] = []
    for path in paths:  # one at a time: a path in a diff may be quoted in ways that must not be guessed
        told = ("--literal-pathspecs", "diff", "-U0", *plain, landed.parent, landed.sha, "--", os.fsencode(path))
        for start, count in _HUNK.findall(repository.output(*told) or b""):
            first, lines = int(start), int(count or 1)
            found.append((path, first, first + max(lines, 1) - 1))
    return found


def _fixes(landed: Landed, project: str) -> Iterator[Fix]:
    said = [references(message, project) for message in landed.messages if "#" in message or "-" in message]
    closes = {number for one in said for number in one.closes}
    if len(closes) > MOST_ISSUES:
        return
    yield from (Fix(number, landed, sure=True) for number in sorted(closes))
    if not closes:
        yield from (Fix(number, landed, sure=False) for number in references(landed.message, project).names)


def _answered(repository: Repository, fix: Fix, changed: Sequence[str]) -> Answered:
    try:
        gold = gold_of(repository, changed, fix.landed.parent)
    except SearchError:
        return Answered(fix, (), "the commit before the fix is not here in full")
    if not gold:
        return Answered(fix, (), "the fix changed no source file that was there before it")
    if len(gold) > MOST_FILES:
        return Answered(fix, (), f"the fix changed more than {MOST_FILES} source files")
    return Answered(fix, gold)


def read_fixes(repository: Repository, tip: str, project: str = "", since: int = 0) -> list[Fix]:
    """The fixes behind a commit, given by its full SHA."""
    return find_fixes(read_mainline(repository, tip), project, since)
