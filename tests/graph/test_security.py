"""A security report names no place in public, whatever a model writes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.comment.sticky import report_comment
from bot.report.document import build_result
from bot.report.explain import Account, render_markdown
from bot.settings.repository import read_config
from bot.worker.publish.wanted import wanted_labels
from nodes.agents.writing.compose import safe_kind
from nodes.graph import build_graph
from nodes.run import advance, initial_state
from nodes.state import BugTriageState, Finished
from nodes.state import Finished as Outcome
from nodes.state.checkpoints import serializer
from tests.kinds.weaknesses import SECURITY
from tests.report.test_sticky import THREAD
from tests.support.cases import case
from tests.support.fakes import SHA, FakeWeb, ScriptedBrain, context, decide

PLAIN = [decide("codebase_search"), decide("critic"), decide("writer")]
PLACES = ("lexer", "reader", "src/", "scan", "read(", "loop")
"""Statements of the scripted model and the search about the code."""


async def triaged(brain: ScriptedBrain, title: str, body: str, **ports: object) -> BugTriageState:
    ctx = replace(context(brain, **ports), title=title, body=body, renderer=MarkdownRenderer())
    start = initial_state(title, body, repository="o/r", sha=SHA)
    app = build_graph(InMemorySaver(serde=serializer()))
    outcome = await advance(app, ctx, "t", start)
    assert isinstance(outcome, Finished), "a question in public may name a place"
    return outcome.state


def published(state: BugTriageState) -> list[str]:
    assert state.report is not None
    config = read_config("labels:\n  allowed: ['*']\n")
    account = Account(1, SHA, "model", "", build_result(state), ())
    report = state.report
    return [
        report_comment(report, THREAD),
        report.github_comment,
        f"{report.ticket.title} {report.ticket.body} {report.ticket.fields}",
        render_markdown(account),
        *wanted_labels(Outcome(state), config),
        report.model_dump_json(exclude={"github_comment", "ticket", "repository"}),
    ]


@pytest.mark.parametrize(("title", "body"), SECURITY[::8], ids=[title for title, _ in SECURITY[::8]])
async def test_a_model_that_classifies_it_as_a_bug_names_no_place(title: str, body: str) -> None:
    state = await triaged(ScriptedBrain(list(PLAIN)), title, body)
    assert state.report is not None
    assert state.report.kind == "security"
    assert not state.report.suspects
    for text in published(state):
        assert not [place for place in PLACES if place in text], text


async def test_a_security_report_causes_no_question_and_no_outside_query() -> None:
    brain = ScriptedBrain([decide("human_input", question="Is it in `src/lexer.py`?"), decide("web_search"), *PLAIN])
    state = await triaged(brain, "XSS in comment preview", "The preview renders it.", web=FakeWeb())
    assert not [entry for entry in state.trace if entry.node in ("web_search", "human_input")]


async def test_a_failing_writer_names_no_place() -> None:
    def broken(role: str) -> None:
        if role == "writer":
            raise RuntimeError("src/lexer.py")

    state = await triaged(ScriptedBrain(list(PLAIN), before=broken), "XSS in comment preview", "It is rendered.")
    for text in published(state):
        assert not [place for place in PLACES if place in text], text


@pytest.mark.parametrize("ran", ["", "investigator"])
def test_the_current_rules_classify_the_text_again_when_the_report_is_written(ran: str) -> None:
    """The run may have been classified by an older release, or not at all."""
    title, body = SECURITY[0]
    assert safe_kind("bug", case(title, body, ran=ran)) == "security"
    assert safe_kind("bug", case("The table is cut off", "It shows three of four rows.", ran=ran)) == "bug"


async def test_an_ordinary_bug_is_reported_as_before() -> None:
    state = await triaged(ScriptedBrain(list(PLAIN)), "scan hangs", "open quote")
    assert state.report is not None
    assert state.report.suspects
    assert "src/lexer.py" in report_comment(state.report, THREAD)
