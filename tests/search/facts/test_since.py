"""A change since the release of a report that changed lines with a name of its error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.facts import Fact
from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, of_kind, verify
from tests.support.repositories import WHEN, git, make_repository

OLD = (
    "from host import is_zone_task\n\n\ndef run(task):\n    if is_zone_task(task):\n        return task\n    return 0\n"
)
NEW = OLD.replace("from host import", "from kernel import")
TITLE = "DeprecationWarning: 'host.is_zone_task' is deprecated"
BODY = (
    "```\n  /srv/acme/run.py:5: DeprecationWarning: 'host.is_zone_task' is deprecated\n"
    "    if is_zone_task(task):\n```\n"
    "See `acme/run.py` line 5.\n"
)


def _since(facts: tuple[Fact, ...]) -> list[Fact]:
    return [fact for fact in of_kind(facts, "changed_in") if fact.says.startswith("After ")]


@pytest.mark.parametrize("words", ["", "acme 1.2.0\n\n"])
def test_a_later_change_of_a_name_of_the_error_is_stated_and_nothing_is_claimed(tmp_path: Path, words: str):
    make_repository(tmp_path, {"acme/run.py": OLD})
    git(tmp_path, "tag", "v1.2.0")
    change = make_repository(tmp_path, {"acme/run.py": NEW}, message="Ask the kernel")
    body = f"{words}{BODY}"
    facts = facts_at(tmp_path, change, TITLE, body)
    (fact,) = _since(facts)
    assert (fact.change, fact.path, fact.chosen) == (change, "acme/run.py", True)
    assert fact.says == (
        f"After 1.2.0, `{change[:10]}` “Ask the kernel” changed lines with `is_zone_task` of `acme/run.py`, "
        "in no final release yet."
    )
    assert all(other.unclaimed for other in facts if other.path == "acme/run.py")
    repository = Repository.open(tmp_path)
    wrong = replace(fact, says=fact.says.replace("`is_zone_task`", "`kernel`"))
    assert verify(wrong, repository, change, f"{TITLE}\n{body}\nkernel") is None
    wrong = replace(fact, says=fact.says.replace("After 1.2.0", "After 1.3.0"))
    assert "not later than the release" in (verify(wrong, repository, change, f"{TITLE}\n{body}") or "")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        pytest.param(OLD.replace("return 0", "return 1"), "Say so", id="other-lines"),
        pytest.param(NEW, "Format the imports", id="mechanical"),
    ],
)
def test_a_change_of_other_lines_or_of_none_is_not_stated(tmp_path: Path, new: str, message: str):
    make_repository(tmp_path, {"acme/run.py": OLD})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"acme/run.py": new}, message=message)
    assert _since(facts_at(tmp_path, head, TITLE, BODY)) == []


def test_without_a_release_no_change_is_later(tmp_path: Path):
    make_repository(tmp_path, {"acme/run.py": OLD})
    head = make_repository(tmp_path, {"acme/run.py": NEW}, message="Ask the kernel")
    assert _since(facts_at(tmp_path, head, TITLE, BODY)) == []


@pytest.mark.parametrize(
    ("subject", "error", "count"),
    [
        ("Sort the values", "DeprecationWarning: rows.values is deprecated", 1),
        ("Sort the rows", "DeprecationWarning: rows.values is deprecated", 0),
        ("Sort the values", "ValueError: bad rows.values", 0),
    ],
)
def test_a_common_name_that_is_gone_must_be_in_the_title_of_the_change(
    tmp_path: Path, subject: str, error: str, count: int
):
    make_repository(tmp_path, {"acme/run.py": "def run(rows):\n    return rows.values[0]\n"})
    git(tmp_path, "tag", "v1.2.0")
    code = "def run(rows):\n    rows.values.sort()\n    return rows.values[0]\n"
    head = make_repository(tmp_path, {"acme/run.py": code}, message=subject)
    trace = f'  File "/srv/acme/run.py", line 3, in run\n    return rows.values[0]\n{error}'
    body = f"```\nTraceback (most recent call last):\n{trace}\n```"
    facts = facts_at(tmp_path, head, "Error with rows.values", body)
    assert len(_since(facts)) == count


def test_a_change_of_what_the_project_itself_defines_is_not_stated(tmp_path: Path):
    own = {"acme/host.py": "def is_zone_task(task):\n    return task\n"}
    make_repository(tmp_path, {"acme/run.py": OLD, **own})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"acme/run.py": NEW, **own}, message="Ask the kernel")
    assert _since(facts_at(tmp_path, head, TITLE, BODY)) == []


def test_a_change_of_long_ago_is_not_stated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    make_repository(tmp_path, {"acme/run.py": OLD})
    git(tmp_path, "tag", "v1.2.0")
    make_repository(tmp_path, {"acme/run.py": NEW}, message="Ask the kernel")
    made = int(git(tmp_path, "log", "-1", "--format=%ct"))
    for days, count in ((30, 1), (90, 0)):
        monkeypatch.setitem(WHEN, "GIT_COMMITTER_DATE", f"@{made + days * 86_400} +0000")
        git(tmp_path, "commit", "--allow-empty", "-m", "Wait")
        head = git(tmp_path, "rev-parse", "HEAD").decode().strip()
        assert len(_since(facts_at(tmp_path, head, TITLE, BODY))) == count


def test_a_change_of_a_side_branch_that_precedes_the_release_is_not_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make_repository(tmp_path, {"acme/run.py": OLD})
    made = int(git(tmp_path, "log", "-1", "--format=%ct"))
    base = git(tmp_path, "rev-parse", "HEAD").decode().strip()
    change = make_repository(tmp_path, {"acme/run.py": NEW}, message="Ask the kernel")
    monkeypatch.setitem(WHEN, "GIT_COMMITTER_DATE", f"@{made + 86_400} +0000")
    tree = git(tmp_path, "rev-parse", f"{base}^{{tree}}").decode().strip()
    release = git(tmp_path, "commit-tree", tree, "-p", base, "-m", "Release").decode().strip()
    git(tmp_path, "tag", "v1.2.0", release)
    monkeypatch.setitem(WHEN, "GIT_COMMITTER_DATE", f"@{made + 2 * 86_400} +0000")
    git(tmp_path, "commit", "--allow-empty", "-m", "Wait")
    head = git(tmp_path, "rev-parse", "HEAD").decode().strip()
    assert change != head
    assert _since(facts_at(tmp_path, head, TITLE, BODY)) == []


def test_a_file_that_only_has_the_same_code_is_not_that_of_the_error(tmp_path: Path):
    old = {
        "run.py": OLD,
        "other.py": "from host import is_zone_task\n\n\ndef ask(task):\n    return is_zone_task(task)\n",
    }
    make_repository(tmp_path, old)
    git(tmp_path, "tag", "v1.2.0")
    new = old["other.py"].replace("from host import", "from kernel import")
    change = make_repository(tmp_path, old | {"other.py": new}, message="Ask the kernel")
    facts = facts_at(tmp_path, change, TITLE, BODY.replace("acme/", ""))
    assert of_kind(facts, "named_here", "raised_here")
    assert _since(facts) == []
