"""A process of its own reads the code, while the command imports the libraries of the graph."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bot.cli.group import cli
from bot.errors import UserError
from bot.runs import apart
from bot.runs.apart import CodeApart
from bot.runs.code import EngineCode
from nodes.search.engine import Engine
from nodes.search.git import Repository
from nodes.search.git.errors import GitFailed, SearchError
from nodes.search.history.types import spots_of
from nodes.search.types import Query, Ranking
from tests.support.patience import patience, wait_for
from tests.support.repositories import make_repository

FILES = {"app/load.py": "def load(key):\n    return {}[key]\n", "app/save.py": "def save(key):\n    return key\n"}
QUERY = Query("`load` raises a KeyError", "It fails for each key.", limit=10)
ENDLESS = """
import sys, time
from pathlib import Path
from bot.runs.apart import CodeApart
from bot.runs.code import EngineCode
from nodes.search.engine import Engine
from nodes.search.types import Query

engine = Engine(sys.argv[1])
Engine.find = lambda *_: (print("searching", flush=True), time.sleep(600))
code = CodeApart(EngineCode(engine, engine.commit()))
code.ask_ahead("find", Query("load"))
print(code._process.pid, flush=True)
time.sleep(600)
"""
"""A search that never ends, in a process apart."""


@contextmanager
def opened(folder: Path) -> Iterator[tuple[EngineCode, Any]]:
    """Open the same commit in this process and apart."""
    sha = make_repository(folder, FILES)
    code = EngineCode(Engine(folder), sha)
    with closing(CodeApart(code)) as other:
        yield code, other


async def test_it_answers_as_this_process_does(tmp_path: Path) -> None:
    with opened(tmp_path) as (code, other):
        assert other.sha == code.sha
        assert await other.find(QUERY) == await code.find(QUERY)
        assert await other.survey(QUERY) == await code.survey(QUERY)
        assert await other.read("app/load.py", 2, 2) == "    return {}[key]"
        assert await other.definitions("save") == await code.definitions("save")
        assert await other.history(QUERY, ()) == await code.history(QUERY, ())
        assert await other.read("app/none.py", 1, 1) is None


async def test_more_places_of_the_same_text_are_ranked_by_the_same_features(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[tuple[int, tuple[str, ...]]] = []
    measure = Engine.measure

    def counted(engine: Engine, query: Query, sha: str) -> Any:
        texts.append((query.limit, query.extra))
        return measure(engine, query, sha)

    monkeypatch.setattr(Engine, "measure", counted)
    with opened(tmp_path) as (code, _):
        queries = [QUERY, replace(QUERY, limit=20, extra=("save",)), replace(QUERY, limit=1), QUERY]
        found = [await code.find(query) for query in queries]
        alone = [await EngineCode(Engine(tmp_path), code.sha).find(query) for query in queries]
    assert [(one.files, one.locations, one.leads) for one in found] == [
        (one.files, one.locations, one.leads) for one in alone
    ]
    assert texts[:2] == [(10, ()), (20, ("save",))]
    assert len(texts) == 2 + len(queries)


async def test_the_history_that_was_read_ahead_is_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(tmp_path, {"app/load.py": "def load(key):\n"})
    with opened(tmp_path) as (code, _):
        await code.prepare_history(QUERY)
        wait_for(lambda: not any("ThreadPool" in thread.name for thread in threading.enumerate()), 20)
        asked: list[object] = []
        monkeypatch.setattr(Repository, "output", lambda _, *arguments, **_options: asked.append(arguments))
        history = await code.history(QUERY, spots_of((await code.survey(QUERY)).leads))
        changes = [change.commit for change in (*history.suspicion.changes, *history.suspicion.recent)]
        assert [await code.subject(change.sha) for change in changes] == ["Initial"]
    assert asked == []


async def test_what_was_asked_ahead_is_answered_before_a_search_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "find", lambda *_: time.sleep(600))
    with opened(tmp_path) as (code, other):
        other.ask_ahead("forms")
        other.ask_ahead("find", QUERY)
        assert await other.forms() == await other.forms() == await code.forms()


async def test_an_error_is_raised_where_the_answer_is_awaited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_given: object) -> Ranking:
        raise GitFailed("no pack can be read")

    monkeypatch.setattr(Engine, "find", fails)
    with opened(tmp_path) as (_, other):
        with pytest.raises(SearchError, match="no pack") as raised:
            await other.find(QUERY)
        assert "in fails" in raised.value.__notes__[0]
        assert await other.read("app/load.py", 1, 1) == "def load(key):"


async def test_the_end_of_the_process_is_an_error(tmp_path: Path) -> None:
    with opened(tmp_path) as (_, other):
        other._process.kill()
        with pytest.raises(UserError, match="was killed"):
            await other.find(QUERY)


def test_closing_it_does_not_wait_for_its_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "find", lambda *_: time.sleep(600))
    with opened(tmp_path) as (_, other):
        asked = [other.ask_ahead("find", QUERY), other.ask_ahead("find", QUERY)]
    assert all(one.done() for one in asked)
    assert not other._process.is_alive()


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_it_ends_with_its_parent_even_during_a_search(tmp_path: Path, name: str) -> None:
    make_repository(tmp_path, FILES)
    command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        shown = {process.stdout.readline().strip(), process.stdout.readline().strip()}
        number = int((shown - {"searching"}).pop())
        process.send_signal(getattr(signal, name))
        process.wait(patience(60))
        until = time.monotonic() + patience(60)
        while Path(f"/proc/{number}/cmdline").exists() and Path(f"/proc/{number}/cmdline").read_bytes():
            assert time.monotonic() < until
            time.sleep(0.01)


@pytest.fixture
def _interrupts() -> Iterator[None]:
    """Restore what this process does at SIGINT."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
