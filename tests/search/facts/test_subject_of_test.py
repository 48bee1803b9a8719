"""A test that the report names or links to leads to the function that it calls."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, facts_of, of_kind, verify
from tests.support.repositories import make_repository

FILES = {
    "feed/dates.py": "def parse_date(text):\n    return read_token(text)\n\n\nclass Token:\n    pass\n",
    "feed/tokens.py": "def read_token(text):\n    return text\n",
    "tests/test_dates.py": "def test_parse_date_without_zone():\n    assert parse_date('x') == read_token('x')\n\n\n"
    "def test_tokens():\n    assert read_token(Token('x'))\n\n\n"
    "def test_both():\n    assert parse_date('x') != read_token('y')\n",
}
LINK = "https://github.com/acme/feed/blob/main/tests/test_dates.py#L6"


@pytest.mark.parametrize(
    ("title", "body", "path"),
    [
        pytest.param("test_parse_date_without_zone fails", "", "feed/dates.py", id="named-in-the-test"),
        pytest.param("tests/test_dates.py::test_tokens fails", "", "feed/tokens.py", id="the-only-function"),
        pytest.param("A test fails", LINK, "feed/tokens.py", id="linked"),
        pytest.param("test_both fails", "", None, id="two-functions"),
        pytest.param("test_zones fails", "", None, id="no-such-test"),
    ],
)
def test_the_subject_of_a_test(tmp_path: Path, title: str, body: str, path: str | None):
    found = of_kind(facts_of(tmp_path, FILES, title, body), "subject_of_test")
    assert [(fact.path, fact.line, fact.strong, fact.unclaimed) for fact in found] == (
        [(path, 1, True, True)] if path else []
    )


def test_a_check_refuses_another_function(tmp_path: Path):
    sha, title = make_repository(tmp_path, FILES), "test_tokens fails"
    (fact,) = of_kind(facts_at(tmp_path, sha, title), "subject_of_test")
    repository = Repository.open(tmp_path)
    other = replace(
        fact, path="feed/dates.py", text="def parse_date(text):", says=fact.says.replace("read_token", "parse_date")
    )
    assert verify(fact, repository, sha, title) is None
    assert verify(other, repository, sha, title) == "no such test calls it"
