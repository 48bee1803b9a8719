"""Whole runs with a model that reads code in a conversation, and the use of what it submits."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from bot.runs.code import EngineCode
from nodes.agents.code.candidates import find_candidates, rescored
from nodes.agents.writing.explanation import is_explained
from nodes.brains.calls.models import READING, Effort, Models, ModelSettings, ReadingLimits
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.agreement import Opinions, confidence_of, support_of
from nodes.context.ports import Context
from nodes.evidence import Evidence, Locator, NumberedEvidence
from nodes.graph import build_graph
from nodes.judgements import CauseSentence, Submission, SubmittedPlace
from nodes.run import advance, initial_state
from nodes.search.engine import Engine
from nodes.search.types import FileHit, Location, Lookup, Query, Ranking
from nodes.state import BugTriageState, Finished
from nodes.state.checkpoints import serializer
from tests.graph.test_model_faults import ANSWERS, DECISION, good
from tests.servers.model_server import ModelServer, Reply, error, fields_of, says, serve
from tests.support.code_reader import calls, is_reading, submits
from tests.support.fakes import SHA, FakeCode, FakeEvidence, context
from tests.support.patience import patience, wait_for
from tests.support.preloaded import Forked
from tests.support.repositories import make_repository

DEFINITION = calls(("function", {"name": "advance"}))
FILES = {
    "src/lexer.py": ["def scan(text):", "    while True:", "        advance()", "    return text"],
    "src/reader.py": ["def read(path):", "    return scan(open(path).read())"],
    "src/cursor.py": ["def advance():", "    return position"],
}


class Code(FakeCode):
    """Finds two of its three files; the third has to be looked up."""

    def __init__(self, **given: Any) -> None:
        # A search that is sure is not looked into any further.
        super().__init__(
            confidence=given.pop("confidence", 0.6), files={path: list(lines) for path, lines in FILES.items()}, **given
        )


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


def reads(*steps: Reply) -> Any:
    """Return a correct model that reads code by its own script."""
    left = list(steps)

    def script(request: dict[str, Any]) -> Reply:
        if not is_reading(request):
            return good(request)
        return left.pop(0) if len(left) > 1 else left[0]

    return script


async def triage(server: ModelServer, level: Effort = "normal", **ports: Any) -> tuple[BugTriageState, Context]:
    reading = READING[level] or ReadingLimits()
    given: dict[str, Any] = {"level": level, "reading": reading, "timeout": patience(10), "max_retries": 0}
    models = Models(ModelSettings(base_url=server.url, calls_per_minute=100_000, **given))
    ctx = context(LLMBrain(models), **{"rules": RulesBrain(), "code": Code(), **ports})
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    try:
        outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    finally:
        await models.aclose()
    assert isinstance(outcome, Finished)
    return outcome.state, ctx


def reading_of(state: BugTriageState) -> Any:
    return next(entry for entry in state.trace if entry.node == "codebase_search")


def cites(number: str) -> Any:
    """Return a writer that cites only that evidence."""

    def script(request: dict[str, Any]) -> Reply:
        reply = good(request)
        message = reply.body["choices"][0]["message"]
        return says(message["content"].replace("E1", number))

    return script


async def test_what_a_model_submits_is_ordinary_evidence(server: ModelServer) -> None:
    made = calls(("function", {"name": "advance"}), ("read", {"path": "../x"}))
    steps = reads(made, submits("src/cursor.py:1", "src/lexer.py:1"))
    server.script = lambda request: steps(request) if is_reading(request) else cites("E3")(request)
    state, ctx = await triage(server)
    assert isinstance(ctx.evidence, FakeEvidence)
    read = ctx.evidence.kept[state.evidence[2]]
    assert (read.locator.path, read.quote, read.locator.sha) == ("src/cursor.py", "def advance():", SHA)
    assert state.report is not None
    assert [(s.path, s.evidence, s.checked) for s in state.report.suspects][:1] == [("src/cursor.py", "E3", True)]
    entry = reading_of(state)
    assert entry.counts["calls"] == 2
    assert entry.looks == ("function advance → 1 matches in 1 files.", "read ../x → 0 lines.")
    assert any("a model queried it with 2 calls" in line for line in state.report.tried)
    finding = next(finding for finding in state.findings if finding.agent_name == "codebase_search")
    assert finding.relevant_files[:2] == ("src/cursor.py", "src/lexer.py")
    submitted = finding.submitted
    assert submitted is not None
    assert [one.evidence for one in submitted.places] == [state.evidence[2], state.evidence[3]]
    assert submitted.cause[0].evidence == (state.evidence[2],)


async def test_a_submission_with_a_verdict_needs_neither_supervisor_nor_writer(server: ModelServer) -> None:
    told = [("`advance` returns the position and never moves it.", ["src/cursor.py:1"])]
    places = ("src/cursor.py:1", "src/lexer.py:1")
    server.script = reads(DEFINITION, submits(*places, cause=told, verdict="`advance` never moves.", confirm="Run it."))
    state, _ = await triage(server)
    # The investigator, two turns and the critic.
    assert len(server.requests) == state.metrics.usage.calls == 4
    assert "12 turns and 12,000 tokens of answers are left." in str(server.requests[1]["messages"])
    report = state.report
    assert report is not None
    assert report.verdict.endswith("`advance` never moves.")
    assert (report.root_cause or report.unconfirmed).startswith("`advance` returns the position and never moves it")
    assert [suspect.path for suspect in report.suspects] == ["src/cursor.py", "src/lexer.py"]
    assert (report.written_by, report.how_to_confirm) == (reading_of(state).judged_by, "Run it.")
    critic = str(server.requests[-1]["messages"])
    assert "    return position" in critic  # what is around the line that was cited
    assert "Human exchanges" not in critic


LONG = [f"def work_{n}(item):" if n % 10 == 0 else f"    step_{n}(item, {'word ' * 8})" for n in range(300)]


def evidence_of(critic: str) -> dict[str, str]:
    """Return the code of a critic's message by its path and lines."""
    block = critic.partition("## Evidence")[2].partition("You are the critic")[0]
    parts = re.split(r"^(?=E\d+ )", block, flags=re.MULTILINE)
    return {part.split()[2]: part for part in parts if re.match(r"E\d+ code ", part)}


