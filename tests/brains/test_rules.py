"""The judgements without a model."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.brains.rules.decide import decide
from nodes.brains.rules.kind import kind_of, severity_of
from nodes.brains.rules.write import write
from nodes.context import Case
from nodes.evidence import Evidence, Locator, NumberedEvidence
from nodes.facts import read_facts
from nodes.report import Kind
from nodes.state import AgentFinding, BugTriageState, HumanExchange, Marks, Progress, TraceEntry
from nodes.tier import tier_of

TRACE = 'Traceback (most recent call last):\n  File "app/parser.py", line 2, in parse\n    x\nKeyError: 1\n'
SAID = "Orders are wrong"


@pytest.mark.parametrize(
    ("title", "body", "kind"),
    [
        pytest.param("KeyError in parse()", TRACE, "bug", id="trace"),
        pytest.param("Crash when saving", "It crashes every time.", "bug", id="crash"),
        pytest.param("Wrong total", "Expected 3 but got 4", "bug", id="wrong-result"),
        pytest.param("It broke", "", "bug", id="nothing-said"),
        pytest.param("Feature request: dark mode", "It would be nice to have one.", "feature", id="feature"),
        pytest.param("Please add support for TOML", "It would be great.", "feature", id="please-add"),
        pytest.param("How do I configure the cache?", "I am wondering which file to edit.", "question", id="question"),
        pytest.param("Typo in the documentation", "The README says teh.", "docs", id="docs"),
        pytest.param("Remote code execution through the importer", "A vulnerability.", "security", id="security"),
        pytest.param("Feature request: handle empty input", f"It crashes.\n{TRACE}", "bug", id="trace-in-a-request"),
    ],
)
def test_kinds(title: str, body: str, kind: Kind) -> None:
    assert kind_of(title, body, read_facts(title, body)) == kind


@pytest.mark.parametrize(
    ("title", "body", "kind", "severity"),
    [
        pytest.param("Data loss on save", "", "bug", "high", id="data-loss"),
        pytest.param("It hangs", "", "bug", "high", id="hang"),
        pytest.param("Segfault on start", "", "bug", "high", id="crash"),
        pytest.param("parse fails", TRACE, "bug", "medium", id="trace"),
        pytest.param("Typo in the title bar", "", "bug", "low", id="typo"),
        pytest.param("Add dark mode", "", "feature", "unknown", id="feature"),
        pytest.param("How to?", "", "question", "unknown", id="question"),
    ],
)
def test_severities(title: str, body: str, kind: Kind, severity: str) -> None:
    found, reason = severity_of(title, body, read_facts(title, body), kind)
    assert found == severity
    assert bool(reason) == (severity != "unknown")


@pytest.mark.parametrize(
    ("kind", "title", "body", "tier"),
    [
        pytest.param("feature", "Add dark mode", "", "simple", id="feature"),
        pytest.param("question", "How to?", "", "simple", id="question"),
        pytest.param("bug", "parse fails", TRACE, "medium", id="one-trace"),
        pytest.param("bug", "", "", "simple", id="nothing-to-search-by"),
        pytest.param("bug", "It is slow", "very slow indeed " * 250, "complex", id="long-and-no-trace"),
    ],
)
def test_tiers(kind: Kind, title: str, body: str, tier: str) -> None:
    assert tier_of(kind, read_facts(title, body)).tier == tier


def place(number: int, path: str, symbol: str, score: float) -> NumberedEvidence:
    where = Locator(path=path, start_line=1, end_line=2, sha="s")
    evidence = Evidence(
        kind="code",
        locator=where,
        symbol=symbol,
        quote=f"def {symbol}():\n    pass",
        score=score,
        reasons=(f"the report names `{symbol}`", "holds a message that the text quotes"),
    )
    return NumberedEvidence(id=f"E{number}", evidence=evidence)


ONE = (place(1, "app/exporter.py", "export_orders", 1.0),)
TWO = (*ONE, place(2, "app/importer.py", "import_orders", 0.99))
HERE = Progress(evidence=2)


def case(
    *ran: str,
    title: str = SAID,
    body: str = "",
    found: tuple[NumberedEvidence, ...] = (),
    sure: float = 0.0,
    **state: Any,
) -> Case:
    keys = tuple(item.evidence.key for item in found)
    searched = "codebase_search" in ran
    given: dict[str, Any] = {
        "issue_title": title,
        "trace": tuple(TraceEntry(node=node) for node in ran),
        "evidence": keys,
        "findings": (AgentFinding(agent_name="codebase_search", evidence=keys, confidence=sure),) if searched else (),
        "search_confidence": sure,
        "marks": Marks(after_search=Progress(evidence=len(keys)) if searched else None),
    }
    state_ = BugTriageState(**{**given, **state})
    return Case(state_, title, body, read_facts(title, body), found, sure)


READ = ("investigator",)
SEARCHED = ("investigator", "codebase_search")


@pytest.mark.parametrize(
    ("given", "node"),
    [
        pytest.param(case(), "investigator", id="unread"),
        pytest.param(case(*READ), "codebase_search", id="read"),
        pytest.param(case(*READ, title="", tier="simple"), "writer", id="says-nothing"),
        pytest.param(
            case(*READ, tier="simple", redirect_instructions=("look anyway",)),
            "codebase_search",
            id="simple-but-redirected",
        ),
        pytest.param(case(*SEARCHED, body=TRACE, found=ONE, sure=0.9), "critic", id="found"),
        pytest.param(case(*SEARCHED, found=TWO, sure=0.4), "human_input", id="two-equal"),
        pytest.param(case(*SEARCHED, found=TWO, sure=0.9), "critic", id="two-equal-but-sure"),
        pytest.param(case(*SEARCHED, title="It broke", sure=0.1), "human_input", id="thin"),
        pytest.param(case(*SEARCHED, title="It broke", sure=0.1, iterations=7), "writer", id="thin-and-out-of-rounds"),
        pytest.param(
            case(*SEARCHED, found=ONE, sure=0.9, redirect_instructions=("look at the importer",)),
            "codebase_search",
            id="redirected",
        ),
    ],
)
def test_the_next_step(given: Case, node: str) -> None:
    decision = decide(given)
    assert decision.next_node == node
    assert decision.reasoning
    assert bool(decision.question) == (node == "human_input")


def test_a_question_is_never_put_twice() -> None:
    first = decide(case(*SEARCHED, found=TWO, sure=0.4))
    assert first.question is not None
    assert 2 <= len(first.question_options) <= 3
    put = HumanExchange(question=first.question, answer="Both, or I cannot tell")
    then = Marks(after_search=Progress(evidence=2, answers=1))
    again = decide(case(*SEARCHED, found=TWO, sure=0.4, human_exchanges=(put,), marks=then))
    assert again.question != first.question
    spent = (put, put.model_copy(update={"question": "Another?"}))
    marks = Marks(after_search=Progress(evidence=2, answers=2))
    assert decide(case(*SEARCHED, found=TWO, sure=0.4, human_exchanges=spent, marks=marks)).question is None


def test_after_an_unanswered_question_none_follows() -> None:
    put = HumanExchange(question="What happened?", withdrawn=True)
    assert decide(case(*SEARCHED, found=TWO, sure=0.4, human_exchanges=(put,))).next_node != "human_input"


@pytest.mark.parametrize(("sure", "claims"), [(0.0, False), (0.64, False), (0.65, True), (0.95, True)])
def test_a_cause_is_claimed_only_when_it_is_likely(sure: float, claims: bool) -> None:
    draft = write(case(*SEARCHED, title="export_orders is wrong", found=ONE, sure=sure))
    assert bool(draft.root_cause) is claims
    assert [suspect.evidence for suspect in draft.suspects] == ["E1"]
    assert "export_orders" in draft.verdict
    if claims:
        assert all("[E" in sentence for sentence in draft.root_cause.split(". "))


def test_without_a_place_no_cause_and_no_suspect() -> None:
    draft = write(case(*SEARCHED))
    assert (draft.root_cause, draft.suspects, draft.confidence) == ("", (), 0.0)
