"""``subject_of_test``: the function that a test calls which the report names or links to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from typing import NamedTuple

import numpy as np

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import Code, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names import defined_once
from nodes.search.facts.names.named import BUILT_IN
from nodes.search.facts.places.linked_here import links
from nodes.search.facts.types import Fact, declares_type
from nodes.search.facts.witness import Witness
from nodes.search.paths.roles import role_of
from nodes.search.sentences import say
from nodes.search.tokens import term_hash

MAX_TESTS, MAX_LINES, MAX_FILE = 6, 80, 20_000
"""Maximum number of tests that are read, of lines of each, and of lines of a file of tests."""
NEAR = 8
"""Number of lines below a linked line that are read, if no definition is around it."""
_TEST = re.compile(r"(?<![\w$])(?:test_\w{3,80}|Test[A-Z]\w{2,80}|test[A-Z]\w{2,80})(?![\w$])")
_CALLED = re.compile(r"(?<![\w$])([A-Za-z_]\w{2,80})\s?\(")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


class _Test(NamedTuple):
    """A test, or a part of a file of tests, and the words that name it."""

    label: str
    words: str
    number: int
    start: int
    end: int


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the definition of the only own function that each test calls, or of the only one that its name names."""
    for test in dict.fromkeys(islice((*_linked(inquiry), *_named(inquiry)), MAX_TESTS)):
        if inquiry.issue.holds(test.words) and (fact := _fact(inquiry.code, test)):
            yield fact


def _linked(inquiry: FinderInput) -> Iterator[_Test]:
    """Yield the tests around linked lines; a test without a definition is labelled with its file."""
    code = inquiry.code
    for link in links(inquiry.issue.body):
        number = code.number(link.path)
        if number is None or code.index.roles[number] != "test":
            continue
        row = code.index.definition_at(number, link.first)
        if row is None:
            yield _Test(link.path, link.words, number, link.first, link.last + NEAR)
        else:
            yield _of_row(code, row, link.words)


def _named(inquiry: FinderInput) -> Iterator[_Test]:
    """Yield the tests whose names the report has, unless several tests have one."""
    index = inquiry.code.index
    for name in dict.fromkeys(name for line in inquiry.issue.lines for name in _TEST.findall(line)):
        rows = np.flatnonzero(index.def_last == term_hash(name)).tolist()
        held = [row for row in rows if index.roles[int(index.def_file[row])] == "test"]
        if len(held) == 1:
            yield _of_row(inquiry.code, held[0], name)


def _of_row(code: Code, row: int, words: str) -> _Test:
    number, start, end = code.span(row)
    return _Test(code.index.name_of(row).rpartition(".")[2], words, number, start, min(end, start + MAX_LINES))


def _fact(code: Code, test: _Test) -> Fact | None:
    called = _called(code.lines(test.number)[test.start - 1 : test.end], test.label)
    once = {name: head for name in called if name not in BUILT_IN and (head := code.only_head(name))}
    # Tests create values of many types, and call what they test.
    functions = [name for name, head in once.items() if not declares_type(head.text)]
    named = [name for name in functions if _parts(name) <= _parts(test.label)]
    chosen = named if len(named) == 1 else functions
    if len(chosen) != 1:
        return None
    head = once[chosen[0]]
    values = {"test": test.label, "name": chosen[0], "path": head.path}
    says = say("The test `{test}` calls `{name}`, which only `{path}` defines.", **values)
    return head.fact_of_few("subject_of_test", says, test.words, 1)


def _called(lines: Sequence[str], test: str) -> list[str]:
    calls = (name for line in lines if not is_comment(line) for name in _CALLED.findall(line))
    return [name for name in dict.fromkeys(calls) if name != test]


def _body(lines: Sequence[str]) -> list[str]:
    """Return the first line, and those below it that are indented further."""
    head, *below = lines or [""]
    indent = len(head) - len(head.lstrip())
    return [head, *takewhile(lambda line: not line.strip() or len(line) - len(line.lstrip()) > indent, below)]


def _parts(name: str) -> set[str]:
    return {part.casefold() for part in _WORDS.findall(name)}


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that a test of this name calls the function, which no other source file defines."""
    test, name = re.findall(r"`([^`]{1,300})`", fact.says)[:2]
    hits = [hit for hit in witness.grep(test) if role_of(hit.path) == "test"]
    bodies = [_body(witness.lines(hit.path, hit.line, hit.line + MAX_LINES)) for hit in hits]
    if role_of(test) == "test":
        bodies.append(witness.lines(test, 1, MAX_FILE))
    if not any(name in _called(lines, test) for lines in bodies):
        return "no such test calls it"
    if not whole_word(test).search(fact.words or "") and not links(fact.words or ""):
        return "the words name no test"
    return defined_once.check(replace(fact, words=name), witness)