async def test_ctrl_c_ends_nothing_if_the_command_ignores_it(tmp_path: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with opened(tmp_path) as (_, other):
        assert await other.read("app/load.py", 1, 1)
        os.kill(other._process.pid, signal.SIGINT)
        assert await other.read("app/load.py", 1, 1)


@pytest.mark.usefixtures("_interrupts")
def test_ctrl_c_ends_a_command_during_its_search(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", FILES)
    begun, git = tmp_path / "begun", tmp_path / "git"
    # The search reads the history, and this one takes a minute.
    git.write_text(
        f'#!/bin/sh\ncase "$*" in *" log "*) touch {begun}; exec sleep 60;; esac\nexec {shutil.which("git")} "$@"'
    )
    git.chmod(0o755)
    command = [sys.executable, "-m", "bot", "run", "--repo", "app", "--text", "load fails", "--brain", "rules"]
    given = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TRIAGE_DATA_DIR": str(tmp_path / "data")}
    # A process that a shell started in its background ignores the signal, and so would this child.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, cwd=tmp_path, env=given, stderr=subprocess.PIPE, text=True) as process:
        wait_for(begun.exists, 60)
        # Not to the group, as a terminal would: the process apart must end without it.
        process.send_signal(signal.SIGINT)
        assert process.wait(patience(60)) == 130
        assert process.stderr is not None
        assert process.stderr.read() == "stopped; the same command continues from here\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("`load` raises a KeyError\n\nIt fails for each key.", id="bug"),
        pytest.param("How do I use `load`?", id="question"),
    ],
)
def test_a_run_by_rules_searches_once_and_only_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    asked, find, survey = tmp_path / "asked", Engine.find, Engine.survey

    def noted(name: str, ask: Any) -> Any:
        def answer(*given: Any) -> Any:
            with asked.open("a") as file:
                file.write(f"{name} {os.getpid() == here}\n")
            return ask(*given)

        return answer

    here = os.getpid()
    monkeypatch.setattr(apart, "is_possible", lambda: True)
    monkeypatch.setattr(Engine, "find", noted("find", find))
    monkeypatch.setattr(Engine, "survey", noted("survey", survey))
    assert triage(tmp_path, text) == 0
    assert asked.read_text().splitlines() == ["find False", "survey False"]


@pytest.mark.parametrize("why", ["other threads", "read-only data"])
def test_otherwise_the_command_searches_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    monkeypatch.setattr(apart, "is_possible", lambda: why != "other threads")
    monkeypatch.setattr(os, "access", lambda *_: why != "read-only data")
    monkeypatch.setattr(CodeApart, "__init__", None)
    assert triage(tmp_path, "`load` raises a KeyError") == 0


def triage(folder: Path, text: str) -> int:
    make_repository(folder / "app", FILES)
    arguments = ["run", "--repo", str(folder / "app"), "--text", text, "--brain", "rules"]
    done = CliRunner().invoke(cli, arguments, env={"TRIAGE_DATA_DIR": str(folder / "data")}, catch_exceptions=False)
    return done.exit_code