class OneFunction(Code):
    """Each file is one function."""

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:
        found = await super().lines(path, start_line, end_line)
        return found and replace(found, passages=tuple(replace(one, symbol="work") for one in found.passages))


async def test_places_stay_in_the_order_of_the_reader(server: ModelServer) -> None:
    places = ("src/work.py:2", "src/cursor.py:1", "src/work.py:33", "src/lexer.py:1")
    read = calls(("read", {"path": "src/work.py", "start_line": 1, "end_line": 40}), ("function", {"name": "advance"}))
    told = [("`work_0` is wrong.", [places[0]])]
    server.script = reads(read, submits(*places, cause=told, verdict="`work_0` is wrong."))
    code = Code()
    code.files |= {"src/work.py": list(LONG)}
    state, _ = await triage(server, code=code)
    assert state.report is not None
    assert [f"{place.path}:{place.start_line}" for place in state.report.suspects][:4] == list(places)


async def test_a_critic_sees_every_line_that_a_finding_cites(server: ModelServer) -> None:
    cited = [f"src/work.py:{start}-{start + 9}" for start in range(1, 160, 10)]
    told = [(f"`work_{n}` is part {n}.", cited[4 * n : 4 * n + 4]) for n in range(4)]
    places = ("src/work.py:1", "src/same.py:1", "src/work.py:33", "src/cursor.py:1")
    read = calls(
        *(("read", {"path": "src/work.py", "start_line": n, "end_line": n + 39}) for n in range(1, 160, 40)),
        ("read", {"path": "src/same.py", "start_line": 1, "end_line": 9}),
        ("function", {"name": "advance"}),
    )
    server.script = reads(read, submits(*places, cause=told, verdict="`work_0` is wrong."))
    code = OneFunction()
    code.files |= {"src/work.py": list(LONG), "src/same.py": list(LONG)}
    state, ctx = await triage(server, code=code)
    critic = next(text for text in map(prompt, server.requests) if "You are the critic" in text)
    shown = evidence_of(critic)
    finding = next(one for one in state.findings if one.submitted is not None)
    assert isinstance(ctx.evidence, FakeEvidence)
    submitted = finding.submitted
    assert submitted is not None
    keys = {*submitted.cited, *(place.evidence for place in submitted.places)}
    assert len(keys) == 16 + len(places)
    missing = [key for key in keys if str(ctx.evidence.kept[key].locator) not in shown]
    assert missing == []
    bodies = critic.partition("## The code around the first places")[2]
    for where, text in shown.items():
        if found := re.search(r"\(in the code around (E\d+)\)", text):
            path, _, lines = where.rpartition(":")
            around = re.search(rf"^{found[1]} (\S+):(\d+)-(\d+)$", bodies, re.MULTILINE)
            assert around is not None
            first, last = map(int, lines.split("-"))
            assert around[1] == path
            assert int(around[2]) <= first <= last <= int(around[3])
    assert state.report is not None
    # Two places in one long function stay.
    assert [f"{one.path}:{one.start_line}" for one in state.report.suspects][:3] == list(places[:3])


