"""Facts that answer questions: owners, last changes, callers; silence for all other issues."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from nodes.issue.asked import answers, questions
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.facts.kinds import verify
from nodes.search.facts.types import OF_QUESTIONS
from tests.search.facts.finding import facts_at, facts_of, of_kind
from tests.support.repositories import git, make_repository

DATES = (
    "import re\n\n\ndef parse_date(text):\n    return re.sub('x', '', text)\n\n\ndef other(text):\n    return text\n"
)
FILES = {
    "feed/dates.py": DATES,
    "feed/cli.py": "from feed.dates import parse_date\n\n\ndef main(text):\n    return parse_date(text)\n",
    "feed/store.py": "from feed import dates\n\n\ndef save(text):\n    # parse_date(text) is slow\n"
    "    return dates.parse_date(text)\n",
    "docs/CODEOWNERS": "* @octo/none\n",
    ".github/CODEOWNERS": "# owners\n*  @octo/all\n/feed/  @octo/feeds @lee\n/feed/cli.py\n",
}  # fmt: skip


def asked(path: Path, title: str, body: str = "", files: dict[str, str] | None = None) -> list[Fact]:
    """Return the facts that only questions have, if they answer what is asked."""
    facts = of_kind(facts_of(path, files or FILES, title, body), *OF_QUESTIONS)
    assert not any(fact.strong for fact in facts)
    return [fact for fact in facts if answers(fact, questions(title, body))]


@pytest.mark.parametrize(
    "title",
    ["Who owns feed/dates.py?", "Who is responsible for `feed/dates.py`", "What are the code owners of dates.py?"],
)
def test_the_owners_of_a_file(tmp_path: Path, title: str) -> None:
    (fact,) = asked(tmp_path, title)
    assert (fact.kind, fact.path, fact.line) == ("owned_by", ".github/CODEOWNERS", 3)
    assert fact.text == "/feed/  @octo/feeds @lee"
    assert fact.says == "CODEOWNERS names as owners of `feed/dates.py`: `@octo/feeds`, `@lee`."


@pytest.mark.parametrize(
    "title",
    ["When was `parse_date` last changed?", "What last changed parse_date", "Which commit last touched `parse_date`?"],
)
def test_the_last_change_of_a_function(tmp_path: Path, title: str) -> None:
    make_repository(tmp_path, FILES)
    changed = {**FILES, "feed/dates.py": DATES.replace("'x'", "'y'")}
    second = make_repository(tmp_path, changed, message="Read more")
    last = {**changed, "feed/dates.py": DATES.replace("'x'", "'y'").replace("return text", "return text.strip()")}
    third = make_repository(tmp_path, last, message="Strip")
    (fact,) = [one for one in facts_at(tmp_path, third, title) if one.kind == "last_changed"]
    assert (fact.change, fact.path, fact.line, fact.symbol) == (second, "feed/dates.py", 4, "parse_date")
    assert fact.says == (
        f"`parse_date` in `feed/dates.py` (L4-L5) was last changed on 2024-01-01 by `{second[:10]}` “Read more”."
    )
    assert answers(fact, questions(title, ""))
    (of_file,) = of_kind(facts_at(tmp_path, third, "When was feed/dates.py changed?"), "last_changed")
    assert (of_file.change, of_file.line) == (third, None)
    repository = Engine(tmp_path).repository
    for wrong in (
        replace(fact, change=third),
        replace(fact, says=fact.says.replace("2024-01-01", "2024-01-02")),
        replace(fact, says=fact.says.replace("L4-L5", "L8-L9")),
        replace(of_file, change=second),
        replace(of_file, path="feed/cli.py"),
    ):
        assert verify(wrong, repository, third, f"{title} When was feed/dates.py changed?"), wrong


def test_a_shallow_clone_does_not_call_its_oldest_commit_the_last_change(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", FILES)
    make_repository(tmp_path / "r", {**FILES, "README.md": "# Feed\n"}, message="Describe")
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{tmp_path / 'r'}", "shallow")
    sha = git(tmp_path / "shallow", "rev-parse", "HEAD").decode().strip()
    assert of_kind(facts_at(tmp_path / "shallow", sha, "When was `parse_date` last changed?"), "last_changed") == []


@pytest.mark.parametrize(
    "title", ["Who calls `parse_date`?", "Which functions call parse_date", "Where is `parse_date` used?"]
)
def test_the_callers_of_a_function(tmp_path: Path, title: str) -> None:
    (fact,) = asked(tmp_path, title)
    assert (fact.kind, fact.path, fact.line, fact.count) == ("called_here", "feed/cli.py", 5, 2)
    assert fact.says == "2 lines call `parse_date`, the first in `feed/cli.py`."
    repository = Engine(tmp_path).repository
    wrong = replace(fact, says=fact.says.replace("2 lines", "3 lines"))
    assert verify(wrong, repository, repository.resolve(), title)
    more = replace(fact, count=4, says=fact.says.replace("2 lines", "4 lines"))
    assert verify(more, repository, repository.resolve(), title)


def test_where_a_function_is_defined(tmp_path: Path) -> None:
    title = "Where is `parse_date` defined?"
    (fact,) = [one for one in facts_of(tmp_path, FILES, title) if answers(one, questions(title, ""))]
    assert (fact.kind, fact.path, fact.line) == ("defined_once", "feed/dates.py", 4)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("parse_date in feed/dates.py fails", "It was last changed by me.", id="no-question"),
        pytest.param("Who owns it?", "", id="no-file"),
        pytest.param("Who owns feed/cli.py?", "", id="a-rule-without-owners"),
        pytest.param("Who owns src/dates.py?", "", id="no-such-file"),
        pytest.param("Who calls `parse_dates`?", "", id="no-such-function"),
        pytest.param("Who calls `save`?", "", id="never-called"),
        pytest.param("What happens when I change `parse_date`?", "", id="an-effect"),
        pytest.param("What happens if main calls `parse_date`?", "", id="a-case"),
        pytest.param("How do I set the owner of feed/dates.py?", "", id="an-owner-of-another-kind"),
        pytest.param("Dates", "```\nWho calls parse_date?\n```\n> Who owns feed/dates.py?", id="code-and-quotes"),
        pytest.param("Who owns `../../etc/passwd.py`?", "Who owns /etc/feed/dates.py?", id="outside"),
    ],
)
def test_other_questions_have_no_answer(tmp_path: Path, title: str, body: str) -> None:
    assert asked(tmp_path, title, body) == []


def test_without_codeowners_no_owner_is_named(tmp_path: Path) -> None:
    files = {name: text for name, text in FILES.items() if "CODEOWNERS" not in name}
    assert asked(tmp_path, "Who owns feed/dates.py?", files=files) == []


def test_the_first_codeowners_file_decides_even_if_it_is_too_large(tmp_path: Path) -> None:
    files = {**FILES, ".github/CODEOWNERS": "#" * 3_000_001}
    assert asked(tmp_path, "Who owns feed/dates.py?", files=files) == []


def test_many_questions_take_little_time(tmp_path: Path) -> None:
    sha = make_repository(tmp_path, FILES)
    engine = Engine(tmp_path)
    engine.warm(sha)
    body = "Who calls `parse_date`, and when was feed/dates.py last changed, and who owns feed/dates.py? " * 600
    began = time.process_time()
    facts_at(tmp_path, sha, "Where " + "who " * 200 + "calls?", body)
    assert time.process_time() - began < 20.0
