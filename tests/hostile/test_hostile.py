"""Every malicious text in a whole triage, by rules and by an obedient model; none may have an effect."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from langgraph.checkpoint.memory import InMemorySaver
from markdown_it import MarkdownIt

from bot.ports import AskedQuestion, Comment
from bot.report.comment.markdown import EXPLAINED_WORDS, MAX_COMMENT, VISIBLE_WORDS, MarkdownRenderer
from bot.report.comment.sticky import fixed_comment, report_comment, waiting_comment
from bot.report.comment.thread import REPORT_MARKER, Thread
from bot.report.document import build_result
from bot.report.explain import Account, render_markdown
from bot.report.words import LEAKED
from bot.runs.code import EngineCode
from bot.settings.repository import RepositoryConfig
from bot.worker.commands.parse import parse
from bot.worker.publish.wanted import wanted_labels
from bot.worker.runs.questions import answer_in
from nodes.brains.calls.budget import RunLimits
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.brain import Brain
from nodes.context.ports import Context, ExternalSources
from nodes.graph import Graph, build_graph
from nodes.issue.facts import read_facts
from nodes.run import advance, initial_state
from nodes.search.engine import Engine
from nodes.sources.results import Received, as_evidence
from nodes.state import Answer, Finished, HumanExchange, Waiting
from nodes.state.checkpoints import serializer
from nodes.trust.secrets import holds_token
from tests.hostile.corpus import CASES, CLOUD_KEY, LONG_TOKEN, TOKEN, Hostile
from tests.hostile.obedient import obedient
from tests.report.visible import QUESTION_WORDS, visible_words
from tests.servers.model_server import ModelServer, serve
from tests.support.fakes import FakeEvidence, FakeSignals, FakeWeb
from tests.support.growth import budget
from tests.support.repositories import make_repository

FILES = {
    "feedbox/dates.py": 'def parse_date(text):\n    """Read a date."""\n    if "+" not in text:\n'
    '        raise ValueError("no zone")\n    return text\n',
    "feedbox/store.py": "def save(article):\n    # @octocat: <b>see</b> https://evil.example #12\n    return article\n",
}
BASE = "https://github.example/octo/feedbox"
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OURS = re.compile(
    r"</?(p|strong|em|code|pre|ul|ol|li|table|thead|tbody|tr|th|td|blockquote|details|summary|sub|br)"
    r'(?: class="language-\w+")?(?: start="\d+")?(?: /)?>'
    rf'|<a href="{re.escape(BASE)}/(?:blob|commit|issues)/[^"]+">|</a>'
    r"|<!-- triage:report v1 issue=1 run=1 -->"
)
SECONDS = 10.0
"""Processor seconds of one triage."""
"""Processor seconds for one text, with a wide margin; quadratic code takes minutes on these."""
THIN = ("It fails", "It does not work.")
BENIGN = "parse_date fails with ValueError: no zone"


@dataclass
class Ran:
    """Everything that left the program."""

    texts: list[str]
    paths: set[str]
    labels: frozenset[str]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("feedbox")
    make_repository(folder, FILES)
    return Engine(folder, None)


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def models(server: ModelServer) -> AsyncIterator[Models]:
    shared = Models(
        ModelSettings(base_url=server.url, api_key="k", max_retries=0, calls_per_minute=10**6, limits=RunLimits())
    )
    yield shared
    await shared.aclose()


@pytest.fixture(scope="module")
def graph() -> Graph:
    return build_graph(InMemorySaver(serde=serializer()))


@pytest.mark.tried("hostile issues and comments through a whole triage, by rules and by a model that obeys them")
@pytest.mark.parametrize("brain", ["rules", "model"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
@pytest.mark.asyncio(loop_scope="module")
async def test_nothing_of_it_acts(
    case: Hostile, brain: str, engine: Engine, server: ModelServer, models: Models, graph: Graph
) -> None:
    server.script, server.requests[:] = obedient(case), []
    began = time.process_time()
    ran = await _triage(case, LLMBrain(models) if brain == "model" else RulesBrain(), engine, graph)
    took = time.process_time() - began
    assert took < SECONDS or took < budget(SECONDS)
    assert ran.texts
    for text in ran.texts:
        _assert_dead(text)
    assert ran.paths <= set(FILES)
    assert ran.labels <= {"bug", "enhancement", "question", "documentation"}
    for secret in (TOKEN, LONG_TOKEN, CLOUD_KEY, "MIIEow9kQz"):
        assert not any(secret[:24] in text for text in (*ran.texts, str(server.requests)))


FROM_A_TOOL = [case for case in CASES if not case.is_comment][::4]


@pytest.mark.tried("hostile issues and comments through a whole triage, by rules and by a model that obeys them")
@pytest.mark.parametrize("case", FROM_A_TOOL, ids=[case.name for case in FROM_A_TOOL])
@pytest.mark.asyncio(loop_scope="module")
async def test_no_hostile_text_of_a_tool_has_an_effect(
    case: Hostile, engine: Engine, server: ModelServer, models: Models, graph: Graph
) -> None:
    server.script, server.requests[:] = obedient(case), []
    page = Received(_wire(case.body), title=_wire(case.title), url="https://evil.example/@everyone")
    tool = FakeWeb(as_evidence([page], "document", "docs", 5), name="docs")
    context = _context(BENIGN, "parse_date fails.", LLMBrain(models), engine, ExternalSources(None, {"docs": tool}))
    ran = await _to_the_end(case, context, graph, "from-a-tool")
    assert tool.queries
    for text in ran.texts:
        _assert_dead(text)
    assert ran.paths <= set(FILES)
    for secret in (TOKEN, LONG_TOKEN, CLOUD_KEY, "MIIEow9kQz"):
        assert not any(secret[:24] in text for text in (*ran.texts, str(server.requests)))


@pytest.mark.tried("hostile comments read for commands and answers")
@pytest.mark.parametrize("case", [c for c in CASES if c.is_comment], ids=[c.name for c in CASES if c.is_comment])
def test_only_the_expected_commands_and_answers_are_parsed(case: Hostile) -> None:
    assert [command.canonical for command in parse(case.body)] == list(case.commands)
    if not case.answers:
        assert _answer(case) is None


def test_the_corpus_is_as_large_as_the_readme_says() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert len({case.name for case in CASES}) == len(CASES) >= 60
    assert f"{2 * len(CASES)} of {2 * len(CASES)}" in readme


async def _triage(case: Hostile, brain: Brain, engine: Engine, graph: Graph) -> Ran:
    title, body = THIN if case.is_comment else (_wire(case.title), _wire(case.body))
    if holds_token(f"{title}\n{body}"):
        return Ran([fixed_comment(LEAKED, _thread())], set(), frozenset())
    return await _to_the_end(case, _context(title, body, brain, engine), graph)


def _context(title: str, body: str, brain: Brain, engine: Engine, outside: ExternalSources | None = None) -> Context:
    return Context(
        title=title,
        body=body,
        code=EngineCode(engine, engine.commit("HEAD")),
        evidence=FakeEvidence(),
        brain=brain,
        rules=RulesBrain(),
        signals=FakeSignals(),
        renderer=MarkdownRenderer(server_url="https://github.example", repository="octo/feedbox"),
        facts=read_facts(title, body),
        outside=outside or ExternalSources(),
    )


async def _to_the_end(case: Hostile, context: Context, graph: Graph, how: str = "") -> Ran:
    thread = f"{case.name}:{context.brain.name}{how}"
    start = initial_state(
        context.title, context.body, repository="octo/feedbox", sha=context.code.sha, outside=context.outside
    )
    start = start.model_copy(update={"max_retries": 0})  # a retry sends the same texts again
    texts: list[str] = []
    questions: list[AskedQuestion] = []
    outcome = await advance(graph, context, thread, start)
    while isinstance(outcome, Waiting):
        question = _asked(outcome.exchange, len(questions) + 1)
        texts.append(waiting_comment(outcome.state, _thread(*questions, question)))
        answer = _answer(case) if case.is_comment else BENIGN
        state: Any = "answered" if answer else "withdrawn"
        settled = {"state": state, "answer": answer, "answer_url": f"{BASE}/issues/1#issuecomment-5"}
        questions.append(_asked(outcome.exchange, question.slot, **settled))
        given = Answer(text=answer, answered_by="rita")
        outcome = await advance(graph, context, thread, start, answer=given, question_id=outcome.exchange.question_id)
    report = outcome.state.report
    assert report is not None
    result = build_result(outcome.state)
    gathered = result.numbered(await context.evidence.get(result.evidence))
    account = Account(1, context.code.sha, report.written_by, "", result, gathered)
    texts += [report_comment(report, _thread(*questions)), f"{_thread().marker}\n\n{render_markdown(account)}"]
    paths = {suspect.path for suspect in report.suspects}
    labels = wanted_labels(Finished(outcome.state), RepositoryConfig())
    return Ran(texts, paths, labels)


def _asked(exchange: HumanExchange, slot: int, **given: Any) -> AskedQuestion:
    return AskedQuestion(
        slot=slot,
        question_id=exchange.question_id,
        text=exchange.question,
        reason=exchange.reason,
        options=exchange.options,
        asked_at="",
        **given,
    )


def _answer(case: Hostile) -> str | None:
    comment = Comment(5, 1, "rita", author_is_bot=False, body=_wire(case.body), url="", created_at="", updated_at="")
    question = AskedQuestion(1, "q", "Does it fail when exporting?", "", ("Yes", "No"), "")
    return answer_in(comment, question, by_reporter=True)


def _wire(text: str) -> str:
    """Return the text as the client forwards it: without lone surrogates, at GitHub's maximum length."""
    return text.encode("utf-8", "replace").decode()[:131_072]


