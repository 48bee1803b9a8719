"""Facts about the release that a report names: its lines that later commits changed, and the releases after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.repositories import git, make_repository
from tests.search.facts.finding import facts_at, of_kind

OLD = "def load(path):\n    raise ValueError('the zone %s must not be packed' % path)\n"
NEW = "def load(path):\n    return unpack_zone_file(path)\n"
MOVED = "# Reads zones.\ndef load(path):\n    raise ValueError(\n        'the zone %s must not be packed' % path)\n"
TRACE = (
    'Traceback (most recent call last):\n  File "zones/io.py", line {line}, in load\n'
    "    raise ValueError('the zone %s must not be packed' % path)\nValueError: the zone a.gz must not be packed\n"
)


def _history(path: Path, new: str) -> tuple[str, str]:
    """Tag 1.2.0 with the old code and 1.3.0 with the new one; return the change and the head after it."""
    path.mkdir(exist_ok=True)
    make_repository(path, {"zones/io.py": OLD})
    git(path, "tag", "v1.2.0")
    change = make_repository(path, {"zones/io.py": new}, message="Read packed zones (#7)")
    git(path, "tag", "v1.3.0")
    return change, make_repository(path, {"zones/io.py": new, "notes.md": "Notes.\n"}, message="Add notes")


def test_a_line_of_the_named_release_that_a_later_commit_changed(tmp_path: Path):
    change, head = _history(tmp_path, NEW)
    first = git(tmp_path, "rev-list", "-1", "v1.2.0").decode().strip()
    for body in (TRACE.format(line=2), "ValueError: the zone a.gz must not be packed\n"):
        facts = facts_at(tmp_path, head, "Packed zones fail", f"zones 1.2.0\n\n```\n{body}```\n")
        (gone,) = of_kind(facts, "changed_since")
        assert (gone.path, gone.line, gone.sha, gone.change) == ("zones/io.py", 2, first, change)
        assert gone.says.endswith("“Read packed zones (#7)” changed it, and 1.3.0 contains that change.")
        assert not gone.strong
        (older,) = of_kind(facts, "older_release")
        assert older.says == "The report names 1.2.0; a later release exists, up to 1.3.0."


@pytest.mark.parametrize(
    ("new", "version", "line"),
    [
        pytest.param(MOVED, "zones 1.2.0", 2, id="moved-and-formatted"),
        pytest.param(NEW, "zones 1.2.0", 3, id="another-line"),
        pytest.param(NEW, "zones 1.1.0", 2, id="no-such-release"),
        pytest.param(NEW, "Python 1.2.0", 2, id="another-product"),
        pytest.param(NEW, "It worked in zones 1.2.0", 2, id="the-release-that-worked"),
    ],
)
def test_unproved_changes_are_not_stated(tmp_path: Path, new: str, version: str, line: int):
    _, head = _history(tmp_path / "zones", new)
    trace = TRACE.format(line=line).replace("must not be packed\n", "is bad\n")
    facts = facts_at(tmp_path / "zones", head, "Packed zones fail", f"{version}\n\n```\n{trace}```\n")
    assert of_kind(facts, "changed_since") == []
