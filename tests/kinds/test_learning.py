"""Training is deterministic and learns what holds in other repositories."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.kinds.disclosures import fit_disclosures, terms_of
from benchmarks.kinds.examples import folds, whole_repositories, whole_sources
from benchmarks.kinds.learner import Space, fit, shares, temperature
from benchmarks.kinds.recipe import importance, learn
from benchmarks.kinds.scores import Guess, f1, macro_f1, mean_macro_f1, table
from benchmarks.kinds.train import as_text
from nodes.issue.kinds.model import LEARNT, WEIGHTS, load_model
from tests.kinds.issues import made_up

MAX_BYTES = 1_000_000


def test_the_same_issues_give_the_same_file_byte_for_byte() -> None:
    examples = made_up()
    assert as_text(learn(examples)) == as_text(learn(list(examples)))


def test_issues_of_an_unseen_repository_are_classified_correctly() -> None:
    for known, unknown in whole_repositories(made_up()):
        model = learn(known)
        guesses = []
        for example in unknown:
            sure = model.shares(example.terms)
            best = max(sure, key=lambda kind: sure[kind])
            guesses.append(Guess(example.repository, example.kind, best, sure[best]))
        assert macro_f1(guesses) > 0.9


def test_a_term_of_only_one_repository_is_excluded() -> None:
    model = learn(made_up())
    assert all("anchor" not in weights for weights in model.fields.values())
    assert "crash" in model.fields["title"]


def test_every_source_counts_the_same_and_a_rare_kind_more() -> None:
    examples = [replace(one, source="small" if one.repository == "a/cars" else "large") for one in made_up()]
    examples = [one for one in examples if one.kind != "question" or one.title.startswith("How")]
    counts = importance(examples)
    sums = {
        name: sum(c for c, one in zip(counts, examples, strict=True) if one.source == name)
        for name in ("small", "large")
    }
    assert sums["small"] == pytest.approx(sums["large"], rel=0.01)
    each = {one.kind: count for count, one in zip(counts, examples, strict=True) if one.source == "small"}
    assert each["question"] > each["bug"]


def test_a_written_model_can_be_read(tmp_path) -> None:
    model = learn(made_up())
    file = tmp_path / "weights.json"
    file.write_text(as_text(model), encoding="utf-8")
    text = (tmp_path / "weights.json").read_text(encoding="utf-8")
    assert json.loads(text)["kinds"] == list(LEARNT)
    example = made_up()[0]
    assert load_model(file).shares(example.terms) == pytest.approx(model.shares(example.terms))


def test_a_model_with_other_kinds_is_refused(tmp_path) -> None:
    file = tmp_path / "weights.json"
    file.write_text('{"kinds": ["ham", "spam"], "bias": [], "temperature": 1, "fields": {}}', encoding="utf-8")
    with pytest.raises(ValueError, match="other kinds"):
        load_model(file)


def test_the_shipped_file_is_small_and_has_one_line_per_first_letter() -> None:
    text = WEIGHTS.read_text(encoding="utf-8")
    assert len(text) < MAX_BYTES
    assert text.count("\n") < 200
    assert as_text(load_model()) == text
    assert load_model().temperature > 0


def test_disclosures_are_distinguished_from_ordinary_reports_with_the_same_words() -> None:
    read, denied = "Guests can read rows of others", "Guests cannot read rows of their own"
    told, near = ([terms_of(f"{title} {number}", "") for number in range(4)] for title in (read, denied))
    model = fit_disclosures(told, near, [terms_of("The menu is too wide", ""), terms_of("Crash at start", "")])
    assert [model.scores(terms_of(title, ""))[0] > 0 for title in (read, denied, "The menu is wide")] == [1, 0, 0]


def test_every_issue_is_measured_once() -> None:
    examples = made_up()
    for splits in (folds, whole_repositories, whole_sources):
        measured = [one for _, unknown in splits(examples) for one in unknown]
        assert sorted(map(id, measured)) == sorted(map(id, examples))
    for known, unknown in whole_repositories(examples):
        assert not {one.repository for one in known} & {one.repository for one in unknown}


def test_the_gradient_of_the_fit_is_zero() -> None:
    wanted, counts = np.eye(3)[[0, 1, 2, 0, 1, 2]], np.array([1.0, 2, 1, 1, 0.5, 1])
    space = Space.of(6, {"title": {"a": [0, 1, 3], "b": [1, 2, 4], "c": [0, 2, 5]}}, {"title": 1.0})
    bias, weights = fit(space, wanted, counts, 2.0)
    errors = 2.0 * counts[:, None] * (shares(space.scores(weights) + bias) - wanted)
    assert np.abs(space.back(errors) + weights).max() < 1e-5
    assert np.abs(errors.sum(axis=0)).max() < 1e-5


@pytest.mark.parametrize("heat", [0.8, 1.5, 3.0])
def test_the_temperature_corrects_overconfidence(heat: float) -> None:
    rows = np.random.default_rng(1).normal(size=(4_000, 3))
    drawn = np.random.default_rng(2).random(4_000)[:, None] < shares(rows).cumsum(axis=1)
    wanted = np.eye(3)[drawn.argmax(axis=1)]
    assert temperature(rows * heat, wanted) == pytest.approx(heat, rel=0.15)


def _guess(kind: str, predicted: str, repository: str = "a") -> Guess:
    return Guess(repository, kind, predicted, 0.5)


@pytest.mark.parametrize(
    ("guesses", "expected"),
    [
        pytest.param([_guess("bug", "bug")], 1.0, id="right"),
        pytest.param([_guess("bug", "feature")], 0.0, id="wrong"),
        pytest.param([_guess("bug", "bug"), _guess("bug", "docs")], 2 / 3, id="a-rare-kind-is-a-miss"),
        pytest.param([_guess("feature", "feature")], 0.0, id="not-there"),
    ],
)
def test_f1(guesses, expected) -> None:
    assert f1(guesses, "bug") == pytest.approx(expected)


def test_sources_have_equal_weight_in_the_table() -> None:
    guesses = [_guess(kind, kind, "a/a") for kind in LEARNT] * 5 + [_guess("bug", "question", "b/b")]
    assert mean_macro_f1(guesses) == pytest.approx(0.5)
    assert table("t", guesses).splitlines()[-1].split() == ["mean", "0.500", "0.500", "0.500", "0.500"]
