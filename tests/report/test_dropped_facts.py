"""A report without facts that no longer hold."""

from __future__ import annotations

from nodes.agents.writing.statement import without_facts
from nodes.report import Suspect, TriageReport
from nodes.search.facts import Fact

LEAD = Fact("built_here", "`scan` builds the message.", "the order", "a.py", 3, "raise E", "scan", strong=True)
OTHER = Fact("guarded_by", "It runs only under this condition.", None, "a.py", 2, "if x:", "scan", follows=("a.py", 3))
PLACE = Suspect(
    path="a.py", start_line=1, end_line=4, quote="raise E", quote_start=3, quote_end=3, facts=(0, 1), why=LEAD.says
)
REPORT = TriageReport(
    verdict=LEAD.says,
    kind="bug",
    statement="claim",
    root_cause=f"{LEAD.says} The fix is probably in `a.py`.",
    suspects=(PLACE,),
    facts=(LEAD, OTHER),
    headline=0,
    how_to_confirm="Break at a.py:3.",
)


def test_without_its_leading_fact_a_report_claims_nothing() -> None:
    plain = without_facts(REPORT, {0})
    assert (plain.root_cause, plain.headline, plain.statement, plain.how_to_confirm) == (None, None, "ranked", "")
    assert (plain.facts, plain.suspects[0].facts, plain.suspects[0].why) == ((OTHER,), (0,), "")
    assert LEAD.says not in plain.model_dump_json()


def test_without_another_fact_the_claim_stays_and_the_numbers_are_right() -> None:
    report = REPORT.model_copy(update={"facts": (OTHER, LEAD), "headline": 1})
    plain = without_facts(report, {0})
    assert (plain.facts, plain.headline, plain.suspects[0].facts) == ((LEAD,), 0, (0,))
    assert plain.root_cause == REPORT.root_cause


def test_a_report_with_valid_facts_is_unchanged() -> None:
    assert without_facts(REPORT, frozenset()) is REPORT
