"""The figures of a backtest: bounds, the threshold and the drawings."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.backtest.plot import draw
from bot.cli.backtest.run import Found
from bot.cli.backtest.score import LEAST, Scored, curve, fifths, hits, recommend
from bot.cli.backtest.summary import Parameters, as_text

PAIRS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=60)


def scored(ranked: tuple[str, ...], gold: tuple[str, ...] = ("a",), confidence: float = 0.5) -> Scored:
    return Scored(1, "f", "b", "t", "bug", confidence, claims=False, gold=gold, ranked=ranked, seconds=0.1)


def test_a_hit_is_any_fixed_file_among_the_first() -> None:
    cases = [scored(("a", "b")), scored(("x", "y", "a")), scored(("x",)), scored(())]
    assert hits([case.rank for case in cases]) == {1: 0.25, 3: 0.5, 5: 0.5, 10: 0.5}
    assert hits([]) == {1: 0.0, 3: 0.0, 5: 0.0, 10: 0.0}


def test_a_stored_case_is_read_unchanged() -> None:
    case = scored(("x", "a"))
    assert Scored.load(case.document()) == case
    assert case.rank == 2


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


@given(PAIRS)
def test_the_plot_is_a_complete_document(pairs: list[tuple[float, bool]]) -> None:
    picture = draw(pairs, recommend(pairs, 0.8), "a<b>&c")
    root = ET.fromstring(picture)
    assert root.tag.endswith("svg")
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize(
    ("confidence", "says"),
    [
        pytest.param(0.9, "claim_from: 0.9}", id="to-be-set"),
        pytest.param(0.5, "no setting is needed", id="as-it-comes"),
    ],
)
def test_the_table_explains_how_to_set_the_threshold(confidence: float, says: str) -> None:
    cases = [scored(("a",), confidence=confidence)] * LEAST + [scored(("x",), confidence=0.1)] * LEAST
    about = Parameters("feed", "c" * 40, "from i.jsonl", "rules", 0.8, 1.0)
    assert says in as_text(Found(cases), about)
    assert says not in as_text(Found(cases[:3]), about)
