"""The two stages of small models: files of a list, then their functions; and the choice among paths."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from nodes.agents.code.tools import CodeTools
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.fence import estimate
from nodes.brains.llm import LLMBrain
from nodes.brains.screening import brain_of
from nodes.context.brain import Case, FileCard
from nodes.issue.facts import read_facts
from nodes.search.types import FileHit, Query, Ranking
from nodes.state import AgentFinding, BugTriageState
from tests.servers.model_server import ModelServer, Reply, says, serve, text_of
from tests.support.code_reader import chooses, is_choosing, listed
from tests.support.fakes import SHA, FakeCode
from tests.support.patience import patience

CODE = {f"src/f{n}.py": [f"def part{n}(text):", "    return text"] for n in range(20)}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


@pytest.fixture
async def models(server: ModelServer) -> AsyncIterator[Models]:
    running = Models(ModelSettings(base_url=server.url, timeout=patience(10), max_retries=0, calls_per_minute=6_000))
    running.get("gpt-4o").learn(reading="stages")
    yield running
    await running.aclose()


def case_of(code: FakeCode) -> Case:
    fact = ("`f3` is defined here.",)
    cards = tuple(FileCard(code._sketch(path), fact if "f3" in path else ()) for path in code.files)
    tools = CodeTools(code, (), lambda _node, _message: None)
    state, facts = BugTriageState(iterations=1), read_facts("", "It hangs.")
    return Case(state, "Crash in scan", "It hangs.", facts, files=cards[:16], search_confidence=0.6, tools=tools)


def picks(*paths: str) -> Any:
    """A model that prefers these files, and submits their functions in that order."""

    def script(request: dict[str, Any]) -> Reply:
        if is_choosing(request):
            return chooses(request, *paths)
        ids = listed(request)
        return says({"cause": [], "places": [{"evidence": name, "why": ""} for name in (*map(ids.get, paths), "E99")]})

    return script


async def test_a_model_chooses_files_and_submits_what_their_places_show(models: Models, server: ModelServer) -> None:
    server.script = picks("src/f7.py", "src/f2.py")
    judged = await LLMBrain(models).read_code(case_of(FakeCode(files=CODE)), ())
    first, second = server.requests
    assert list(listed(first)) == list(CODE)[:16]
    assert "checked: `f3` is defined here." in text_of(first)
    assert "2:     return text" in text_of(second)
    assert judged.value.suspects == ("E1", "E2")
    assert judged.value.submitted is not None
    assert judged.value.has_read_first is None
    assert judged.dropped == 1


async def test_unknown_files_are_dropped_and_missing_ones_looked_up(models: Models, server: ModelServer) -> None:
    server.script = lambda request: (
        says({"analysis": "", "files": ["F99", "nowhere"], "not_listed": ["src/f19.py", "src/ghost.py"]})
        if is_choosing(request)
        else says({"cause": [], "places": []})
    )
    await LLMBrain(models).read_code(case_of(FakeCode(files=CODE)), ())
    shown = re.findall(r"^read (\S+)", text_of(server.requests[1]), re.MULTILINE)
    assert shown == ["src/f19.py", "src/f0.py", "src/f1.py", "src/f2.py", "src/f3.py"]


async def test_a_file_that_the_list_lacks_is_read_beside_four_chosen_ones(models: Models, server: ModelServer) -> None:
    server.script = lambda request: (
        chooses(request, *(f"src/f{n}.py" for n in range(5)), not_listed=["src/f19.py"])
        if is_choosing(request)
        else says({"cause": [], "places": []})
    )
    await LLMBrain(models).read_code(case_of(FakeCode(files=CODE)), ())
    shown = re.findall(r"^read (\S+)", text_of(server.requests[1]), re.MULTILINE)
    assert shown == ["src/f0.py", "src/f1.py", "src/f2.py", "src/f3.py", "src/f19.py"]


async def test_a_hostile_list_stays_within_its_tokens(models: Models, server: ModelServer) -> None:
    code = FakeCode(files={f"src/{'x' * 180}{n}.py": [f"def {'y' * 900}(text):", "z" * 900] for n in range(16)})
    server.script = picks("src/f0.py")
    await LLMBrain(models).read_code(case_of(code), ())
    assert estimate(text_of(server.requests[0]).partition("## Files")[2]) <= 2_500


class Wide(FakeCode):
    async def find(self, query: Query) -> Ranking:
        found = await super().find(query)
        return Ranking(SHA, tuple(FileHit(path, 1.0) for path in list(self.files)[: query.limit]), found.locations, 0.5)


async def test_the_cheapest_level_chooses_among_many_paths_in_one_call(server: ModelServer) -> None:
    server.script = [says({"analysis": "It loops.", "files": ["F60", "F999", "f2"], "not_listed": ["src/f75.py"]})]
    running = Models(ModelSettings(base_url=server.url, max_retries=0, calls_per_minute=6_000, level="low"))
    brain = brain_of(running)
    case = case_of(Wide(files={f"src/f{n}.py": [f"def part{n}(text):", "    return text"] for n in range(90)}))
    judged = await brain.read_code(case, ())
    assert [(await brain.decide(case)).judged_by, (await brain.audit(case)).judged_by] == ["rules", "rules"]
    tools = case.tools
    assert isinstance(tools, CodeTools)
    chosen = tuple(str(item.evidence.locator.path) for item in tools.gathered)
    finding = AgentFinding(agent_name="codebase_search", summary="Chosen.", judged_by="gpt", relevant_files=chosen)
    state = case.state.model_copy(update={"findings": (finding,)})
    again = await brain.read_code(dataclasses.replace(case, state=state, looked_up=()), ())
    assert again.value.suspects == judged.value.suspects
    await running.aclose()
    # A rejected draft asks for nothing again.
    (request,) = server.requests
    assert len(re.findall(r"^F\d+ src/", text_of(request), re.MULTILINE)) == 60
    assert estimate(text_of(request)) < 1_900
    assert chosen == ("src/f59.py", "src/f1.py", "src/f75.py", "src/f0.py", "src/f2.py")
    assert judged.value.suspects == ("E1", "E2", "E3", "E4", "E5")


async def test_a_long_folder_is_written_once_in_the_list_of_the_cheapest_level(server: ModelServer) -> None:
    deep = "engine/src/main/java/example/company/product/internal/"
    server.script = [says({"analysis": "It loops.", "files": ["F2"], "not_listed": []})]
    running = Models(ModelSettings(base_url=server.url, max_retries=0, calls_per_minute=6_000, level="low"))
    files = {f"{deep}Part{n}.py": [f"def part{n}(text):", "    return text"] for n in range(58)} | {
        "run.py": ["def run(text):", "    return 1"]
    }
    case = case_of(Wide(files=files))
    await brain_of(running).read_code(case, ())
    await running.aclose()
    text = text_of(server.requests[0])
    assert f"…/ stands for {deep}\nF1 …/Part0.py\nF2 …/Part1.py\n" in text
    assert len(re.findall(r"^F\d+ ", text, re.MULTILINE)) == 59
    assert isinstance(case.tools, CodeTools)
    assert case.tools.gathered[0].evidence.locator.path == f"{deep}Part1.py"
