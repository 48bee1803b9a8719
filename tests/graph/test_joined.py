"""The whole answer of a run whose specialists worked in parallel, compared with a golden file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nodes.context.ports import ExternalSources
from nodes.evidence import Evidence, Locator
from nodes.state import BugTriageState
from tests.graph.rules_run import run_by_rules
from tests.support.fakes import FakeWeb

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
    pages = (page(1, "Zones of dates are kept."), page(2, "A date without a zone is refused."))
    tools = {
        "handbook": FakeWeb(pages, name="handbook", description="the time handbook", keywords=("handbook",)),
        "tickets": FakeWeb((pages[0],), name="tickets", description="old tickets", keywords=("according to",)),
    }
    return await run_by_rules(folder, FILES, TITLE, BODY, outside=ExternalSources(None, tools))


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
