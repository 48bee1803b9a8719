"""The learner finds known weights, preserves signs and is deterministic."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.ranking.learner import Belief, List, fit_confidence, fit_ranker
from nodes.search.ranking.rank import CEILING


def lists_that_follow(weights: list[float], count: int = 200) -> list[List]:
    random = np.random.default_rng(7)
    made = []
    for _ in range(count):
        features = random.random((20, len(weights)))
        scores = features @ np.array(weights) + random.gumbel(size=20)
        wanted = np.zeros(20, bool)
        wanted[scores.argmax()] = True
        made.append(List(features, wanted, 1.0))
    return made


def belief(size: int, pull: float, signs: list[int] | None = None) -> Belief:
    return Belief(np.zeros(size), pull, np.array(signs or [0] * size, float))


def test_the_weights_that_made_the_choices_are_found():
    assert fit_ranker(lists_that_follow([3.0, 0.0, -2.0]), belief(3, 0.1)) == pytest.approx([3, 0, -2], abs=0.6)


def test_a_strong_penalty_retains_the_previous_weights():
    believed = Belief(np.array([1.0, 1.0]), 1e6, np.zeros(2))
    assert fit_ranker(lists_that_follow([5.0, -5.0]), believed) == pytest.approx([1, 1], abs=0.01)


def test_evidence_for_a_place_never_lowers_its_score():
    weights = fit_ranker(lists_that_follow([2.0, -3.0]), belief(2, 0.1, [1, 1]))
    assert weights[0] > 1
    assert weights[1] == 0


def test_an_issue_without_a_target_does_not_change_the_weights():
    lists = lists_that_follow([2.0, 1.0])
    empty = List(np.ones((3, 2)), np.zeros(3, bool), 1.0)
    assert fit_ranker([*lists, empty], belief(2, 1.0)).tolist() == fit_ranker(lists, belief(2, 1.0)).tolist()


def test_training_is_deterministic():
    lists = lists_that_follow([1.0, 2.0, 3.0])
    assert fit_ranker(lists, belief(3, 1.0)).tobytes() == fit_ranker(lists, belief(3, 1.0)).tobytes()


def test_confidence_is_the_frequency_with_which_a_lead_is_right():
    random = np.random.default_rng(3)
    leads = random.random((2_000, 1)) * 4
    right = random.random(2_000) < CEILING / (1 + np.exp(1 - leads[:, 0]))
    assert fit_confidence(leads, right, np.ones(2_000)) == pytest.approx([-1, 1], abs=0.25)