async def test_an_approving_critic_asks_for_nothing(server: ModelServer) -> None:
    asks = json.dumps({**ANSWERS["approved"], "required_evidence": ["work"]})
    steps = reads(DEFINITION, submits("src/cursor.py:1"))
    server.script = lambda request: says(asks) if "You are the critic" in prompt(request) else steps(request)
    state, _ = await triage(server)
    assert state.critic_feedback is not None
    assert (state.critic_feedback.verdict, state.critic_feedback.required_evidence) == ("APPROVED", ())


def prompt(request: dict[str, Any]) -> str:
    return "\n".join(str(message["content"]) for message in request["messages"])


async def test_the_highest_level_reads_longer(server: ModelServer) -> None:
    told = [("`advance` returns the position.", ["src/cursor.py:1"])]
    ended = submits("src/cursor.py:1", cause=told, verdict="`advance` never moves.")
    steps = reads(DEFINITION, *[calls(("grep", {"pattern": f"word{n}"})) for n in range(14)], ended)
    server.script = lambda request: steps(request) if is_reading(request) else good(request)
    await triage(server, level="high")
    # More turns than the 12 of the level below.
    assert sum(map(is_reading, server.requests)) == 16


async def test_submitted_evidence_is_read_again_before_a_claim(server: ModelServer) -> None:
    code = Code()
    steps = reads(DEFINITION, submits("src/cursor.py:1"))

    def script(request: dict[str, Any]) -> Reply:
        if is_reading(request):
            return steps(request)
        if "root_cause" in str(request.get("response_format")):
            code.files["src/cursor.py"][0] = "def retreat():"
        return cites("E3")(request)

    server.script = script
    state, _ = await triage(server, code=code)
    assert state.report is not None
    assert state.report.citation_audit.failed == ("E3",)
    assert state.report.root_cause is None
    assert "src/cursor.py" not in {suspect.path for suspect in state.report.suspects}


@pytest.mark.parametrize(
    "failure", [pytest.param(error(500), id="500"), pytest.param(says(None, refusal="No."), id="refusal")]
)
async def test_if_a_model_fails_in_its_conversation_the_rules_judge(server: ModelServer, failure: Reply) -> None:
    server.script = reads(DEFINITION, failure)
    state, ctx = await triage(server)
    finding = next(finding for finding in state.findings if finding.agent_name == "codebase_search")
    assert finding.judged_by == "rules"
    assert finding.relevant_files == ("src/lexer.py", "src/reader.py")
    kept = ctx.evidence.kept.values()  # type: ignore[attr-defined]
    assert "src/cursor.py" not in {item.locator.path for item in kept}
    entry = reading_of(state)
    assert entry.looks == ("function advance → 1 matches in 1 files.",)
    assert entry.error
    assert state.metrics.usage.calls == len(server.requests)


