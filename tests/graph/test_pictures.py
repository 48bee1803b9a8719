"""Pictures of an issue in a whole run: read once, as untrusted words, and never at the cost of the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from nodes.brains.calls.budget import RunLimits
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context import Picture, Pictures
from nodes.graph import build_graph
from nodes.issue.pictures import NODE
from nodes.run import advance, initial_state
from nodes.state import Answer, BugTriageState, Finished, TraceEntry, Waiting
from nodes.state.checkpoints import serializer
from tests.servers.endpoints import answer
from tests.servers.model_server import ModelServer, Reply, Request, error, fields_of, says, serve
from tests.support.fakes import SHA, FakeCode, context

URL = "https://github.com/user-attachments/assets/1"
DATA = "data:image/png;base64,iVBORw0KGgo="
WORDS = "TypeError: cannot read properties of undefined (reading 'tokens')"


class Port:
    """Pictures that were fetched, and reasons for others."""

    def __init__(self, *refused: str, fetched: int = 1) -> None:
        self.pictures = Pictures(tuple(Picture(f"{URL}?jwt=secret", DATA) for _ in range(fetched)), refused)
        self.asked = 0
        self.texts: list[tuple[str, int]] = []

    async def fetch(self, text: str, earlier: int = 0) -> Pictures:
        self.asked += 1
        self.texts.append((text, earlier))
        return self.pictures


class Code(FakeCode):
    """Remembers its queries."""

    def __init__(self) -> None:
        super().__init__()
        self.queries: list[Any] = []

    async def find(self, query: Any) -> Any:
        self.queries.append(query)
        return await super().find(query)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


def has_image(request: Request) -> bool:
    return isinstance(request["messages"][-1]["content"], list)


def shows(reply: Any) -> Any:
    """A model that copies these words from pictures and does its task otherwise."""

    def script(request: Request) -> Reply:
        if has_image(request):
            return reply if isinstance(reply, Reply) else says({"pictures": [{"text": reply}]})
        return says(answer(request))

    return script


async def triage(server: ModelServer, **ports: Any) -> BugTriageState:
    limits = ports.pop("limits", RunLimits())
    models = Models(
        ModelSettings(base_url=server.url, api_key="k", max_retries=0, calls_per_minute=10**6, limits=limits)
    )
    ctx = context(LLMBrain(models), **{"rules": RulesBrain(), "code": Code(), "pictures": Port(), **ports})
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    try:
        outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    finally:
        await models.aclose()
    assert isinstance(outcome, Finished)
    return outcome.state


def entry_of(state: BugTriageState) -> TraceEntry:
    (entry,) = [entry for entry in state.trace if entry.node == NODE]
    return entry


async def test_the_words_of_a_picture_reach_query_and_prompts_fenced_and_are_read_once(server: ModelServer) -> None:
    server.script = shows(WORDS)
    code, port = Code(), Port("the host is not allowed")
    state = await triage(server, code=code, pictures=port)
    (request,) = [request for request in server.requests if has_image(request)]
    assert request["messages"][-1]["content"][1] == {"type": "image_url", "image_url": {"url": DATA}}
    assert port.asked == 1
    assert any(WORDS in query.extra for query in code.queries)
    prompts = [str(request["messages"]) for request in server.requests if not has_image(request)]
    assert any("<<<DATA pictures" in text and "TypeError: cannot read" in text for text in prompts)
    entry = entry_of(state)
    assert (entry.decision, entry.judged_by) == ("read", "gpt-4o")
    assert entry.counts == {"pictures": 2, "read": 1, "refused": 1}
    assert "the host is not allowed" in entry.reason
    assert state.metrics.usage.calls == len(server.requests)
    assert "secret" not in state.model_dump_json()


async def test_the_words_of_a_picture_in_an_answer_are_read_once_too(server: ModelServer) -> None:
    code, port, left = Code(), Port(), ["human_input", "codebase_search"]

    def script(request: Request) -> Reply:
        if has_image(request):
            return says({"pictures": [{"text": WORDS if port.asked == 1 else "KeyError: 'zone'"}]})
        value = answer(request)
        if "next_node" in value:
            legal = fields_of(request)["next_node"].get("enum", [])
            node = next((left.pop(left.index(name)) for name in list(left) if name in legal), value["next_node"])
            value = {**value, "next_node": node, "question": "What does it print?"}
        if "cause" in value and left:  # a cause would lead to the critic at once, and no question would be asked
            value = {**value, "cause": []}
        return says(value)

    server.script = script
    models = Models(ModelSettings(base_url=server.url, api_key="k", max_retries=0, calls_per_minute=10**6))
    ctx = context(LLMBrain(models), rules=RulesBrain(), code=code, pictures=port)
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    graph = build_graph(InMemorySaver(serde=serializer()))
    waiting = await advance(graph, ctx, "t", start)
    assert isinstance(waiting, Waiting)
    reply = Answer(text=f"This: ![]({URL})", answered_by="rita")
    outcome = await advance(graph, ctx, "t", start, answer=reply, question_id=waiting.exchange.question_id)
    await models.aclose()
    assert port.texts == [(ctx.body, 0), (reply.text, 1)]
    read = [entry for entry in outcome.state.trace if entry.node == NODE]
    assert [entry.counts["read"] for entry in read] == [1, 1]
    assert sum(has_image(request) for request in server.requests) == 2
    assert any("KeyError: 'zone'" in text for query in code.queries for text in query.extra)
    assert outcome.state.metrics.usage.calls == len(server.requests)


async def test_a_report_by_rules_never_fetches_a_picture(server: ModelServer) -> None:
    port = Port()
    rules = RulesBrain()
    ctx = context(rules, rules=rules, pictures=port)
    start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
    await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    assert port.asked == 0


@pytest.mark.tried("pictures that must not be fetched or read")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param(error(400, "image_url is only supported by certain models"), "takes no images", id="refused"),
        pytest.param(error(422, "messages.1.content: must be a string"), "takes no images", id="refused-by-shape"),
        pytest.param(error(500, "this model is missing data required for image input"), "takes no images", id="500"),
        pytest.param(error(401), "key is not valid", id="no-key"),
        pytest.param(says("I see a cat."), "invalid answers", id="prose"),
        pytest.param(says(None, refusal="no"), "refused", id="declined"),
    ],
)
async def test_a_model_without_pictures_only_omits_them(server: ModelServer, reply: Reply, why: str) -> None:
    server.script = shows(reply)
    state = await triage(server)
    entry = entry_of(state)
    assert (entry.decision, entry.counts["read"]) == ("nothing read", 0)
    assert why in str(entry.error)
    assert state.report is not None
    assert state.report.written_by == "gpt-4o"
    assert not state.metrics.fallbacks


async def test_a_model_without_images_gets_only_one_request_with_an_image(server: ModelServer) -> None:
    server.script = shows(error(400, "this model does not support image input"))
    models = Models(ModelSettings(base_url=server.url, api_key="k", max_retries=0, calls_per_minute=10**6))
    for thread in "ab":
        ctx = context(LLMBrain(models), rules=RulesBrain(), pictures=Port())
        start = initial_state(ctx.title, ctx.body, repository="o/r", sha=SHA)
        await advance(build_graph(InMemorySaver(serde=serializer())), ctx, thread, start)
    assert sum(has_image(request) for request in server.requests) == 1
    # Nothing else was given up.
    assert all("response_format" in request or "tools" in request for request in server.requests)
    await models.aclose()


@pytest.mark.parametrize(("texts", "read"), [([], 0), ([{"text": ""}, {"text": " "}], 0), ([{"text": WORDS}] * 8, 2)])
async def test_results_are_matched_to_the_number_of_pictures(server: ModelServer, texts: list[Any], read: int) -> None:
    server.script = shows(says({"pictures": texts}))
    state = await triage(server, pictures=Port(fetched=2))
    assert entry_of(state).counts["read"] == read


async def test_pictures_count_against_the_budget_of_the_run(server: ModelServer) -> None:
    server.script = shows(WORDS)
    state = await triage(server, pictures=Port(fetched=8), limits=RunLimits(tokens=12_000))
    assert not any(has_image(request) for request in server.requests)
    assert "budget" in str(entry_of(state).error)