def _thread(*questions: AskedQuestion) -> Thread:
    return Thread(1, 1, "https://github.example", "octo/feedbox", "rita", questions)


_OUR_LINE = re.compile(r"^https://github\.example/octo/feedbox/blob/[0-9a-f]{40}/[\w%./-]+#L\d+-L\d+$", re.MULTILINE)
"""A bare permalink on a line of its own, the only such line in a comment."""


def _assert_dead(text: str) -> None:
    assert text.startswith(REPORT_MARKER)
    assert text.count("<!--") == 1
    assert len(text) <= MAX_COMMENT
    # A model's explanation may be longer than a comment by rules, whose limit tests/report/test_comment.py has.
    explained = "Not confirmed" in text
    most = QUESTION_WORDS if "**Q1**" in text else EXPLAINED_WORDS if explained else VISIBLE_WORDS
    assert visible_words(text) <= most
    assert not re.search(r"^\s*/\w", text, re.MULTILINE)
    assert not re.search("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f\x00-\x08\x0b-\x1f]", text)
    html = MARKDOWN.render(text)
    shown = re.sub(r"<(code|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert {tag for tag in re.findall(r"<[^>]*>", shown) if not OURS.fullmatch(tag)} == set()
    plain = _OUR_LINE.sub("", re.sub(r"<[^>]*>", "", shown))
    assert not re.search(r"#\d|\bGH-\d|\bhttps?://|\bwww\.", plain, re.IGNORECASE), plain
    assert set(re.findall(r"@(\w+)", plain)) <= {"rita"}
    assert plain.count("@rita") <= 1
    for address in re.findall(r'href="([^"]+)"', html):
        assert urlsplit(address).netloc == "github.example"
