"""Functions that a log names before its message, by a span or with their module; part of ``named_here``."""

import re
from collections.abc import Iterator

from nodes.search.facts.code import whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.issue.normal.report import LogLine
from nodes.search.sentences import say

MAX_LINES, MAX_FOUND = 300, 2
"""Maximum number of lines of a log that are read, and of functions that are stated."""
MAX_HEAD = 600
"""Characters of a line in which its origin is searched."""
_SERIOUS = 1
"""The rank of a warning; errors have a lower one."""
_MODULE = r"(?P<module>[\w./-]{1,120}"
_ORIGINS = tuple(
    map(
        re.compile,
        (
            # tracing: the spans, then the target
            r"(?<![\w:])(?:[a-z_]\w{0,80}(?:\{(?:[^{}\n]|\{[^{}\n]{0,300}\}){0,300}\})?:){0,12}"
            r"(?P<function>[a-z_]\w{0,80})(?:\{(?:[^{}\n]|\{[^{}\n]{0,300}\}){0,300}\})?: ?"
            r"(?P<module>[a-z_]\w{0,80}(?:::\w{1,80}){1,8}):(?=\s|$)",
            # loguru: module:function:line
            rf"(?<![\w./:-]){_MODULE}):(?P<function>[^\W\d]\w{{0,80}}):\d{{1,6}}(?=\s)",
            # fields: the function with its module, or each in a field of its own
            rf"\b(?:mfa|func|function|caller|method)[\"']?[=:]\s?[\"']?{_MODULE}(?:\.\(\*?\w{{1,80}}\))?)"
            r"\.(?P<function>[^\W\d]\w{0,80}[?!]?)(?:/\d)?(?=[\s\"',}\])]|$)",
            rf"\b(?:module|logger|target|name|class)[\"']?[=:]\s?[\"']?{_MODULE})[\"']?[,\s]{{1,3}}"
            r"[\"']?(?:function|func|funcName|method)[\"']?[=:]\s?[\"']?(?P<function>[^\W\d]\w{0,80})",
            # a class of the JVM or of .NET with its method
            r"(?<![\w.])(?P<module>(?:[a-zA-Z_]\w{0,60}\.){1,8}[A-Z]\w{0,80})"
            r"[.#](?P<function>[a-zA-Z]\w{0,80})(?=[\]:) ])",
            # a logger with the name of a class, its packages perhaps cut to their initials
            r"(?<![\w.])(?P<module>(?:[a-zA-Z_]\w{0,60}\.){1,8})(?P<function>(?!\w{0,80}(?:Error|Exception)\b)[A-Z]\w{0,80})"
            r"(?=\]| {0,40}[:-] )",
        ),
    )
)


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
    folders, _, name = path.rpartition("/")
    folder = folders.rpartition("/")[2]
    return last in {name.partition(".")[0], folder, *symbol.split(".")[:-1]} or last == folder[:1]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the issue has the function's name and the line too."""
    if not witness.mentions(fact.words or "\n"):
        return "the words do not name a function of the log"
    return None if whole_word(fact.words or "").search(fact.text or "") else "the line does not have the name"
