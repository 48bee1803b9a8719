"""Functions that a log names before its message, by a span or with their module; part of ``named_here``."""

import re
from collections.abc import Iterator
from pathlib import Path

from nodes.search.facts.code import whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.normal.report import LogLine
from nodes.search.lazy import lazy
from nodes.search.sentences import say
from nodes.search.tokens import load_sections

MAX_LINES, MAX_FOUND, MAX_HEAD = 300, 2, 600
"""Maximum number of lines of a log that are read, of functions that are stated, and of characters before a message."""
_SERIOUS = 1
"""The rank of a warning; errors have a lower one."""
_ORIGINS = tuple(map(lazy, load_sections(Path(__file__).with_name("origins.txt"))["origin"]))
"""How a line names the function that it comes from."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the functions that errors and warnings of a log come from; without any, that of the log's last line."""
    logged = inquiry.issue.logged[:MAX_LINES]
    serious = [line for line in logged if line.rank <= _SERIOUS]
    found = dict.fromkeys(fact for line in serious for fact in _facts(inquiry, line))
    # What a program logs before it crashes is often all that shows where it was.
    found = found or dict.fromkeys(fact for line in logged[-1:] for fact in _facts(inquiry, line))
    yield from list(found)[:MAX_FOUND]


def _facts(inquiry: FinderInput, line: LogLine) -> Iterator[Fact]:
    head = f"{line.prefix}{line.text}"[-MAX_HEAD - len(line.text) :][: 2 * MAX_HEAD]
    for match in (match for origin in _ORIGINS for match in origin.finditer(head)):
        code, words = inquiry.code, match["function"]
        # The only definition whose file, folder or class is the last part of the module.
        rows = [r for r in code.definitions(words) if _is_in(code.path_of(r), code.index.name_of(r), match["module"])]
        hit = code.head(rows[0]) if len(rows) == 1 else None
        if hit and words in inquiry.issue.written:
            says = say("A line of the report's log comes from `{symbol}`.", symbol=hit.place)
            yield hit.fact("named_here", says, words, count=1, strong=True, unclaimed=line.rank > _SERIOUS)


def _is_in(path: str, symbol: str, module: str) -> bool:
    """Return whether the last part of a module is the name of a file, of its folder or of a class around a symbol."""
    last = re.findall(r"[\w-]+", module)[-1]
    *_, folder, name = ("", *path.split("/"))
    return last in {name.partition(".")[0], folder, *symbol.split(".")[:-1]} or last == folder[:1]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the issue has the function's name and the line too."""
    if not witness.mentions(fact.words or "\n"):
        return "the words do not name a function of the log"
    return None if whole_word(fact.words or "").search(fact.text or "") else "the line does not have the name"
