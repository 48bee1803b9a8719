"""The change that a line of the report came in with, and the one that removed what the line uses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, of_kind, verify
from tests.support.repositories import git, make_repository

OLD = "def open_zone(name):\n    return find(name)\n"
NEW = "def open_zone(name):\n    key = name.casefold()\n    return find(key)\n"
BODY = "See `acme/zones.py` line 2."


def test_the_recent_change_that_added_a_named_line(tmp_path: Path):
    make_repository(tmp_path, {"acme/zones.py": OLD})
    change = make_repository(tmp_path, {"acme/zones.py": NEW}, message="Find zones in any case")
    (fact,) = of_kind(facts_at(tmp_path, change, "It fails", BODY), "introduced_in")
    says = f"This line came in with `{change[:10]}` “Find zones in any case”, in no final release yet."
    assert (fact.says, fact.line, fact.change, fact.follows) == (says, 2, change, ("acme/zones.py", 2))
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"acme/zones.py": NEW, "other.py": "x = 1\n"})
    (fact,) = of_kind(facts_at(tmp_path, head, "It fails", BODY), "introduced_in")
    assert fact.says.endswith("”, released in 1.2.0.")
    assert fact.words is None
    (fact,) = of_kind(facts_at(tmp_path, head, "It fails", f"Version 1.2.0\n\n{BODY}"), "introduced_in")
    assert fact.words == "1.2.0"
    fact = replace(fact, words=None)
    repository = Repository.open(tmp_path)
    assert verify(replace(fact, says=says), repository, head, BODY) == "another release has the change first"
    older = replace(fact, text="def open_zone(name):", line=1)
    assert verify(older, repository, head, BODY) == "the line is older than the change"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        pytest.param({"acme/zones.py": NEW}, "Format the code", id="mechanical"),
        pytest.param({"acme/zones.py": NEW, "acme/old.py": OLD}, "Find zones in any case", id="first-commit"),
    ],
)
def test_a_change_that_brought_no_code_introduced_nothing(tmp_path: Path, files: dict[str, str], message: str):
    if "acme/old.py" not in files:
        make_repository(tmp_path, {"acme/zones.py": OLD})
    head = make_repository(tmp_path, files, message=message)
    assert of_kind(facts_at(tmp_path, head, "It fails", BODY), "introduced_in") == []


def test_a_change_of_annotations_introduced_no_line(tmp_path: Path):
    make_repository(tmp_path, {"acme/zones.py": OLD})
    typed = OLD.replace("(name)", "(name: str) -> Zone", 1)
    head = make_repository(tmp_path, {"acme/zones.py": typed}, message="Describe arguments")
    assert of_kind(facts_at(tmp_path, head, "It fails", "See `acme/zones.py` line 1."), "introduced_in") == []


def test_the_change_of_the_line_that_builds_a_message(tmp_path: Path):
    make_repository(tmp_path, {"acme/zones.py": OLD})
    code = "def open_zone(name):\n    raise ZoneError('the zone is not yet open today')\n"
    change = make_repository(tmp_path, {"acme/zones.py": code}, message="Refuse zones")
    facts = facts_at(tmp_path, change, "It fails", "```\nZoneError: the zone is not yet open today\n```")
    (fact,) = of_kind(facts, "introduced_in")
    assert (fact.line, fact.change) == (2, change)


def test_a_line_that_was_moved_from_another_file_is_older(tmp_path: Path):
    make_repository(tmp_path, {"acme/old.py": NEW})
    head = make_repository(tmp_path, {"acme/zones.py": NEW}, message="Rename the module")
    assert of_kind(facts_at(tmp_path, head, "It fails", BODY), "introduced_in") == []


TRACE = (
    '```\nTraceback (most recent call last):\n  File "/srv/acme/view.py", line 2, in show\n    return zone.height()\n'
    "AttributeError: 'Zone' object has no attribute 'height'\n```\n"
)
VIEW = "def show(zone):\n    return zone.height()\n"


def test_the_change_that_removed_the_definition_of_what_a_line_calls(tmp_path: Path):
    zone = "class Zone:\n    def width(self):\n        return 1\n"
    make_repository(
        tmp_path, {"acme/view.py": VIEW, "acme/zone.py": f"{zone}\n    def height(self):\n        return 2\n"}
    )
    change = make_repository(tmp_path, {"acme/view.py": VIEW, "acme/zone.py": zone}, message="Drop the height")
    head = make_repository(tmp_path, {"acme/view.py": VIEW, "acme/zone.py": f"{zone}\nx = 1\n"})
    (fact,) = of_kind(facts_at(tmp_path, head, "It fails", TRACE), "changed_in")
    assert fact.says == f"`{change[:10]}` “Drop the height” removed the definition of `height`."
    assert (fact.path, fact.change, fact.follows) == ("acme/zone.py", change, ("acme/view.py", 2))
    other = verify(replace(fact, change=head), Repository.open(tmp_path), head, TRACE)
    assert other == "the change did not remove the definition"


@pytest.mark.parametrize(
    "after",
    [
        pytest.param("class Zone:\n    def height(self):\n        return 2\n", id="still-defined"),
        pytest.param("class Zone:\n    pass\n", id="never-defined"),
    ],
)
def test_no_change_removed_what_is_or_never_was_defined(tmp_path: Path, after: str):
    make_repository(tmp_path, {"acme/view.py": VIEW, "acme/zone.py": "class Zone:\n    pass\n"})
    head = make_repository(tmp_path, {"acme/view.py": VIEW, "acme/zone.py": after}, message="Work on zones")
    assert of_kind(facts_at(tmp_path, head, "It fails", TRACE), "changed_in") == []


def test_a_line_that_a_change_wrote_otherwise_is_not_new(tmp_path: Path):
    make_repository(tmp_path, {"acme/zones.php": "<?php\n$size = function (string $default = null) {\n  go();\n};\n"})
    code = "<?php\n$size = fn(string $default = null) => go();\n"
    head = make_repository(tmp_path, {"acme/zones.php": code}, message="Use short functions")
    assert of_kind(facts_at(tmp_path, head, "It fails", "See `acme/zones.php` line 2."), "introduced_in") == []


def test_the_change_that_removed_the_module_which_a_line_imports(tmp_path: Path):
    code = "from .zone_utils import open_zone\n\nopen_zone()\n"
    make_repository(tmp_path, {"acme/main.py": code, "acme/zone_utils.py": "def open_zone():\n    pass\n"})
    change = make_repository(tmp_path, {"acme/main.py": code}, message="Tidy up")
    body = (
        '```\nTraceback (most recent call last):\n  File "/srv/acme/main.py", line 1, in <module>\n'
        "    from .zone_utils import open_zone\nModuleNotFoundError: No module named 'acme.zone_utils'\n```"
    )
    (fact,) = of_kind(facts_at(tmp_path, change, "It does not start", body), "changed_in")
    assert fact.says == f"`{change[:10]}` “Tidy up” removed `acme/zone_utils.py`."
    back = make_repository(tmp_path, {"acme/main.py": code, "acme/zone_utils.py": "x = 1\n"})
    assert of_kind(facts_at(tmp_path, back, "It does not start", body), "changed_in") == []
    assert verify(fact, Repository.open(tmp_path), back, body) == "the file is there"
