"""The whole answer of a run whose specialists worked beside each other, against a golden file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.code import EngineCode
from nodes.brains.rules import RulesBrain
from nodes.context import Context, ExternalSources
from nodes.evidence import Evidence, Locator
from nodes.graph import build_graph
from nodes.issue.facts import read_facts
from nodes.run import Finished, advance, initial_state
from nodes.search.engine import Engine
from nodes.state import BugTriageState
from nodes.state.checkpoints import serializer
from tests.fakes import FakeEvidence, FakeSignals, FakeWeb
from tests.repositories import make_repository

GOLDEN = Path(__file__).with_name("golden") / "joined.json"
TITLE = "parse_date drops the zone"
BODY = (
    "According to our time handbook, parse_date must keep it, but `ValueError: no zone in date` is raised for 07:00-07."
)
FILES = {
    "feedbox/dates.py": 'def parse_date(text):\n    """Read a date."""\n    if "+" not in text:\n'
    '        raise ValueError("no zone in date")\n    return text\n',
    "feedbox/store.py": "def save(article):\n    return article\n",
}


def page(number: int, text: str) -> Evidence:
    where = Locator(url=f"https://docs.example.org/{number}")
    return Evidence(kind="document", locator=where, quote=text, score=0.4, reasons=("from handbook",))


async def triage(folder: Path) -> BugTriageState:
    make_repository(folder, FILES)
    engine = Engine(folder, None)
    pages = (page(1, "Zones of dates are kept."), page(2, "A date without a zone is refused."))
    tools = {
        "handbook": FakeWeb(pages, name="handbook", description="the time handbook", keywords=("handbook",)),
        "tickets": FakeWeb((pages[0],), name="tickets", description="old tickets", keywords=("according to",)),
    }
    rules = RulesBrain()
    ctx = Context(
        title=TITLE,
        body=BODY,
        code=EngineCode(engine, engine.commit("HEAD")),
        evidence=FakeEvidence(),
        brain=rules,
        rules=rules,
        signals=FakeSignals(),
        renderer=MarkdownRenderer(server_url="https://github.example", repository="octo/feedbox"),
        facts=read_facts(TITLE, BODY),
        outside=ExternalSources(None, tools),
    )
    start = initial_state(TITLE, BODY, repository="octo/feedbox", sha=ctx.code.sha, outside=ctx.outside)
    outcome = await advance(build_graph(InMemorySaver(serde=serializer())), ctx, "t", start)
    assert isinstance(outcome, Finished)
    return outcome.state


def answer_of(state: BugTriageState) -> dict[str, Any]:
    """What people get of the run, without times and without the commit, which differs by the clock."""
    report = state.report
    assert report is not None
    document = json.loads(
        json.dumps(
            {
                "comment": report.github_comment.splitlines(),
                "confidence": report.confidence,
                "suspects": [f"{one.path}:{one.start_line}" for one in report.suspects],
                "outside": [source.model_dump() for source in report.outside],
                "joined": [one.model_dump() for one in state.findings if one.agent_name == "join"],
                "route": [
                    [entry.node, entry.decision, entry.confidence, entry.counts, entry.scores] for entry in state.trace
                ],
            }
        ).replace(state.sha, "SHA")
    )
    assert isinstance(document, dict)
    return document


async def test_the_answer_of_a_joined_run_is_the_golden_one(tmp_path: Path, request: Any) -> None:
    document = answer_of(await triage(tmp_path / "feedbox"))
    if request.config.getoption("--rewrite-ranking"):
        GOLDEN.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert document == json.loads(GOLDEN.read_text(encoding="utf-8"))
    (joined,) = document["joined"]
    assert joined["summary"].startswith("Together: handbook 50%, tickets 50%, codebase_search ")
    assert len(document["outside"]) == 2  # one of the three pages was found twice
