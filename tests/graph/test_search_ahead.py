"""A search that runs while the libraries of the graph are imported: the run asks for the same, and only once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.cli import cli
from bot.runs.code import EngineCode
from nodes.search.engine import Engine
from nodes.search.git.errors import GitFailed, SearchError
from nodes.search.types import Query, Ranking, Survey
from tests.support.repositories import make_repository

FILES = {"app/load.py": "def load(key):\n    return {}[key]\n", "app/save.py": "def save(key):\n    return key\n"}
QUERY = Query("`load` raises a KeyError", "It fails for each key.", limit=10)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the methods of engines as they are called."""
    calls: list[str] = []
    find, survey = Engine.find, Engine.survey

    def counted_find(engine: Engine, query: Query, commit: str) -> Ranking:
        calls.append("find")
        return find(engine, query, commit)

    def counted_survey(engine: Engine, *given: Any) -> Survey:
        calls.append("survey")
        return survey(engine, *given)

    monkeypatch.setattr(Engine, "find", counted_find)
    monkeypatch.setattr(Engine, "survey", counted_survey)
    return calls


def opened(folder: Path, ignore: Sequence[str] = ()) -> EngineCode:
    sha = make_repository(folder, FILES)
    return EngineCode(Engine(folder), sha, tuple(ignore))


@pytest.mark.parametrize("ignore", [(), ("app/save.py",)])
async def test_what_was_asked_ahead_is_the_answer_to_the_same_query(
    tmp_path: Path, asked: list[str], ignore: tuple[str, ...]
) -> None:
    code, other = opened(tmp_path / "one", ignore), opened(tmp_path / "two", ignore)
    code.search_ahead(QUERY)
    ahead = (await code.find(QUERY), await code.survey(QUERY))
    assert sorted(asked) == ["find", "survey"]
    ranking, survey = await other.find(QUERY), await other.survey(QUERY)
    assert (ahead[0].files, ahead[0].locations, ahead[1].facts) == (ranking.files, ranking.locations, survey.facts)


async def test_another_query_is_asked_itself(tmp_path: Path) -> None:
    code = opened(tmp_path / "app")
    code.search_ahead(QUERY)
    found = await code.find(Query("`save` returns nothing", ""))
    assert found.files[0].path == "app/save.py"


async def test_a_failure_is_raised_where_the_answer_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_given: object) -> Ranking:
        raise GitFailed("no pack can be read")

    monkeypatch.setattr(Engine, "find", fails)
    code = opened(tmp_path / "app")
    code.search_ahead(QUERY)
    with pytest.raises(SearchError, match="no pack"):
        await code.find(QUERY)
    with pytest.raises(SearchError, match="no pack"):
        await code.survey(QUERY)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("`load` raises a KeyError\n\nIt fails for each key.", id="bug"),
        pytest.param("How do I use `load`?", id="question"),
    ],
)
def test_a_run_by_rules_asks_for_what_was_asked_ahead(tmp_path: Path, asked: list[str], text: str) -> None:
    make_repository(tmp_path / "app", FILES)
    arguments = ["run", "--repo", str(tmp_path / "app"), "--text", text, "--brain", "rules"]
    done = CliRunner().invoke(cli, arguments, env={"TRIAGE_DATA_DIR": str(tmp_path / "data")}, catch_exceptions=False)
    assert done.exit_code == 0
    assert sorted(asked) == ["find", "survey"]
