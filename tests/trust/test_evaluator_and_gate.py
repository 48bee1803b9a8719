"""The scorecard's clamps and the gate's order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.agents.writing.acceptance import WEIGHTS, Signals, clamp, gate
from nodes.report import CitationAudit, Evaluation

PRAISE = Evaluation(faithfulness=1, relevance=1, completeness=1, reasoning_quality=1, overall_score=1)


def test_the_weights_are_those_of_the_specification_and_sum_to_one() -> None:
    assert list(WEIGHTS.values()) == [0.35, 0.25, 0.25, 0.15]
    assert sum(WEIGHTS.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("audit", "faithfulness"),
    [
        pytest.param(CitationAudit(), 1.0, id="clean"),
        pytest.param(CitationAudit(fabricated=("E9",)), 0.40, id="fabricated"),
        pytest.param(CitationAudit(failed=("E1",)), 0.40, id="failed"),
        pytest.param(CitationAudit(uncited_claims=4), 1.0, id="four-uncited"),
        pytest.param(CitationAudit(uncited_claims=5), 0.50, id="five-uncited"),
        pytest.param(CitationAudit(uncited_claims=10), 0.30, id="ten-uncited"),
        pytest.param(CitationAudit(uncited_claims=5, fabricated=("E9",)), 0.40, id="the-lowest-wins"),
    ],
)
def test_clamps_apply_to_every_score(audit: CitationAudit, faithfulness: float) -> None:
    clamped = clamp(PRAISE, audit)
    assert clamped.faithfulness == faithfulness
    assert clamped.overall_score == pytest.approx(0.35 * faithfulness + 0.65, abs=1e-3)


scores = st.floats(0, 1)


@given(scores, scores, scores, scores, st.integers(0, 30), st.booleans())
def test_the_overall_score_is_the_weighted_mean_of_the_clamped_scores(
    a: float, b: float, c: float, d: float, uncited: int, fabricated: bool
) -> None:
    audit = CitationAudit(uncited_claims=uncited, fabricated=("E9",) if fabricated else ())
    result = clamp(Evaluation(faithfulness=a, relevance=b, completeness=c, reasoning_quality=d), audit)
    assert result.faithfulness <= a
    assert result.overall_score == round(0.35 * result.faithfulness + 0.25 * b + 0.25 * c + 0.15 * d, 3)


@pytest.mark.parametrize(
    ("signals", "retries", "most", "outcome", "says"),
    [
        pytest.param({"confidence": 0.65}, 0, 2, "accept", "", id="at-the-threshold"),
        pytest.param({"confidence": 0.64}, 0, 2, "retry", "", id="low"),
        pytest.param({"confidence": 0.64}, 2, 2, "review", "64%", id="still-low"),
        pytest.param({"confidence": 0.9, "citation_issue": True}, 0, 2, "retry", "", id="citation"),
        pytest.param({"confidence": 0.9, "critic_retry": True}, 1, 2, "retry", "", id="critic"),
        pytest.param({"confidence": 0.9, "conflict": True}, 2, 2, "review", "different directions", id="conflict"),
        pytest.param({"confidence": 0.0, "nothing_found": True}, 0, 2, "review", "Nothing in", id="nothing-at-once"),
        pytest.param({"confidence": 0.0, "all_filtered": True}, 0, 2, "retry", "", id="filtered-once"),
        pytest.param({"confidence": 0.0, "all_filtered": True}, 1, 2, "review", "strongly enough", id="filtered-twice"),
        pytest.param({"confidence": 0.0, "all_filtered": True}, 0, 0, "review", "strongly enough", id="no-retries"),
        pytest.param({"confidence": 0.1}, 0, 0, "review", "10%", id="zero-means-no-retry"),
    ],
)
def test_gate(signals: dict[str, Any], retries: int, most: int, outcome: str, says: str) -> None:
    verdict = gate(Signals(**signals), retry_count=retries, max_retries=most)
    assert verdict.outcome == outcome
    assert says in verdict.message


def test_a_conflict_alone_is_the_reason_for_rejection() -> None:
    assert gate(Signals(0.9, conflict=True), retry_count=0, max_retries=2).cause == (
        "conflicting_evidence_attempting_resolution"
    )
    assert gate(Signals(0.1, conflict=True), retry_count=0, max_retries=2).cause == "quality_issue_detected"