async def test_rules_that_replace_a_writing_model_retain_its_order(server: ModelServer) -> None:
    steps = reads(submits("src/reader.py:1", "src/lexer.py:1"))

    def script(request: dict[str, Any]) -> Reply:
        return error(500) if "root_cause" in str(request.get("response_format")) else steps(request)

    server.script = script
    state, _ = await triage(server)
    assert state.report is not None
    assert state.report.written_by == "rules"
    assert [suspect.path for suspect in state.report.suspects] == ["src/reader.py", "src/lexer.py"]


def ranking(confidence: float, *paths: str) -> Ranking:
    places = tuple(Location(path, 1, 1, None, 1 - n / 10, f"x{n}", 1, 1) for n, path in enumerate(paths))
    return Ranking(SHA, tuple(FileHit(path, 1.0) for path in dict.fromkeys(paths)), places, confidence)


@pytest.mark.parametrize(
    ("search", "model", "agree", "read", "approved", "expected"),
    [
        pytest.param(0.8, 0.9, True, False, True, 0.8, id="agrees-and-is-no-surer-than-the-search"),
        pytest.param(0.8, 0.3, True, False, True, 0.3, id="agrees-and-is-less-sure"),
        pytest.param(0.4, 0.9, True, True, False, 0.4, id="agrees-after-reading-with-a-doubtful-search"),
        pytest.param(0.4, 0.9, True, True, True, 0.85, id="agrees-and-is-approved"),
        pytest.param(0.4, 0.85, True, True, True, 0.72, id="agrees-less-surely-and-is-approved"),
        pytest.param(0.95, 0.9, True, True, False, 0.9, id="agrees-after-reading-with-a-sure-search"),
        pytest.param(0.4, 0.2, True, True, True, 0.2, id="agrees-and-doubts"),
        pytest.param(0.8, 0.9, False, False, True, 0.2, id="another-file-without-reading"),
        pytest.param(0.4, 0.9, False, True, False, 0.4, id="another-file-after-reading-than-a-doubtful-search"),
        pytest.param(0.4, 0.9, False, True, True, 0.8, id="another-file-that-is-approved"),
        pytest.param(0.4, 0.85, False, True, True, 0.72, id="another-file-less-surely"),
        pytest.param(0.9, 1.0, False, True, False, 0.1, id="another-file-after-reading-than-a-sure-search"),
        pytest.param(0.9, 1.0, False, True, True, 0.5, id="another-file-than-a-sure-search-that-is-approved"),
        pytest.param(0.3, 0.1, False, True, True, 0.1, id="another-file-not-surely"),
    ],
)
def test_the_confidence_of_a_models_first_file(
    search: float, model: float, agree: bool, read: bool, approved: bool, expected: float
) -> None:
    opinions = Opinions(search, model, agree=agree, read=read, explained=True, approved=approved)
    assert support_of(opinions) == pytest.approx(expected)
    assert confidence_of(opinions) == pytest.approx(min(expected, search))
    # An approval counts only for a cause that is about its lines and about the report.
    unexplained = replace(opinions, explained=False)
    assert support_of(unexplained) == support_of(replace(opinions, approved=False))


def test_a_models_number_alone_raises_nothing() -> None:
    for search in (0.0, 0.3, 0.5, 0.7, 0.99, 1.0):
        for model in (0.0, 0.4, 0.5, 0.8, 1.0):
            for agree in (True, False):
                assert support_of(Opinions(search, model, agree, read=False)) <= search


@pytest.mark.parametrize("search", [0.1, 0.3, 0.5, 0.64, 0.69, 0.75, 0.79])
def test_another_file_than_the_searchs_is_claimed_only_if_its_cause_is_approved(search: float) -> None:
    opinions = Opinions(search, 0.95, agree=False, read=True, explained=True)
    assert support_of(opinions) <= 1 - search + 1e-9
    assert support_of(replace(opinions, approved=True)) >= 0.65
    assert support_of(replace(opinions, approved=True, explained=False)) == support_of(opinions)
    assert confidence_of(opinions) <= confidence_of(replace(opinions, approved=True)) <= search


