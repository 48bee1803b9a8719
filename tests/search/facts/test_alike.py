"""An earlier change whose subject has words of the title that few other changes have."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.engine import Engine
from nodes.search.facts import Fact
from tests.search.facts.finding import facts_at, of_kind, verify
from tests.support.repositories import make_repository

SEARCH = "def ask(text):\n    return text\n"
TITLE = "Search query resets after the focus is lost"


def _history(path: Path, message: str, files: dict[str, str], *, more: tuple[str, ...] = ()) -> str:
    make_repository(path, {**dict.fromkeys(files, "# empty\n"), "other.py": "one = 1\n"})
    change = make_repository(path, {**files, "other.py": "one = 1\n"}, message=message)
    for subject in (*more, "Tidy up"):
        make_repository(path, {**files, "other.py": "one = 1\n"}, message=subject)
    return change


def _alike(facts: tuple[Fact, ...]) -> list[Fact]:
    return [fact for fact in of_kind(facts, "changed_in") if " of an earlier change: " in fact.says]


@pytest.mark.parametrize(
    ("message", "title", "more", "words"),
    [
        pytest.param("Reset the search query on leaving (#7)", TITLE, (), "Search … query … resets", id="three-words"),
        pytest.param("fix(web): reset of a query", TITLE, (), "query … resets", id="two-words"),
        pytest.param("Reset the form", TITLE, (), None, id="one-word"),
        pytest.param("Reset the search query", "It resets", (), None, id="one-word-of-the-title"),
        pytest.param("Add the missing default option", "Missing default option", (), None, id="says-little"),
        pytest.param("Update the query", "Query is gone after updating", (), None, id="says-little-in-another-form"),
        pytest.param("Reset the query", TITLE, ("Query: reset", "No reset of a query"), None, id="many-have-the-words"),
        pytest.param('Revert "Reset the search query"', TITLE, (), None, id="a-revert"),
        pytest.param("docs: reset of a search query", TITLE, (), None, id="no-behaviour"),
    ],
)
def test_a_change_with_words_of_the_title_is_stated(
    tmp_path: Path, message: str, title: str, more: tuple[str, ...], words: str | None
):
    change = _history(tmp_path, message, {"app/page.py": SEARCH}, more=more)
    found = _alike(facts_at(tmp_path, Engine(tmp_path).commit(), title, "I see it daily.", first=("app/page.py",)))
    assert [(fact.change, fact.path, fact.strong, fact.unclaimed) for fact in found] == (
        [(change, "app/page.py", True, True)] if words else []
    )
    assert all(f"the words “{words}” of" in fact.says for fact in found)


@pytest.mark.parametrize("first", ["web/page.py", "other.py"])
def test_the_change_touched_the_first_file_at_its_path(tmp_path: Path, first: str):
    _history(tmp_path, "Reset the search query", {"app/page.py": SEARCH})
    make_repository(tmp_path, {"web/page.py": SEARCH, "other.py": "one = 1\n"}, message="Move the page")
    assert not _alike(facts_at(tmp_path, Engine(tmp_path).commit(), TITLE, "I see it daily.", first=(first,)))


def test_a_large_change_names_no_place(tmp_path: Path):
    files = {f"app/part{at}.py": SEARCH for at in range(8)}
    _history(tmp_path, "Reset the search query", files)
    assert not _alike(facts_at(tmp_path, Engine(tmp_path).commit(), TITLE, "Daily.", first=("app/part1.py",)))


def test_words_and_files_are_checked_again(tmp_path: Path):
    _history(tmp_path, "Reset the search query", {"app/page.py": SEARCH})
    engine = Engine(tmp_path)
    (fact,) = _alike(facts_at(tmp_path, engine.commit(), TITLE, "I see it daily.", first=("app/page.py",)))
    for title, says, fault in (
        (TITLE, fact.says, None),
        ("Search query: resets", fact.says, None),
        ("Search is slow", fact.says, "the title or the change does not have the words"),
        (TITLE, fact.says.replace("app/page.py", "other.py"), "the commit does not change this file"),
        (TITLE, fact.says.replace("resets", "focus"), "the title or the change does not have the words"),
    ):
        changed = Fact("changed_in", says, "Search", fact.path, change=fact.change)
        assert verify(changed, engine.repository, engine.commit(), f"{title}\nbody") == fault
