"""A model's lookups: limited to the repository, to six, and to one answer per question."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.agents.code.lookups import CodeLookups
from nodes.brains.calls.schema import fit
from nodes.context import LookupResult
from nodes.evidence import MAX_QUOTE
from nodes.judgements import LOOKS, CodeStep
from nodes.search.types import Lookup, Passage
from tests.support.code_reader import look
from tests.support.fakes import SHA, FakeCode

OUTSIDE = [
    "../../etc/passwd", "/etc/passwd", "src/../../x", "~/.ssh/id_rsa", "HEAD:src/lexer.py", "refs/heads/main", "", "  ",
    "src", "https://example.org/x.py", "a" * 5_000,
]  # fmt: skip


def looks_into(code: FakeCode | None = None, known: tuple[str, ...] = ()) -> CodeLookups:
    return CodeLookups(code or FakeCode(), known, known, lambda _node, _message: None)


async def ask(looks: CodeLookups, *asked: Any) -> list[LookupResult]:
    """Answer lookups in the format in which a server sends them."""
    step = fit(CodeStep, {"looks": list(asked), "summary": "s", "details": "", "suspects": [], "confidence": 0})
    return [await looks.look_up(wanted) for wanted in step.looks]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_a_lookup_outside_the_repository_is_refused_and_counts(path: str) -> None:
    looks = looks_into()
    (sight,) = await ask(looks, look("open", path, 1, 9))
    assert sight.note.startswith("Refused: ")
    assert len(sight.note) < 100
    assert (looks.remaining, looks.refused, looks.gathered) == (LOOKS - 1, 1, ())
    assert len(looks.lines[0]) <= 120


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        pytest.param(look("open", "src/lexer.py", 1, 10_000), "at most 60 lines", id="whole-file"),
        pytest.param(look("open", "src/lexer.py", 0, 3), "counted from 1", id="line-nought"),
        pytest.param(look("open", "src/lexer.py", 3, 1), "counted from 1", id="backwards"),
        pytest.param(look("open", "src/lexer.py", "one", None), "counted from 1", id="lines-in-words"),
        pytest.param(look("open", "src/lexer.py", 10**30, 10**30), "has 4 lines", id="far-behind-the-end"),
        pytest.param(look("definition", ""), "it has no content", id="empty-name"),
        pytest.param(look("definition", "(a+)+$"), "not a name", id="regex-as-a-name"),
        pytest.param(look("references", "rm -rf /; scan"), "not a name", id="command-as-a-name"),
        pytest.param(look("words", "(a|a)*$ [^x]{9}"), "no word", id="regex-bomb"),
        pytest.param(look("run", "make test"), "a lookup is one of", id="no-such-kind"),
        pytest.param(look("definition", ["scan"]), "it has no content", id="list-for-a-name"),
        pytest.param("open src/lexer.py", "a lookup is one of", id="no-object"),
        pytest.param({"what": "scan"}, "a lookup is one of", id="half-an-object"),
        pytest.param(None, "a lookup is one of", id="null"),
    ],
)
async def test_a_malformed_lookup_is_refused_and_counts(asked: Any, why: str) -> None:
    looks = looks_into()
    refused, answered = await ask(looks, asked, look("definition", "scan"))
    assert why in refused.note
    assert [item.id for item in answered.found] == ["E1"]
    assert (looks.remaining, looks.refused) == (LOOKS - 2, 1)


@pytest.mark.parametrize(
    ("asked", "quotes"),
    [
        pytest.param(look("open", "src/lexer.py", 2, 3), ["    while True:\n        advance()"], id="lines"),
        pytest.param(look("open", "src/lexer.py", "2", "2"), ["    while True:"], id="numbers-as-text"),
        pytest.param(look("definition", " scan "), ["def scan(text):"], id="definition"),
        pytest.param(look("references", "scan"), ["    return scan(open(path).read())"], id="references"),
        pytest.param(look("words", "advance"), ["        advance()"], id="words"),
        pytest.param(look("words", "nowhere"), [], id="nothing-is-an-answer"),
    ],
)
async def test_results_of_lookups_are_evidence(asked: Any, quotes: list[str]) -> None:
    looks = looks_into()
    (sight,) = await ask(looks, asked)
    assert [item.evidence.quote for item in sight.found] == quotes
    assert looks.gathered == sight.found
    assert all((item.evidence.kind, item.evidence.locator.sha) == ("code", SHA) for item in sight.found)
    assert looks.refused == 0


async def test_new_evidence_continues_the_numbers_and_known_evidence_retains_its_own() -> None:
    first = looks_into()
    await ask(first, look("definition", "scan"))
    known = ("other", first.gathered[0].evidence.key)
    looks = CodeLookups(FakeCode(), known, known[:1], lambda _node, _message: None)
    sights = await ask(looks, look("references", "scan"), look("definition", "scan"), look("definition", "read"))
    assert [item.id for sight in sights for item in sight.found] == ["E3", "E2", "E4"]
    assert [item.id for item in looks.gathered] == ["E3", "E2", "E4"]


async def test_a_candidate_that_is_looked_up_is_not_gathered_again() -> None:
    first = looks_into()
    await ask(first, look("definition", "scan"))
    looks = looks_into(known=(first.gathered[0].evidence.key,))
    (sight,) = await ask(looks, look("definition", "scan"))
    assert [item.id for item in sight.found] == ["E1"]
    assert looks.gathered == ()


class Verbose(FakeCode):
    """Answers with more text than requested."""

    passages: tuple[Passage, ...] = ()

    async def definitions(self, name: str) -> Lookup:
        return Lookup(self.passages, 99)


@pytest.mark.parametrize(
    ("passages", "ids", "said"),
    [
        pytest.param([("src/a.py", "x = 1\r\n" * 400)], ["E1"], "E1 continues to line 400.", id="long"),
        pytest.param([("src/a.py", "y" * 2_000)], [], "0 of 99", id="one-endless-line"),
        pytest.param([("src/a.py", " \n")], [], "0 of 99", id="blank"),
        pytest.param([("src/\udcff.py", "x = 1")], [], "0 of 99", id="a-name-that-is-no-text"),
        pytest.param(
            [(f"src/{n}.py", "x = 1\n" * 40) for n in range(9)], [f"E{n}" for n in range(1, 10)], "9 of 99", id="many"
        ),
    ],
)
async def test_a_result_has_whole_lines_and_a_bounded_size(
    passages: list[tuple[str, str]], ids: list[str], said: str
) -> None:
    code = Verbose()
    code.passages = tuple(Passage(path, 1, text.count("\n"), text, None, 400) for path, text in passages)
    looks = looks_into(code)
    (sight,) = await ask(looks, look("definition", "x"))
    assert [item.id for item in sight.found] == ids
    assert said in sight.note
    for item in sight.found:
        quote, where = item.evidence.quote, item.evidence.locator
        assert len(quote) <= MAX_QUOTE
        assert not quote.endswith(("\n", "\r"))
        assert quote.count("\n") == (where.end_line or 0) - (where.start_line or 0)