REPORT = "The position is not advanced\nThe scan hangs on an open quote."
CURSOR = Evidence(kind="code", locator=Locator(path="a.py"), quote="    return position, offset", symbol="advance")
LEXER = Evidence(kind="code", locator=Locator(path="b.py"), quote="    while cursor: advance(text)", symbol="scan")
FOLLOWED = ("`advance` returns `position` with an unchanged `offset`.", "So `cursor` stays where `scan` met the quote.")


@pytest.mark.parametrize(
    ("cause", "report", "explained"),
    [
        pytest.param(FOLLOWED, REPORT, True, id="follows-the-code"),
        pytest.param(FOLLOWED, "扫描挂起 `scan`", True, id="report-in-another-script"),
        pytest.param(FOLLOWED[:1], REPORT, False, id="one-sentence"),
        pytest.param(FOLLOWED[:1] * 2, REPORT, False, id="the-same-sentence-twice"),
        pytest.param(
            FOLLOWED, "Colours are wrong in the printed picture of a table.", False, id="nothing-of-the-report"
        ),
        pytest.param(
            FOLLOWED, f"{REPORT} It passes advance, position, offset, cursor.", False, id="the-report-names-all-of-it"
        ),
        pytest.param(
            ("The open quote is not advanced by `advance`.", "The quote hangs the open `scan`."),
            REPORT,
            False,
            id="one-name-with-words-of-the-report",
        ),
        pytest.param(("The scan hangs at it.", "It hangs at an open quote."), REPORT, False, id="nothing-of-the-lines"),
        pytest.param(
            ("This code of position decides it.", "This code decides it."), REPORT, False, id="suits-any-line"
        ),
        pytest.param(
            ("`offset`: the position is not advanced.", "`cursor`, `advance`: the scan hangs on an open quote."),
            REPORT,
            False,
            id="quotes-the-report",
        ),
        pytest.param(
            (
                "`position` and `offset` decide the scan of the quote.",
                "`cursor` and `text` decide the scan of the quote.",
            ),
            REPORT,
            False,
            id="the-same-of-other-names",
        ),
        pytest.param(
            ("It may `return` while `position` changes.", "So `while` ends where `scan` met it."),
            REPORT,
            False,
            id="words-of-the-language",
        ),
        pytest.param((), REPORT, False, id="nothing"),
    ],
)
def test_a_cause_explains_if_it_follows_the_code_and_is_about_the_report(
    cause: tuple[str, ...], report: str, explained: bool
) -> None:
    evidence = {name: NumberedEvidence(id=name, evidence=place) for name, place in (("E1", CURSOR), ("E2", LEXER))}
    texts = zip(cause, ("E1", "E2"), strict=False)
    places = (SubmittedPlace(evidence="E2"),)
    sentences = tuple(CauseSentence(text=text, evidence=(name,)) for text, name in texts)
    submitted = Submission(cause=sentences, places=places)
    assert is_explained(submitted, evidence, report) == explained
    assert not is_explained(submitted, {}, report)
    # Two sentences about the same lines are one step; that something has no matches explains nothing by itself.
    same = Submission(cause=tuple(CauseSentence(text=text, evidence=("E1",)) for text in cause), places=places)
    assert not is_explained(same, evidence, report)
    nothing = {
        name: item.model_copy(update={"evidence": item.evidence.model_copy(update={"kind": "lookup"})})
        for name, item in evidence.items()
    }
    assert not is_explained(submitted, nothing, report)


