"""The adjustment of confidences by a repository's fixes: bounded, monotone and gradual."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.record import ENOUGH, Record, read_record
from tests.report.reports import FOUND

CONFIDENCE = st.floats(0.0, 1.0)
PAIRS = st.lists(st.tuples(CONFIDENCE, st.booleans()), min_size=ENOUGH, max_size=200)


@given(PAIRS, CONFIDENCE, CONFIDENCE)
def test_confidences_stay_within_bounds_and_in_order(pairs: list[tuple[float, bool]], one: float, two: float) -> None:
    record = read_record(pairs)
    assert record is not None
    low, high = sorted((one, two))
    assert 0 <= record.confidence(low) <= record.confidence(high) <= 1


@given(PAIRS)
def test_one_more_right_report_never_lowers_it(pairs: list[tuple[float, bool]]) -> None:
    fewer, more = read_record([(c, False) for c, _ in pairs]), read_record(pairs)
    assert fewer is not None
    assert more is not None
    assert fewer.shift <= more.shift


def test_too_few_outcomes_give_no_record() -> None:
    assert read_record([(0.9, False)] * (ENOUGH - 1)) is None


def test_a_record_that_matches_the_calibration_shifts_nothing() -> None:
    record = read_record([(0.8, n % 5 != 0) for n in range(100)])
    assert record is not None
    assert record.shift == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize(
    ("outcomes", "least", "most"),
    [
        pytest.param(30, 0.60, 0.72, id="a-month"),
        pytest.param(300, 0.50, 0.57, id="a-year"),
    ],
)
def test_a_longer_bad_record_lowers_the_confidence_more(outcomes: int, least: float, most: float) -> None:
    """A confidence of 0.8, right half of the time."""
    record = read_record([(0.8, n % 2 == 0) for n in range(outcomes)])
    assert record is not None
    assert least <= record.confidence(0.8) <= most


def test_words_go_by_the_record_and_the_report_says_so() -> None:
    report = FOUND.model_copy(update={"confidence": 0.9})
    shipped = MarkdownRenderer().comment(report)
    assert "The fix is probably in this file" in shipped
    assert "(high" not in shipped
    assert "90% (shipped calibration)" in shipped
    here = MarkdownRenderer(record=Record(34, 15, -1.5)).comment(report)
    assert "(medium, 67%)" in here
    assert "67% by 34 known fixes of this repository (90% as shipped)" in here
    assert replace(Record(34, 15, -1.5), shift=0.0).confidence(0.0) == 0.0
