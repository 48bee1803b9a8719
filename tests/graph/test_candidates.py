"""The search results and their order."""

from __future__ import annotations

import pytest

from nodes.agents.code.candidates import POINTED, find_candidates, lines_of_facts, pointed_at
from nodes.brains.briefing import CHECKED
from nodes.search.facts import Fact
from nodes.search.types import Location, Ranking, Reason

SHA = "a" * 40


def location(path: str, symbol: str | None, *, score: float = 1.0, kind: str = "words") -> Location:
    return Location(
        path=path,
        start_line=1,
        end_line=3,
        symbol=symbol,
        quote=f"def {symbol}(): ...",
        quote_start=1,
        quote_end=1,
        score=score,
        reasons=(Reason(kind, "shares rare words with the title", score),),
    )


LEXER, READER = location("parser/lexer.py", "scan"), location("parser/reader.py", "read_all", score=0.9)
STORE, PLAIN = location("app/store.py", "save", score=0.8), location("app/other.py", "run", kind="prior")


@pytest.mark.parametrize(
    ("redirect", "expected"),
    [
        pytest.param("look at app/store.py", ["app/store.py"], id="a-file"),
        pytest.param("look at the reader", ["parser/reader.py"], id="a-file-without-its-end"),
        pytest.param("scan never ends", ["parser/lexer.py"], id="a-symbol"),
        pytest.param("look at the parser", ["parser/lexer.py", "parser/reader.py"], id="a-folder"),
        pytest.param("look at app/gone.py", [], id="a-file-that-is-not-there"),
        pytest.param("where strings end", ["parser/lexer.py"], id="words-alone"),
    ],
)
def test_a_redirect_selects_the_place_that_it_names(redirect: str, expected: list[str]) -> None:
    found = pointed_at(Ranking(SHA, locations=(LEXER, READER, STORE, PLAIN)), redirect)
    assert [item.locator.path for item in found] == expected
    assert all(item.reasons[0] == POINTED for item in found)


def test_a_path_without_support_in_the_text_is_not_chosen() -> None:
    assert pointed_at(Ranking(SHA, locations=(PLAIN,)), "where strings end") == ()


def test_a_place_that_a_maintainer_named_comes_first_and_once() -> None:
    ranking = Ranking(SHA, locations=(LEXER, location("app/store.py", "save", score=0.1)))
    pointed = pointed_at(ranking, "look at the store")
    found = find_candidates(ranking, (), retry=False, pointed=pointed)
    assert [item.evidence.locator.path for item in found.strong] == ["app/store.py", "parser/lexer.py"]
    assert [item.id for item in found.all] == ["E1", "E2"]


def _fact(path: str, line: int | None, text: str, *, strong: bool = False, sha: str | None = None) -> Fact:
    return Fact("built_here", f"`{text}` is checked.", text, path, line, text, "scan", sha=sha, strong=strong)


def test_a_model_sees_the_lines_of_facts_and_rules_do_not() -> None:
    facts = (
        _fact("app/store.py", 7, "raise Full(name)"),
        _fact("parser/lexer.py", 4, "raise Unclosed(text)", strong=True),
        _fact("parser/lexer.py", None, "no line"),
        _fact("parser/old.py", 4, "gone", sha="b" * 40),
        _fact("parser/blank.py", 4, "  "),
    )
    lines = lines_of_facts(facts, SHA)
    assert [(one.locator.path, one.quote) for one in lines] == [
        ("parser/lexer.py", "raise Unclosed(text)"),
        ("app/store.py", "raise Full(name)"),
    ]
    assert all(one.reasons[0].startswith(CHECKED) for one in lines)
    ranking = Ranking(SHA, (), (LEXER, READER))
    found = find_candidates(ranking, ("k1",), retry=False, facts=lines)
    assert [item.id for item in found.all] == ["E2", "E3", "E4", "E5"]
    assert [item.id for item in found.strong] == ["E2", "E3"]