def test_the_cited_lines_of_the_first_place_are_about_the_report() -> None:
    colours = LEXER.model_copy(update={"quote": "    palette = shades(colour)", "symbol": "paint"})
    places = {"E1": CURSOR, "E2": LEXER, "E3": colours}
    evidence = {name: NumberedEvidence(id=name, evidence=place) for name, place in places.items()}
    third = CauseSentence(text="Then `palette` takes other `shades`.", evidence=("E3",))
    sentences = (*(CauseSentence(text=text, evidence=(f"E{n}",)) for n, text in enumerate(FOLLOWED, 1)), third)

    def explains(first: str) -> bool:
        return is_explained(Submission(cause=sentences, places=(SubmittedPlace(evidence=first),)), evidence, REPORT)

    assert explains("E1")
    evidence["E3"] = NumberedEvidence(
        id="E3", evidence=colours.model_copy(update={"locator": Locator(path="colours.py")})
    )
    assert not explains("E3")


@pytest.mark.parametrize("mark", ["# ", "// ", " * ", "import ", "from ", "#include "])
def test_comments_and_imports_explain_nothing(mark: str) -> None:
    def explains(start: str) -> bool:
        lines = (place.model_copy(update={"quote": f"{start}{place.quote.strip()}"}) for place in (CURSOR, LEXER))
        evidence = {
            name: NumberedEvidence(id=name, evidence=line) for name, line in zip(("E1", "E2"), lines, strict=True)
        }
        sentences = (CauseSentence(text=text, evidence=(name,)) for text, name in zip(FOLLOWED, evidence, strict=True))
        places = (SubmittedPlace(evidence="E2"),)
        return is_explained(Submission(cause=tuple(sentences), places=places), evidence, REPORT)

    assert explains("#define ")
    assert not explains(mark)


def test_rules_and_a_model_get_the_strong_candidates() -> None:
    found = ranking(0.5, *(f"f{n}.py" for n in range(9)))
    candidates = find_candidates(found, ("known",), retry=False)
    assert [item.id for item in candidates.strong] == ["E2", "E3", "E4", "E5", "E6"]
    assert candidates.all == candidates.strong
    assert candidates.filtered_out == 4
    many = Ranking(SHA, (), tuple(Location(f"{n}.py", 1, 1, None, 1.0, "x", 1, 1) for n in range(30)))
    assert [len(find_candidates(many, (), retry=retry).strong) for retry in (False, True)] == [10, 20]


def test_a_file_with_an_undecodable_name_is_not_a_candidate() -> None:
    found = ranking(0.5, "src/\udcff.py", "src/a.py")
    assert [item.evidence.locator.path for item in find_candidates(found, (), retry=False).all] == ["src/a.py"]


def test_scores_follow_a_models_order() -> None:
    places = [Evidence(kind="code", locator=Locator(path=f"{n}.py"), quote="x", score=n / 10) for n in (3, 9, 0)]
    numbered = [NumberedEvidence(id=f"E{n}", evidence=item) for n, item in enumerate(places, 1)]
    assert [(item.id, item.evidence.score) for item in rescored(numbered)] == [("E1", 0.9), ("E2", 0.3), ("E3", 0.0)]


class Many(FakeCode):
    """Finds forty files, the first six with a score of at least 0.6, and one more with 0.55."""

    def __init__(self, confidence: float = 0.5) -> None:
        super().__init__(
            confidence=confidence,
            files={f"src/m{n:02}.py": [f"def part{n:02}(text):", "    return text"] for n in range(40)},
        )

    async def find(self, query: Query) -> Ranking:
        self.queries.append(query)
        scored = [(path, max(1 - n * 0.075, 0.1)) for n, path in enumerate(self.files)][: query.limit]
        places = (Location(path, 1, 2, None, score, "\n".join(self.files[path]), 1, 2) for path, score in scored)
        return Ranking(SHA, tuple(FileHit(*one) for one in scored), tuple(places), self.confidence)


def prefers(path: str) -> Any:
    """Return a model that submits the first line of this file, and searches again whenever it may."""

    def script(request: dict[str, Any]) -> Reply:
        if is_reading(request):
            return submits(f"{path}:1")
        schema = fields_of(request)
        if "codebase_search" in schema.get("next_node", {}).get("enum", ()):
            return says({**DECISION, "next_node": "codebase_search", "question_options": []})
        return good(request)

    return script


