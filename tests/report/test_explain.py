"""The explanation of a report: complete, limited in length, and without active foreign text."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from bot.report.document import Result
from bot.report.explain import MAX_ACCOUNT, Account, render_markdown
from bot.report.terminal import render_terminal
from nodes.evidence import Evidence, Locator, NumberedEvidence
from nodes.report import CitationAudit, Evaluation, Ticket
from nodes.state import HumanExchange, Metrics, RetryReason, TraceEntry, Usage
from tests.report.reports import FOUND

FOLDS = (
    "Path through the graph",
    "Guards that fired",
    "Evidence",
    "Claims dropped in checking",
    "Evaluation",
    "Retries, and why",
    "Model, lookups and cost",
    "Questions",
    "Ticket draft",
)


def account(text: str = "x", times: int = 1, **report: object) -> Account:
    """Return a run with every kind of event, some of them many times."""
    trace = TraceEntry(
        node="supervisor",
        decision="writer",
        confidence=0.7,
        reason=text[:300],
        guard="something_new",
        looks=(text[:120],),
        judged_by="gpt-x",
        error=text[:300],
    )
    retry = RetryReason(
        iteration=3, confidence=0.4, reason="quality_issue_detected", citation_issue=True, hallucination=True
    )
    audit = CitationAudit(
        citations=4, fabricated=("E99",), failed=("E2",), dropped=(f"no evidence cited: {text}"[:300],) * times
    )
    made = FOUND.model_copy(
        update={
            "citation_audit": audit,
            "evaluation": Evaluation(faithfulness=0.5, overall_score=0.61),
            "ticket": Ticket(title=text[:300], body=text[:3_000], fields={"type": "bug"}),
            **report,
        }
    )
    metrics = Metrics(
        confidence_history=(0.4, 0.7),
        retry_reasons=(retry,),
        usage=Usage(calls=5, input_tokens=1_200, output_tokens=34),
        claims_dropped=3,
        fallbacks=(text[:300],),
    )
    exchange = HumanExchange(question=text[:300], answer=text[:1_000], question_id="q")
    result = Result(report=made, trace=(trace,) * times, metrics=metrics, questions=(exchange,) * times)
    item = Evidence(
        kind="code", locator=Locator(path=text, start_line=1, end_line=2), quote=text[:1_000], reasons=(text,)
    )
    gathered = tuple(NumberedEvidence(id=f"E{number}", evidence=item) for number in range(1, times + 1))
    return Account(7, "c" * 40, "gpt-x", "c0ffee", result, gathered)


def test_every_part_of_the_path_is_shown() -> None:
    text = render_markdown(account())
    assert tuple(re.findall("<summary>(.*?)</summary>", text)) == FOLDS
    for part in (
        "Run 7",
        "`cccccccccccc`",
        "`gpt-x`",
        "5 model calls, 1234 tokens",
        "`c0ffee`",
        "40% → 70%",
        "Claims dropped: 3",
        "`something_new`: A third code search or another call of the critic needs new",
        "cites evidence that was not gathered: `E99`",
        "no longer matches its quote: `E2`",
        "| Overall, after clamping |  | 0.61 |",
        "| 3 | quality too low, a citation failed, fabricated evidence | 40% |",
        "Looked up: x",
        "Rules judged instead: x",
        "Tokens in: 1 200 tokens",
        "| E1 | code | `x:1-2` |",
    ):
        assert part in text, part


def test_skipped_parts_are_stated() -> None:
    text = render_markdown(Account(1, "c" * 40, "rules", "", Result(report=FOUND)))
    assert "None: no rule overruled a decision." in text
    assert "None: the first draft was accepted." in text
    assert "no model" in text


def test_a_security_report_explains_its_path_and_omits_its_content() -> None:
    text = render_markdown(account("the hole", kind="security"))
    assert "the hole" not in text.replace("Rules judged instead: the hole", "")
    assert "<summary>Path through the graph</summary>" in text


@pytest.mark.parametrize("text", ["| `x` @all " * 60, "<b>" * 300, "\n```\n</details>" * 60, "é" * 900])
def test_an_explanation_fits_into_a_comment_and_closes_every_fold(text: str) -> None:
    rendered = render_markdown(account(text, times=400))
    assert len(rendered) <= MAX_ACCOUNT
    assert "more" in rendered
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(rendered)
    acts = re.sub(r"<(code|pre)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert acts.count("<details>") == acts.count("</details>") > 5
    assert "<b>" not in acts
    assert "@all" not in acts


def test_a_terminal_shows_the_sections_opened() -> None:
    text = render_terminal(render_markdown(account()))
    assert "details>" not in text
    assert all(name in text for name in FOLDS)
