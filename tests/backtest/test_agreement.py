"""The table of agreement is fitted to a backtest with a model, stored, and used by later runs with that model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.models import Scripted
from bot.cli.backtest.command import LEAST, fit, reading, store
from nodes.context.agreement import Opinions, load_fitted, load_table, support_of
from tests.cli.process import triage
from tests.servers.model_server import serve
from tests.support.repositories import add_entry, git

OTHER = Opinions(0.4, 0.96, agree=False, read=True, explained=True, approved=True)


def readings(rights: Sequence[bool]) -> list[tuple[Opinions, bool]]:
    """Return one reading for each outcome."""
    return [(OTHER, right) for right in rights]


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
    assert reading({**OTHER.numbers(), "approved": 1.0}) == OTHER
    assert reading(replace(OTHER, read=False).numbers()) is None
    assert reading(None) is None


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
    whole = load_table().model_copy(update={"model": "m", "cases": 30})
    file = tmp_path / "agreement.json"
    file.write_text(whole.model_dump_json())
    assert load_fitted(file, "m") == whole
    file.write_text(json.dumps({**whole.model_dump(mode="json"), **damage}))
    assert load_fitted(file, "m") is None


NAMES = [
    f"{a}_{b}" for a in ("load", "save", "parse", "merge", "sort") for b in ("feed", "entry", "author", "image", "tag")
]


def body(name: str, end: str) -> str:
    """Return a function of which several lines name several things."""
    return (
        f"def {name}(value, other):\n"
        f"    limit, offset = value.{name}, other.offset\n"
        f"    buffer = other.buffer[limit:offset]\n"
        f"    {name}_cache[limit] = buffer.{end}\n"
        f"    return {name}_cache[limit] + offset\n"
    )


def story(path: Path) -> None:
    """Commit one fix for each of the functions, which all have files of their own."""
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    files = {f"feed/{name}.py": body(name, "first") for name in NAMES}
    for number, name in enumerate(("", *NAMES)):
        changed = {f"feed/{name}.py": body(name, "second")} if name else files
        for file, content in changed.items():
            add_entry(path, file, content)
        git(path, "commit", "--quiet", "--message", f"Fixes #{number}." if number else "Begin")


def test_a_backtest_fits_the_table_to_a_model_that_is_always_wrong(tmp_path: Path) -> None:
    """The scripted model never prefers every second file, and is wrong where one of these was fixed."""
    story(tmp_path / "feed")
    rows = [
        {"number": number, "title": f"Wrong result of {name.replace('_', ' ')}", "body": "It returns a wrong value."}
        for number, name in enumerate(NAMES, 1)
    ]
    (tmp_path / "i.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    fixed = frozenset(f"feed/{name}.py" for name in NAMES[::2])
    with serve() as server:
        server.script = Scripted("partisan", fixed)
        arguments = ("backtest", "--repo", "feed", "--issues", "i.jsonl", "--brain", "llm", "--limit", "25")
        network = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "k", "TRIAGE_MODEL_CALLS_PER_MINUTE": "100000"}
        done = triage(tmp_path, *arguments, TRIAGE_DATA_DIR=str(tmp_path / "data"), **network)
    assert done.returncode == 0, done.stderr
    file = tmp_path / "data" / "agreement.json"
    assert f"the table of agreement is stored in {file}" in done.stderr
    table = load_fitted(file, "gpt-4o")
    assert table is not None
    assert table.cases >= LEAST
    shipped = load_table()
    # The other files are right where they were fixed; there it agrees with the search.
    lower = [
        (new, old)
        for row, before in zip(table.disagree.values(), shipped.disagree.values(), strict=True)
        for new, old in zip(row, before, strict=True)
        if new != old
    ]
    assert lower
    assert all(new < old for new, old in lower)
