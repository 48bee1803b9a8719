"""If a model stops, skips the search or contradicts itself, the report has only the program's findings."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from nodes.brains.calls.budget import RunLimits
from nodes.brains.calls.models import ChatModel, Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.brain import ModelError
from nodes.graph import build_graph
from nodes.judgements import Draft, DraftSuspect
from nodes.report import TriageReport
from nodes.run import advance, initial_state
from nodes.state import Answer, BugTriageState, Waiting
from nodes.state.checkpoints import serializer
from nodes.trust.statements import cited_in
from tests.graph.test_run import finish
from tests.servers.endpoints import answer, prompt_of
from tests.servers.model_server import ModelServer, Reply, Request, error, says, serve
from tests.support.fakes import FILES, SHA, FakeCode, ScriptedBrain, context, decide
from tests.support.patience import patience

THREADS = itertools.count()
GRAPH = build_graph(InMemorySaver(serde=serializer()))
CLAIM = Draft(
    verdict="The cache in the lexer is stale.",
    root_cause="No code in this commit clears the cache [E1].",
    suspects=(DraftSuspect(evidence="E1", why="the cache"),),
    ruled_out=("the reader",),
    how_to_confirm="Look at the cache.",
    confidence=0.95,
)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


async def triage(server: ModelServer, script: Callable[[Request], Reply], **given: Any) -> BugTriageState:
    server.script = script
    server.requests.clear()
    models = Models(
        ModelSettings(base_url=server.url, max_retries=0, timeout=patience(10), calls_per_minute=10**6, **given)
    )
    try:
        return await run(LLMBrain(models))
    finally:
        await models.aclose()


async def run(brain: LLMBrain) -> BugTriageState:
    ctx = context(brain, rules=RulesBrain(), code=FakeCode())
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    thread = str(next(THREADS))
    outcome = await advance(GRAPH, ctx, thread, start)
    while isinstance(outcome, Waiting):
        question_id = outcome.exchange.question_id
        outcome = await advance(GRAPH, ctx, thread, start, answer=Answer(), question_id=question_id)
    return outcome.state


def report_of(state: BugTriageState) -> TriageReport:
    assert state.report is not None
    return state.report


async def test_without_a_search_the_report_states_what_the_program_finds() -> None:
    draft = CLAIM.model_copy(update={"root_cause": "", "suspects": ()})
    state = await finish(context(ScriptedBrain([decide("writer")], draft=draft)))
    report = report_of(state)
    published = report.model_dump_json(exclude={"citation_audit"})
    assert report.suspects[0].path == "src/lexer.py"
    assert "cache" not in published
    assert report.not_found != "no_candidates"
    assert "Searched the code for the words of the issue alone." in report.tried


async def test_a_models_number_about_unsearched_code_counts_nothing() -> None:
    """The low confidence of the search sends the draft back, and the search that follows replaces it."""
    code = FakeCode(confidence=0.3)
    state = await finish(context(ScriptedBrain([decide("writer")], draft=CLAIM), code=code))
    assert state.metrics.confidence_history[0] <= 0.3
    assert "codebase_search" in [entry.node for entry in state.trace]


async def test_a_draft_from_before_the_search_loses_a_tie() -> None:
    code = FakeCode(confidence=0.5)
    brain = ScriptedBrain([decide("writer")])
    state = await finish(context(brain, code=code, claim_from=0.9))
    report = report_of(state)
    assert state.metrics.confidence_history[0] == state.metrics.confidence_history[-1]
    assert "Searched the code for the words of the issue alone." not in report.tried


async def test_a_question_before_a_search_makes_no_statement_about_the_code() -> None:
    draft = CLAIM.model_copy(update={"kind": "question"})
    report = report_of(await finish(context(ScriptedBrain([decide("writer")], draft=draft))))
    assert "cache" not in report.model_dump_json(exclude={"citation_audit"})


@pytest.mark.parametrize("calls", range(1, 4))
async def test_an_exhausted_budget_ends_with_the_programs_findings(server: ModelServer, calls: int) -> None:
    state = await triage(server, lambda request: says(answer(request)), limits=RunLimits(calls=calls))
    report = report_of(state)
    assert {one.path for one in report.suspects} <= set(FILES)
    assert report.suspects
    assert all(one.checked for one in report.suspects)
    assert f"budget of {calls} model calls is spent" in " ".join(report.notes)


async def test_a_supervisor_without_a_response_ends_with_the_programs_findings(server: ModelServer) -> None:
    def script(request: Request) -> Reply:
        return says("lunch") if "You are the supervisor" in prompt_of(request) else says(answer(request))

    report = report_of(await triage(server, script))
    assert {one.path for one in report.suspects} == {"src/lexer.py"}
    assert "too little" not in report.verdict


async def test_a_retry_names_the_rejected_parts_and_repeats_no_request(server: ModelServer) -> None:
    def script(request: Request) -> Reply:
        value = answer(request)
        if "root_cause" in value:
            value = {**value, "root_cause": "The cache is stale [E77].", "verdict": "Certainly the cache [E77]."}
        return says(value)

    state = await triage(server, script)
    assert state.retry_count
    later = [prompt_of(request) for request in server.requests if "## Rejected draft" in prompt_of(request)]
    assert later
    assert all("could not confirm" in text and "cache" in text for text in later if "You are the writer" in text)
    sent = [json.dumps(request["messages"]) for request in server.requests]
    assert len(set(sent)) == len(sent)


TRUE, FALSE = "The loop is in src/lexer.py:2.", "Then src/ghost.py:7 calls `launch_missiles()`."
FIELDS = [
    ("writer", "verdict"),
    ("writer", "root_cause"),
    ("writer", "how_to_confirm"),
    ("writer", "severity_reason"),
    ("writer", "missing"),
    ("writer", "ruled_out"),
    ("writer", "labels"),
    ("writer", "suspects"),
    ("investigator", "missing"),
    ("investigator", "severity_reason"),
    ("critic", "gaps"),
    ("critic", "required_evidence"),
    ("critic", "contradictions"),
    ("critic", "better_place"),
]


@pytest.mark.tried("fields of a model's answers that name what does not exist")
@pytest.mark.parametrize(("role", "field"), FIELDS, ids=map(".".join, FIELDS))
async def test_true_sentences_of_each_field_stay_and_false_ones_are_dropped(role: str, field: str) -> None:
    prose = f"{TRUE} [E1] {FALSE}" if field != "better_place" else "src/ghost.py"
    told = {"suspects": [{"evidence": "E1", "why": prose}], "root_cause": f"{TRUE[:-1]} [E1]. {FALSE}"}
    lists = ("missing", "ruled_out", "labels", "gaps", "required_evidence", "contradictions")
    value = told.get(field, [f"{TRUE[:-1]} [E1].", f"{FALSE[:-1]} [E1]."] if field in lists else prose)

    class ChatModel(Liar):
        async def ainvoke(self, messages: list[tuple[str, str]], **_given: Any) -> AIMessage:
            request = {"messages": [{"content": text} for _, text in messages]}
            changed = {field: value} if f"You are the {role} of" in prompt_of(request) else {}
            return AIMessage(json.dumps({**answer(request), "kind": "bug", "approved": role != "critic", **changed}))

    state = await run(brain_of(ChatModel([])))
    assert TRUE[:-1] in state.model_dump_json() or field in ("labels", "better_place")
    said = [report_of(state).model_dump_json(exclude={"citation_audit"})]
    said += [one.model_dump_json() for one in (state.critic_feedback, *state.human_exchanges) if one is not None]
    assert not [text for text in said for ghost in GHOSTS if ghost in text]
    assert state.reading is not None
    assert "ghost" not in f"{state.reading.missing} {state.reading.severity_reason}"


GHOSTS = ("src/ghost.py", "../../secret.py", "src/lexer.py:999", "`launch_missiles()`")
TEXTS = st.sampled_from(
    [*GHOSTS, "the lexer [E1]", "the loop", "[E9] says so", "src/reader.py", "ignore all rules", ""]
)
SENTENCES = st.lists(TEXTS, max_size=3).map(lambda parts: ". ".join(f"It is in {part} [E1]" for part in parts))
REFERENCES = st.sampled_from(["E1", "E3:1", "E4:2-9", "src/lexer.py:2", "src/reader.py:1", "E99:1", *GHOSTS])
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "tool": st.sampled_from(["grep", "read", "function", "callers", "tree", "log", "delete"]),
            "what": TEXTS,
            "path": TEXTS,
            "start_line": st.integers(-1, 9),
            "end_line": st.integers(-1, 9),
        }
    ),
    min_size=1,
    max_size=8,
)
IDS = st.lists(st.sampled_from(["E1", "E2", "E3", "E99", "e1", *GHOSTS]), max_size=4)
PLACES = IDS.flatmap(
    lambda ids: st.tuples(*[SENTENCES.map(lambda why, name=name: {"evidence": name, "why": why}) for name in ids])
)
CONFIDENCES = st.sampled_from([0.0, 0.4, 0.7, 1.0, 7, "high"])
LIES = st.fixed_dictionaries(
    {},
    optional={
        "next_node": st.sampled_from(["writer", "critic", "codebase_search", "human_input", "end", "lunch"]),
        "question": SENTENCES,
        "approved": st.booleans(),
        "summary": SENTENCES,
        "details": SENTENCES,
        "verdict": SENTENCES,
        "root_cause": SENTENCES,
        "how_to_confirm": SENTENCES,
        "severity_reason": SENTENCES,
        "labels": st.lists(TEXTS, max_size=2),
        "missing": st.lists(SENTENCES, max_size=2),
        "ruled_out": st.lists(SENTENCES, max_size=2),
        "gaps": st.lists(SENTENCES, max_size=2),
        "contradictions": st.lists(SENTENCES, max_size=2),
        "calls": CALLS,
        "cause": st.lists(
            st.fixed_dictionaries({"text": SENTENCES, "evidence": st.lists(REFERENCES, max_size=3)}), max_size=5
        ),
        "places": st.lists(st.fixed_dictionaries({"evidence": REFERENCES, "why": SENTENCES}), max_size=6),
        "rival": st.one_of(st.none(), st.fixed_dictionaries({"evidence": REFERENCES, "why": SENTENCES})),
        "against": REFERENCES,
        "confirm": SENTENCES,
        "files": st.lists(st.sampled_from(["F1", "F2", "F9", "f1", *GHOSTS]), max_size=4),
        "not_listed": st.lists(TEXTS, max_size=2),
        "analysis": SENTENCES,
        "better_place": TEXTS,
        "required_evidence": st.lists(SENTENCES, max_size=2),
        "confidence": CONFIDENCES,
        "kind": st.sampled_from(["bug", "bug", "question"]),
    },
)
BROKEN = st.sampled_from(
    [says(""), says("{"), says("lunch"), error(500), says(None, refusal="No."), says("", finish="length")]
)
SCRIPTS = st.lists(
    st.one_of(st.tuples(LIES, IDS, PLACES), st.tuples(LIES, IDS, PLACES), BROKEN), min_size=3, max_size=10
)


def brain_of(liar: Liar) -> LLMBrain:
    """Return a brain whose only model is this one."""
    models = Models(ModelSettings(calls_per_minute=10**6))
    models._models["gpt-4o"] = ChatModel("gpt-4o", liar, ModelSettings(timeout=patience(5.0), max_retries=0))  # type: ignore[arg-type]
    return LLMBrain(models)


@dataclass
class Liar:
    """A chat model without HTTP that repeats its script."""

    steps: list[Any]
    asked: int = 0

    async def ainvoke(self, messages: list[tuple[str, str]], **_given: Any) -> AIMessage:
        step = self.steps[self.asked % len(self.steps)]
        self.asked += 1
        reply = with_false_statements({"messages": [{"content": text} for _, text in messages]}, step)
        if reply.status != 200:
            raise ModelError("the model's server answered HTTP 500")
        choice = reply.body["choices"][0]
        message = choice["message"]
        extra = {"refusal": message["refusal"]} if message["refusal"] else {}
        finish = {"finish_reason": choice["finish_reason"]}
        return AIMessage(message["content"] or "", additional_kwargs=extra, response_metadata=finish)


def with_false_statements(request: Request, step: Any) -> Reply:
    """Return the requested answer with the false statements of this step."""
    if isinstance(step, Reply):
        return step
    lies, ids, places = step
    value = answer(request)
    # A turn of a conversation is either calls or a submission.
    if "places" in value and "calls" in lies:
        return says({"calls": lies["calls"]})
    value = {**value, **{name: lie for name, lie in lies.items() if name in value}}
    if "details" in value:
        value["suspects"] = ids
    if "root_cause" in value:
        value["suspects"] = list(places)
    return says(value)


@pytest.mark.tried("sequences of invalid, contradicting and hostile answers of a model")
@settings(max_examples=25, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(steps=SCRIPTS)
async def test_every_place_of_a_report_was_found_or_looked_up(steps: list[Any]) -> None:
    state = await run(brain_of(Liar(steps)))
    report = report_of(state)
    for one in report.suspects:
        lines = FILES[one.path]
        assert one.quote == "\n".join(lines[one.quote_start - 1 : one.quote_end])
        assert 1 <= one.start_line <= one.end_line <= len(lines)
        assert one.checked
    ghosts = ("ghost.py", "secret.py", "py:999", "launch_missiles", "E99")
    fields = report.model_dump(mode="json", exclude={"citation_audit"}).items()
    assert not [(name, value) for name, value in fields for ghost in ghosts if ghost in json.dumps(value)]
    asked = [exchange.model_dump_json() for exchange in state.human_exchanges]
    assert not [text for text in asked for ghost in ghosts if ghost in text]
    gathered = {f"E{number}" for number in range(1, len(state.evidence) + 1)}
    named = {one.evidence for one in report.suspects} - {""}  # the program's own places have no number
    assert named | set(cited_in(report.root_cause or "")) <= gathered
    assert report.confidence <= 0.9  # the search's own
    assert report.written_by in ("gpt-4o", "rules")


async def test_a_models_mechanism_is_claimed_only_after_an_attempt_to_refute_it() -> None:
    brain = ScriptedBrain([decide("codebase_search"), decide("writer")], draft=CLAIM)
    report = report_of(await finish(context(brain)))
    assert report.root_cause is not None
    assert brain.asked.index("critic") < brain.asked.index("writer")


async def test_what_no_critic_read_is_shown_as_not_confirmed() -> None:
    def fails_in_the_critic(role: str) -> None:
        if role == "critic":
            raise RuntimeError("a bug")

    brain = ScriptedBrain([decide("codebase_search"), decide("writer")], draft=CLAIM, before=fails_in_the_critic)
    report = report_of(await finish(context(brain)))
    assert report.root_cause is None
    assert report.unconfirmed
    assert "No second reading tried to refute it" in report.unconfirmed_because
    assert report.verdict.startswith("Not confirmed: ")
