"""Order, reasons and confidence."""

from __future__ import annotations

import numpy as np
import pytest

from nodes.search.engine import Engine
from nodes.search.ranking.rank import confidence, load_weights, signs
from nodes.search.types import Query
from tests.support.repositories import make_repository

FILES = {
    "lib/lexer.py": "def scan(text):\n    return text.split()\n",
    "lib/tree.py": "def build(tokens):\n    return list(tokens)\n",
    "tests/test_lexer.py": "def test_scan():\n    assert scan('a b') == ['a', 'b']\n",
}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("see lib/tree.py", "lib/tree.py", id="path"),
        pytest.param("`lib.tree` misbehaves", "lib/tree.py", id="module"),
        pytest.param("`scan` returns nothing", "lib/lexer.py", id="symbol"),
        pytest.param(
            'Traceback (most recent call last):\n  File "/x/lib/tree.py", line 2, in build\n    y\nValueError: z',
            "lib/tree.py",
            id="trace",
        ),
    ],
)
def test_a_named_place_comes_first(tmp_path, body, expected):
    make_repository(tmp_path, FILES)
    assert Engine(tmp_path).find(Query("It breaks", body), "HEAD").files[0].path == expected


def test_the_one_error_of_a_long_log_decides(tmp_path):
    """Three hundred lines that only inform would otherwise outweigh it."""
    mailer = "def sends_mail(subscriber):\n    return f'queue worker sends mail to {subscriber}'\n"
    make_repository(
        tmp_path, {**FILES, "lib/mailer.py": mailer, "lib/shelf.py": "def unlock(shelf):\n    return shelf\n"}
    )
    lines = [f"2026-01-07T09:00:{at % 60:02} INFO queue worker sends mail {at} to subscriber" for at in range(300)]
    lines[200] = "2026-01-07T09:00:20 ERROR cannot unlock the shelf"
    body = "It stops at night:\n\n```\n" + "\n".join(lines) + "\n```\n"
    assert Engine(tmp_path).find(Query("The server stops", body), "HEAD").files[0].path == "lib/shelf.py"


def sure(lead: float, title: float = 1.0, words: float = 1.0, said: float = 1.0, others: int = 5) -> float:
    columns = {"title_chunk": np.array([title, *[1.0] * others]), "words_chunk": np.array([words, *[said] * others])}
    return confidence(signs([4.0 + lead, *[4.0] * others], columns, load_weights().files), load_weights().confidence)


def test_confidence_grows_with_the_lead():
    values = [sure(lead) for lead in (0.0, 0.5, 2.0)]
    assert values == sorted(values)
    assert 0 < values[0] < values[-1] < 1


def test_agreement_of_evidence_raises_the_confidence_in_the_first_place():
    assert sure(0.5, title=2.0, words=2.0) > sure(0.5, title=2.0) > sure(0.5)


def test_a_kind_of_evidence_without_a_score_is_not_agreement():
    assert sure(0.5, title=2.0) == sure(0.5, title=2.0, words=0.0, said=0.0)


def test_two_files_with_equal_scores_have_at_most_half_confidence():
    assert sure(0.0, title=2.0, words=2.0) <= 0.5


def test_few_candidates_do_not_raise_the_confidence():
    assert sure(0.5, title=2.0, others=1) == sure(0.5, others=1)
