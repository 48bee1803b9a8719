"""Calls and neighbours of the likeliest files and functions."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.search.engine import Engine
from nodes.search.types import Query, Ranking
from tests.support.repositories import make_repository

SHOP = {
    "shop/cart.py": "from shop.prices import total\n\n\ndef checkout(cart):\n    return total(cart)\n",
    "shop/prices.py": (
        "def total(cart):\n    return apply_rebate(sum(cart))\n\n\ndef apply_rebate(amount):\n    return amount\n"
    ),
    "shop/mail.py": "def send(address):\n    return address\n",
    "tests/test_mail.py": (
        "from shop.mail import send\n\n\ndef test_umlauts_in_the_greeting_of_customers_never_vanish():\n"
        "    assert send('x')\n"
    ),
    "docs/receipts.md": "# Receipts\n\nA receipt is rounded to whole cents by `apply_rebate`.\n",
}


def find(path, title: str, body: str = "") -> Ranking:
    make_repository(path, SHOP)
    return Engine(path).find(Query(title, body), "HEAD")


def test_content_of_tests_and_documents_is_read_only_for_issues_about_them(tmp_path):
    make_repository(tmp_path, SHOP)
    parsed: list[int] = []
    engine = Engine(tmp_path, progress=lambda _phase, _done, total: parsed.append(total))
    engine.find(Query("Umlauts in the greeting of customers vanish", ""), "HEAD")
    assert set(parsed) == {3}
    engine.find(Query("Typo in the documentation of receipts", ""), "HEAD")
    assert set(parsed) == {3, 2}


def test_callees_of_a_likely_function_are_considered(tmp_path):
    ranking = find(tmp_path, "`checkout` is wrong")
    called = [place for place in ranking.locations if place.symbol in {"total", "apply_rebate"}]
    assert any(reason.text == "a likely function calls it" for place in called for reason in place.reasons)


@pytest.mark.parametrize(
    ("title", "body", "path"),
    [
        pytest.param("Typo in the documentation of receipts", "", "docs/receipts.md", id="documentation"),
        pytest.param("Flaky: test_umlauts_in_the_greeting", "", "tests/test_mail.py", id="a-flaky-test"),
        pytest.param("tests/test_mail.py fails on Windows", "", "tests/test_mail.py", id="path-in-the-title"),
    ],
)
def test_tests_and_documents_are_found_when_the_issue_is_about_them(tmp_path, title, body, path):
    assert find(tmp_path, title, body).files[0].path == path


def test_contributions_add_up(tmp_path):
    ranking = find(tmp_path, "`checkout` loses the rebate", "shop/cart.py and apply_rebate")
    results: list[Any] = [*ranking.files, *ranking.locations]
    for hit in results:
        assert sum(reason.contribution for reason in hit.reasons) == pytest.approx(hit.score)
