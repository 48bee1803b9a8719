"""Verification refuses a fact that was changed after it was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from nodes.search.engine import Engine
from nodes.search.facts import Fact, Kind
from nodes.search.facts.kinds import CHECKS
from nodes.search.git import Repository
from nodes.search.types import Query
from tests.search.facts.finding import verify
from tests.support.repositories import make_repository

FILES = {
    "zones/check.py": "def check_zone(name):\n    if name not in ZONES:\n"
    "        raise ValueError('the zone %s is not in the table' % name)\n",
    "zones/load.py": "def load(name):\n    return check_zone(name)\n\n\ndef "
    "other():\n    return load(1) or table.strict_zones\n",
    "tests/test_check.py": "def test_zone():\n    check_zone('UTC')\n",
    "docs/zones.md": "# Zones\n\nCall `check_zone` first.\n",
}
TITLE = "How does `check_zone` work? Add `check_zones_all`"
BODY = (
    "ValueError: the zone X is not in the table\n\nSee zones/load.py#L2 and `strict_zones` in\n\n"
    '```\nTraceback (most recent call last):\n  File "/x/zones/load.py", line 2, in load\n    return check_zone(name)\n'
    '  File "/x/zones/check.py", line 3, in check_zone\n'
    "    raise ValueError('the zone %s is not in the table' % "
    "name)\nValueError: the zone X is not in the table\n```\n\n"
    "```\nif name not in ZONES:\nraise ValueError('the zone %s is not in the table' % name)\n```\n"
)


def _found(path: Path) -> tuple[Repository, str, tuple[Fact, ...]]:
    sha = make_repository(path, FILES, message="Check zones (#77)")
    engine, query = Engine(path), Query(TITLE, f"{BODY}\nSince #77.")
    ranked = [hit.path for hit in engine.find(query, sha).files]
    return engine.repository, sha, engine.facts(query, ranked, sha)


def test_each_kind_is_found_verified_and_refused_once_it_is_changed(tmp_path: Path):
    repository, sha, facts = _found(tmp_path)
    text = f"{TITLE}\n{BODY}\nSince #77."
    kinds = {fact.kind for fact in facts}
    assert kinds >= {"linked_here", "raised_here", "defined_once", "built_here", "guarded_by", "read_here", "absent"}
    for fact in facts:
        assert verify(fact, repository, sha, text) is None
        for changed in _changes(fact):
            assert verify(changed, repository, sha, text), changed


def _changes(fact: Fact) -> list[Fact]:
    changed = [replace(fact, words="words that nobody wrote")] if fact.words else []
    if fact.line:
        changed += [
            replace(fact, line=fact.line + 400),
            replace(fact, text="other text"),
            replace(fact, path="none.py"),
        ]
    if fact.change:
        changed += [replace(fact, change="0" * 40), replace(fact, path="docs/none.md")]
    return changed


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(
            {"kind": "defined_once", "words": "load", "line": 2, "text": "    return check_zone(name)"}, id="name"
        ),
        pytest.param({"kind": "built_here", "words": "See zones/load.py#L2 and"}, id="message"),
        pytest.param({"kind": "pasted_here", "words": "if name not in ZONES:"}, id="code"),
        pytest.param({"kind": "tested_here", "words": "check_zone"}, id="no-test"),
        pytest.param({"kind": "documented_here", "words": "check_zone"}, id="no-page"),
        pytest.param({"kind": "absent", "words": "strict_zones"}, id="occurs"),
        pytest.param({"kind": "guarded_by", "words": None, "follows": ("zones/load.py", 9)}, id="no-condition"),
        pytest.param({"kind": "called_from", "words": None, "follows": ("a", 1), "symbol": "other"}, id="no-call"),
        pytest.param({"kind": "named_change", "words": "#77", "change": "f" * 40}, id="no-change"),
        pytest.param(
            {"kind": "linked_here", "words": "zones/load.py#L2", "line": 1, "text": "def load(name):"}, id="line"
        ),
    ],
)
def test_a_false_fact_is_refused(tmp_path: Path, fields: dict[str, Any]):
    sha = make_repository(tmp_path, FILES)
    plain = Fact("read_here", "x", "check_zone", "zones/load.py", 2, "    return check_zone(name)", "load")
    assert verify(replace(plain, **fields), Repository.open(tmp_path), sha, f"{TITLE}\n{BODY}\nload #77")


def test_every_kind_has_a_check():
    of_another_kind = {
        "bounds",
        "decided_here",
        "entries",
        "error_form",
        "labelled_here",
        "of_line",
        "releases",
        "removed",
        "required",
        "same_code",
        "set_here",
        "since",
    }
    assert CHECKS.keys() == set(get_args(Kind)) | of_another_kind
