"""A table of agreement that was fitted to a model is used by later runs with that model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.agreement import LEAST, Reading, fit, reading, store
from nodes.context.agreement import Opinions, load_fitted, load_table, support_of

OTHER = Opinions(0.4, 0.96, agree=False, read=True, explained=True, approved=True)


def readings(rights: Sequence[bool]) -> list[Reading]:
    """Return one reading for each outcome."""
    return [Reading(OTHER, right) for right in rights]


@pytest.mark.parametrize(
    ("right", "claims"),
    [
        pytest.param(20, True, id="always-right"),
        pytest.param(12, False, id="three-of-five-right"),
        pytest.param(0, False, id="always-wrong"),
    ],
)
def test_measured_values_replace_those_set_by_hand(right: int, claims: bool) -> None:
    fitted = fit(readings([number < right for number in range(20)]), "m")
    assert fitted is not None
    assert (support_of(OTHER, fitted) >= 0.65) == claims
    assert support_of(OTHER, fitted) == pytest.approx((right + 4) / 25, abs=0.01)
    untouched = replace(OTHER, agree=True)
    assert support_of(untouched, fitted) == support_of(untouched)


def test_too_few_readings_fit_no_table() -> None:
    assert fit(readings([True] * (LEAST - 1)), "m") is None


def test_only_a_reading_in_a_conversation_counts() -> None:
    assert reading({**OTHER.numbers(), "approved": 1.0}, right=True) == Reading(OTHER, True)
    assert reading(replace(OTHER, read=False).numbers(), right=True) is None
    assert reading(None, right=True) is None


def test_a_stored_table_applies_only_to_its_model(tmp_path: Path) -> None:
    file = tmp_path / "data" / "agreement.json"
    fitted = fit(readings([False] * LEAST), "m")
    assert fitted is not None
    store(fitted, file)
    assert load_fitted(file, "m") == fitted
    assert load_fitted(file, "another") is None
    assert load_fitted(tmp_path / "none.json", "m") is None


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"search_from": [0]}', "[" * 10_000, "x" * 70_000, "null", '{"search_from": "abc"}'],
)
def test_a_damaged_table_is_ignored(tmp_path: Path, content: str) -> None:
    file = tmp_path / "agreement.json"
    file.write_text(content)
    assert load_fitted(file, "m") is None


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"search_from": [0.0, 0.5]}, id="columns"),
        pytest.param({"search_from": [0.0, 0.9, 0.5]}, id="order"),
        pytest.param({"disagree": {}}, id="rows"),
    ],
)
def test_a_table_of_another_shape_is_ignored(tmp_path: Path, damage: dict[str, object]) -> None:
    whole = replace(load_table(), model="m", cases=30)
    file = tmp_path / "agreement.json"
    file.write_text(json.dumps(whole.document()))
    assert load_fitted(file, "m") == whole
    file.write_text(json.dumps({**whole.document(), **damage}))
    assert load_fitted(file, "m") is None
