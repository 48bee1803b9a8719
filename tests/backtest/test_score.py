"""The figures of a backtest: bounds, the threshold and the table."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.backtest.run import BacktestResult, Judge, PastCase
from bot.cli.backtest.table import as_document, as_text
from bot.runs.promise import LEAST, curve, fifths, recommend

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60)


def scored(ranked: tuple[str, ...], gold: tuple[str, ...] = ("a",), confidence: float = 0.5) -> PastCase:
    return PastCase(
        number=1,
        fix="f",
        base="b",
        title="t",
        kind="bug",
        confidence=confidence,
        claims=False,
        gold=gold,
        ranked=ranked,
        seconds=0.1,
    )


@given(PAIRS)
def test_fifths_contain_every_case_once_in_descending_order(pairs: list[tuple[float, bool]]) -> None:
    parts = fifths(pairs)
    assert sum(part.cases for part in parts) == len(pairs)
    assert sum(part.right for part in parts) == sum(right for _, right in pairs)
    means = [part.mean for part in parts]
    assert all(one >= two - 1e-9 for one, two in pairwise(means))


@given(PAIRS, st.floats(0.05, 1))
def test_the_recommended_threshold_reaches_its_target(pairs: list[tuple[float, bool]], target: float) -> None:
    chosen = recommend(pairs, target)
    if chosen is None:
        return
    above = [right for confidence, right in pairs if confidence >= chosen.confidence]
    assert sum(above) / len(above) == pytest.approx(chosen.precision)
    assert chosen.precision >= target
    assert len(above) == chosen.cases >= LEAST
    lower = [p for p in curve(pairs) if 0 < p.confidence < chosen.confidence]
    assert all(point.precision < target for point in lower)


def test_too_few_cases_give_no_recommendation() -> None:
    assert recommend([(0.9, True)] * (LEAST - 1), 0.8) is None
    assert recommend([(0.9, True)] * LEAST, 0.8) is not None
    assert recommend([(0.0, True)] * LEAST, 0.8) is None


@pytest.mark.parametrize(
    ("confidence", "says"),
    [
        pytest.param(0.9, "claim_from: 0.9}", id="to-be-set"),
        pytest.param(0.5, "no setting is needed", id="as-it-comes"),
    ],
)
def test_the_table_explains_how_to_set_the_threshold(confidence: float, says: str) -> None:
    cases = [scored(("a",), confidence=confidence)] * LEAST + [scored(("x",), confidence=0.1)] * LEAST
    assert says in as_text(found(cases), 0.8)
    assert says not in as_text(found(cases[:3]), 0.8)


def found(*judged: list[PastCase]) -> BacktestResult:
    """Return the results of rules, and of a model."""
    judges = tuple(Judge(name, name, cases=cases) for name, cases in zip(("rules", "m"), judged, strict=False))
    return BacktestResult("feed", "c" * 40, "from i.jsonl", judges, Counter())


def test_a_model_has_a_column_beside_that_of_the_rules() -> None:
    rules = [scored(("a",))] * 3 + [scored(("x", "a"))] * 9
    table = as_text(found(rules, [scored(("x",))] + [scored(("a",))] * 11), 0.8)
    first, three = (table.splitlines()[number].split() for number in (3, 4))
    assert first[-4:] == ["3", "(25%)", "11", "(92%)"]
    assert three[-4:] == ["12", "(100%)", "11", "(92%)"]


def test_claims_are_counted_by_the_fact_that_leads_them() -> None:
    right, wrong = (scored((path,)).model_copy(update={"claims": True, "lead": "raised_here"}) for path in "ax")
    cases = [right, right, wrong, right.model_copy(update={"lead": ""}), right.model_copy(update={"claims": False})]
    table = as_text(found(cases), 0.8)
    assert (
        "  raised_here                           3     67%\n  without a fact                        1    100%" in table
    )
    kinds = as_document(found(cases), 0.8)["claims"]["by_kind"]
    assert kinds == {"raised_here": {"made": 3, "right": 2}, "without a fact": {"made": 1, "right": 1}}
    assert "Claims by" not in as_text(found([scored(("a",))]), 0.8)
