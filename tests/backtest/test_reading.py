"""The objections of a reader are found without the product's finders."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.facts.reading import Commit, read
from nodes.report import TriageReport
from nodes.search.facts import Fact
from tests.support.repositories import make_repository

CODE = '''def load(zone, table):
    """Load a zone.

    with_zone(zone)
    """
    # with_zone is old
    return table.rank(zone, strict=True)


COLOURS = {"green": 32}
add_option("--packed", help="x")
'''
JAVA = "class A {\n  /* zone.load()\n     zone.rank() */\n  int rank = zone.rank();\n}\n"
FILES = {"zones/load.py": CODE, "src/A.java": JAVA}


def fact(kind: str, path: str, line: int, words: str) -> Fact:
    text = FILES[path].split("\n")[line - 1]
    return Fact(kind, "It is so.", words, path, line, text, strong=True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "objection"),
    [
        pytest.param(fact("quoted_here", "zones/load.py", 4, "with_zone(zone)"), "docstring", id="docstring"),
        pytest.param(fact("read_here", "zones/load.py", 6, "with_zone"), "comment", id="comment"),
        pytest.param(fact("read_here", "src/A.java", 3, "zone.rank"), "comment", id="comment-over-lines"),
        pytest.param(fact("read_here", "zones/load.py", 10, "--green"), "--green", id="dashes"),
        pytest.param(fact("read_here", "zones/load.py", 11, "--packed"), None, id="an-option"),
        pytest.param(fact("quoted_here", "zones/load.py", 7, "strict=True"), None, id="code"),
        pytest.param(fact("read_here", "src/A.java", 4, "zone.rank"), None, id="code-below-a-comment"),
    ],
)
def test_a_line_that_is_no_code_is_objected_to(tmp_path: Path, found: Fact, objection: str | None):
    commit = Commit(tmp_path, make_repository(tmp_path, FILES))
    reading = read(TriageReport(facts=(found,)), "It fails", "", commit)
    assert [(objection or "none") in fault for fault in reading.faults] == ([True] if objection else [])


@pytest.mark.parametrize(("inner", "faults"), [("/srv/shop/views.py", 1), ("/usr/lib/python3.12/json.py", 0)])
def test_a_claim_above_the_reporters_program_is_objected_to(tmp_path: Path, inner: str, faults: int):
    commit = Commit(tmp_path, make_repository(tmp_path, FILES))
    body = f'  File "/x/zones/load.py", line 7, in load\n  File "{inner}", line 3, in rank\n'
    claim = TriageReport(facts=(fact("raised_here", "zones/load.py", 7, "load.py"),), headline=0, root_cause="It is.")
    assert len(read(claim, "It fails", body, commit).faults) == faults


def test_echoes_and_missed_expressions_are_counted(tmp_path: Path):
    commit = Commit(tmp_path, make_repository(tmp_path, FILES))
    lead = fact("defined_once", "zones/load.py", 1, "load")
    reading = read(TriageReport(facts=(lead,), headline=0), "load fails", "It has `rank(zone, strict=True)`.", commit)
    assert (reading.echoes, reading.missed) == (True, ("rank(zone, strict=True)",))
    named = TriageReport(facts=(lead,), headline=0, github_comment="`zones/load.py:7`")
    assert not read(named, "It fails", "It has `rank(zone, strict=True)`.", commit).missed