async def test_a_models_evidence_is_filtered_by_score_and_wider_after_a_rejected_draft(server: ModelServer) -> None:
    steps, fails = prefers("src/m00.py"), [True]

    def script(request: dict[str, Any]) -> Reply:
        if "root_cause" in str(request.get("response_format")) and fails:
            fails.clear()
            return cites("E901")(request)
        return steps(request)

    server.script = script
    state, ctx = await triage(server, code=Many(confidence=0.9))
    assert isinstance(ctx.evidence, FakeEvidence)
    kept = [ctx.evidence.kept[key].locator.path for key in state.evidence]
    first, wider = [entry for entry in state.trace if entry.node == "codebase_search"]
    assert (first.scores["threshold_used"], first.scores["avg_score"]) == (0.6, 0.8125)
    assert (first.counts["candidates"], first.counts["filtered_out"], first.counts["chosen"]) == (6, 10, 1)
    assert kept[:6] == [f"src/m{n:02}.py" for n in range(6)]
    assert (wider.scores["threshold_used"], wider.scores["avg_score"], wider.judged_by) == (0.55, 0.775, "gpt-4o")
    assert "src/m06.py" in kept
    assert "src/m07.py" not in kept
    # The reader's conversation continues once, with what the program could not confirm.
    assert sum(is_reading(request) for request in server.requests) == 2
    assert state.report is not None
    assert state.report.suspects[0].path == "src/m00.py"
    assert state.retry_count == 1


async def test_the_state_of_a_run_with_a_long_conversation_stays_small(server: ModelServer) -> None:
    lines = [(path, number) for path, text in FILES.items() for number in range(1, len(text) + 1)]
    many = calls(*[("read", {"path": path, "start_line": number}) for path, number in lines][:6])
    told = [("d" * 300, [f"{path}:{number}" for path, number in lines[n : n + 4]]) for n in range(4)]
    places = [f"{path}:{number}" for path, number in lines[:5]]
    server.script = reads(*[many] * 11, submits(*places, cause=told, confirm="c" * 300))
    state, _ = await triage(server)
    searches = [entry for entry in state.trace if entry.node == "codebase_search"]
    assert [entry.counts["calls"] for entry in searches] == [6]  # a repeated call is answered once
    finding = next(one for one in state.findings if one.submitted)
    assert finding.submitted is not None
    assert len(finding.submitted.cause) == 4
    assert len(set(state.evidence)) == len(state.evidence)
    assert len(state.model_dump_json()) < 32_000


async def test_a_kill_in_a_conversation_duplicates_no_evidence(tmp_path: Path, server: ModelServer) -> None:
    sha = make_repository(tmp_path / "r", {path: "\n".join(lines) + "\n" for path, lines in FILES.items()})
    hang = [True]

    def script(request: dict[str, Any]) -> Reply:
        if not is_reading(request):
            return good(request)
        if len(request["messages"]) == 2:
            return calls(("function", {"name": "advance"}), ("callers", {"name": "advance"}))
        return Reply({}, delay=5) if hang else submits("src/cursor.py:1", "src/lexer.py:3")

    server.script = script
    files = (str(tmp_path / name) for name in ("c.db", "s.db", "r"))
    command = [sys.executable, "-m", "tests.graph.killed_looks", *files, server.url]
    hanging = Forked(command)
    wait_for(
        lambda: any(is_reading(request) and len(request["messages"]) == 5 for request in server.requests),
        60.0,
        hanging.poll,
    )
    hanging.send_signal(signal.SIGKILL)
    hanging.wait()
    hang.clear()
    with Forked(command, stdout=subprocess.PIPE, text=True) as done:
        resumed = json.loads(done.communicate(timeout=patience(90))[0])
    undisturbed, _ = await triage(server, code=EngineCode(Engine(tmp_path / "r"), sha))
    assert resumed["evidence"] == list(undisturbed.evidence)
    assert resumed["looks"] == list(reading_of(undisturbed).looks)
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        rows = [row[0] for row in db.execute("SELECT hash FROM evidence")]
    assert sorted(rows) == sorted(resumed["evidence"])
    assert len(set(rows)) == len(rows)
