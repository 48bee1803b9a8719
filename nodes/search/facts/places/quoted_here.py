"""``quoted_here``: an expression of the report that few lines of the project's own code contain."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.names.read_here import IMPORT, Docstrings
from nodes.search.facts.places.expressions import Expression, expressions
from nodes.search.facts.types import Fact
from nodes.search.sentences import say
from nodes.search.tokens import term_hash, terms_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.facts.code import Code
    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness

MAX_EXPRESSIONS = 80
"""Maximum number of expressions of one report that are looked up."""
MAX_CHUNKS = 24
"""Maximum number of chunks that contain all words of an expression; if there are more, their files are not read."""
MAX_CHUNKS_OF_STRING = 120
"""The same for a route, whose words are often common ones."""
FEW = 4
"""Maximum number of lines with an expression; more lines do not identify a place."""
FEW_STRINGS = 8
"""Maximum number of lines with a route as a string: the clients and the server of a project have it too."""
MAX_WIDTH = 400
MAX_LINES = 100_000
_PROMPT = re.compile(r"\s{0,200}(?:>>>|\.\.\. |\$ |In \[)")
"""An example of a session, in a string over several lines."""
_TESTS = re.compile(r"\s{0,40}#\[cfg\(test\)\]")

Place = tuple[int, int]
"""The number of a file and of a line."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines with an expression of the report, if one function or at most four lines have it."""
    code = inquiry.code
    groups = expressions(inquiry.issue)[:MAX_EXPRESSIONS]
    near = _near(code, [judgement for group in groups for judgement in group])
    code.read(number for numbers in near.values() for number in numbers)
    shown = {(fact.path, fact.line) for fact in inquiry.found}
    for group in groups:
        for judgement in group:
            places = [
                (number, line) for number in near.get(judgement.words, ()) for line in lines_of(code, number, judgement)
            ]
            if not places:
                continue
            for fact in _facts(inquiry, judgement, places) if len(places) <= _most(judgement) else ():
                if (fact.path, fact.line) not in shown:
                    shown.add((fact.path, fact.line))
                    yield fact
            # A longer expression says more than its parts.
            if judgement is group[0]:
                break


def _most(one: Expression) -> int:
    return FEW_STRINGS if one.whole and one.marked else FEW


def _near(code: Code, wanted: Sequence[Expression]) -> dict[str, list[int]]:
    """Return, for each expression, the own files with a chunk that has all its words, unless they are many."""
    terms = {item.words: {term_hash(term) for word in item.names for term in terms_of(word)} for item in wanted}
    hashes = sorted({value for values in terms.values() for value in values})
    if not hashes:
        return {}
    found = code.index.match(hashes)
    own = code.own[code.index.chunk_file[found.chunk]]
    term, chunk = found.term[own], found.chunk[own]
    held = {value: np.unique(chunk[term == at]) for at, value in enumerate(hashes)}
    near, strings = dict[str, list[int]](), {item.words for item in wanted if item.whole}
    for words, values in terms.items():
        chunks = _in_all([held[value] for value in values])
        if len(chunks) <= (MAX_CHUNKS_OF_STRING if words in strings else MAX_CHUNKS):
            near[words] = sorted({int(code.index.chunk_file[item]) for item in chunks})
    return near


def _in_all(sets: list[np.ndarray[tuple[int], np.dtype[np.int32]]]) -> list[int]:
    """Return what is in every set, which are sorted."""
    if not sets:
        return []
    left, *others = sorted(sets, key=len)
    for other in others:
        left = left[np.isin(left, other, assume_unique=True)]
    return left.tolist()


def lines_of(code: Code, number: int, one: Expression) -> Iterator[int]:
    """Yield the lines of a file that contain an expression, without tests."""
    for line in lines_with(code.lines(number), one):
        if not code.is_tested(number, line):
            yield line


def lines_with(lines: Sequence[str], one: Expression) -> list[int]:
    """Return the lines of code that contain an expression; comments, docstrings and imports do not count."""
    rarest = max(one.names, key=len, default="")
    if not rarest:
        return []
    near = [line for line, text in enumerate(lines, 1) if rarest in text and len(text) <= MAX_WIDTH and one.is_in(text)]
    quoted = Docstrings(lines) if near else None
    return [line for line in near if quoted and not quoted.holds(line) and _is_code(lines[line - 1])]


def _is_code(text: str) -> bool:
    return not (is_comment(text) or IMPORT.match(text) or _PROMPT.match(text))


def _facts(inquiry: FinderInput, one: Expression, places: Sequence[Place]) -> Iterator[Fact]:
    code = inquiry.code
    for number, line in places:
        text, symbol, path = code.text(number, line), code.symbol(number, line), code.path(number)
        if text is None or not inquiry.issue.holds(one.words):
            continue
        only = (
            say("one of {count} lines of the project's own code", count=len(places))
            if len(places) > 1
            else say("and on no other line of the project's own code")
        )
        says = say("`{code}` is in `{place}`, {only}.", code=one.words, place=symbol or path, only=only)
        on_first = path in inquiry.first[:1] and len({number for number, _ in places}) == 1
        strong = on_first or (len(places) == 1 and one.marked)
        yield Fact(
            "quoted_here", says, one.words, path, line, text, symbol,
            count=len(places), strong=strong, several=not strong, unclaimed=len(places) > 1 or one.is_value,
        )  # fmt: skip


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line has the expression, and that as many lines of the language's source files do as stated."""
    one = Expression(fact.words or "", marked=False)
    if not one.names or not one.is_in(fact.text or ""):
        return "the line does not contain it"
    hits = witness.grep(max(one.names, key=len), own=True) or ()
    paths = sorted({hit.path for hit in hits if one.is_in(hit.text[:MAX_WIDTH])})
    held = [(path, line) for path in paths for line in checked_lines(witness.lines(path, 1, MAX_LINES), one)]
    if (fact.path, fact.line) not in held:
        return "the line is no code"
    other = next((path for path, _ in held if path != fact.path), fact.path)
    return None if len(held) <= (fact.count or 0) else f"`{other}` contains it as well"


def checked_lines(lines: Sequence[str], one: Expression) -> list[int]:
    """Return the lines of code of a file that contain an expression, without the tests at its end."""
    tests = next((line for line, text in enumerate(lines, 1) if _TESTS.match(text)), len(lines) + 1)
    return [line for line in lines_with(lines, one) if line < tests]
