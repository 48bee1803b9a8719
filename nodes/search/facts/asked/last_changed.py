"""``last_changed``: for a question about it, the commit that changed a file or a function last."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nodes.search.facts.asked import CHANGE, files_in, functions_in, sentences
from nodes.search.facts.changes.named_change import short
from nodes.search.facts.types import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness
    from nodes.search.history.types import Commit

_LINES = re.compile(r" \(L(\d{1,9})-L(\d{1,9})\) was last changed ")
_NOTHING_RUNS = ("--no-textconv", "--no-ext-diff", "--no-show-signature")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the last change of each file and each function that a question asks about."""
    asked = sentences(inquiry, CHANGE)
    if not asked:
        return
    for words, row in functions_in(inquiry, asked):
        if (fact := _of_function(inquiry, words, row)) is not None:
            yield fact
    for words, number in files_in(inquiry, asked):
        path = inquiry.code.path(number)
        latest = inquiry.log.touching([path], None, inquiry.code.sha, 1) or []
        for commit in _complete(inquiry, latest):
            yield Fact("last_changed", f"`{path}` {_when(commit)}", words, path, change=commit.sha)


def _of_function(inquiry: FinderInput, words: str, row: int) -> Fact | None:
    code, index = inquiry.code, inquiry.code.index
    head = code.head(row)
    first, last = int(index.def_start[row]), int(index.def_end[row])
    if head is None:
        return None
    path = code.path(int(index.def_file[row]))
    shas = inquiry.log.of_lines(path, [(first, last)], None, 1) or []
    for commit in _complete(inquiry, inquiry.log.details(shas)):
        says = f"`{words}` in `{path}` (L{first}-L{last}) {_when(commit)}"
        return Fact("last_changed", says, words, path, head[0], head[1], index.name_of(row), change=commit.sha)
    return None


def _complete(inquiry: FinderInput, commits: list[Commit]) -> list[Commit]:
    """Return the commits whose parent is known: a shallow clone attributes all older changes to its last commit."""
    return [commit for commit in commits if commit.sha not in inquiry.log.shallow]


def _when(commit: Commit) -> str:
    day = datetime.fromtimestamp(commit.committed, UTC).strftime("%Y-%m-%d")
    return f"was last changed on {day} by `{commit.sha[:10]}` “{short(commit.subject)}”."


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that git names the same commit for the file or the lines, and that the sentence has its day."""
    lines = _LINES.search(fact.says)
    if bool(lines) != bool(fact.line) or not fact.path:
        return "the sentence is about other lines"
    if lines and not int(lines[1]) <= (fact.line or 0) <= int(lines[2]):
        return "the line is not among those of the sentence"
    where = ("-s", f"-L{lines[1]},{lines[2]}:".encode() + os.fsencode(fact.path)) if lines else ("--no-renames",)
    what = (witness.sha,) if lines else (witness.sha, "--", os.fsencode(fact.path))
    shown = ("log", "--no-merges", "--max-count=1", "--format=%H %ct", *_NOTHING_RUNS)
    printed = (witness.repository.cached_output(*shown, *where, *what) or b"").decode().split()
    if len(printed) < 2 or printed[0] != fact.change:
        return "git names another commit"
    day = datetime.fromtimestamp(int(printed[1]), UTC).strftime("%Y-%m-%d")
    return None if f"on {day} by `{printed[0][:10]}`" in fact.says else "the day or the commit differs"
