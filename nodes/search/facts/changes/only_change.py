"""Strong ``introduced_in``: the only commit between a good and a bad version, if it changed a single definition."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from nodes.search.facts.changes.changed_in import body_of, claimed_range
from nodes.search.facts.changes.named_change import short
from nodes.search.facts.types import Fact
from nodes.search.history.weigh import is_mechanical
from nodes.search.sentences import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.history.types import Commit, Range

MAX_LINES = 4_000
"""Maximum number of lines of a file that are compared, because comparing takes quadratic time at worst."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the line that the only commit in the report's range added, if its changes are in one definition."""
    claimed = claimed_range(inquiry)
    if claimed is None:
        return
    span, words = claimed
    # The second commit is requested to know whether the first is the only one.
    commits = inquiry.log.touching(list(inquiry.first), span.start, span.end, 2) or []
    if len(commits) == 1 and not is_mechanical(commits[0]):
        found = [fact for path in inquiry.first if (fact := _fact(inquiry, path, commits[0], span, words))]
        yield from found if len(found) == 1 else ()


def _fact(inquiry: FinderInput, path: str, commit: Commit, span: Range, words: str) -> Fact | None:
    code = inquiry.code
    number = code.number(path)
    if number is None or not code.own[number]:
        return None
    brought = [line for line in _added_lines(inquiry, path, commit) if line.strip()]
    lines = [line.strip() for line in code.lines(number)]
    # Of two equal lines of the file, one may be older than the commit.
    places = [lines.index(text.strip()) + 1 for text in brought if lines.count(text.strip()) == 1]
    symbols = {code.symbol(number, line) for line in places}
    symbol = next(iter(symbols), None)
    if len(symbols) != 1 or symbol is None:
        return None
    # A line with few letters, such as a bracket, would tell a reader nothing.
    line = max(places, key=lambda at: sum(map(str.isalnum, lines[at - 1])))
    says = say(
        "One commit changed `{path}` within {range}: `{sha}` “{title}”, in `{symbol}`.",
        path=path,
        range=span.words,
        sha=commit.sha[:10],
        title=short(commit.subject),
        symbol=symbol,
    )
    text = code.text(number, line)
    if text is None:
        return None
    return Fact("introduced_in", says, words, path, line, text, symbol, change=commit.sha, count=1, strong=True)


def _added_lines(inquiry: FinderInput, path: str, commit: Commit) -> list[str]:
    """Return the lines of a file that a commit added or changed."""
    before = _lines(inquiry, inquiry.code.repository.resolve(f"{commit.sha}~1"), path)
    after = _lines(inquiry, commit.sha, path)
    if before is None or after is None or max(len(before), len(after)) > MAX_LINES:
        return []
    old, new = ([body_of(line) for line in lines] for lines in (before, after))
    blocks = SequenceMatcher(None, old, new, autojunk=True).get_opcodes()
    return [line for tag, _, _, start, end in blocks if tag != "equal" for line in after[start:end]]


def _lines(inquiry: FinderInput, sha: str, path: str) -> list[str] | None:
    content = inquiry.code.repository.read_file(sha, path)
    return content.decode("utf-8", "replace").split("\n") if content is not None else None
