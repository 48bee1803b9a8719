"""What a command does not need is not loaded: imports are half of the time of a ranking in an indexed repository."""

import subprocess
import sys
from pathlib import Path

from tests.support.repositories import make_repository

SCRIPT = """
import sys
from bot.cli import cli

try:
    cli(["locate", "--repo", sys.argv[1], "--text", "KeyError in load()", "--json"])
finally:
    print(*sys.modules, file=sys.stderr)
"""
UNUSED = {
    "pydantic",
    "yaml",
    "asyncio",
    "numpy.ma",
    "nodes.search.facts.finders",
    "nodes.search.history.log",
    "tree_sitter",
}


def test_a_ranking_loads_no_settings_and_no_history(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"app.py": "def load(key):\n    return {}[key]\n"})
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "app")],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "TRIAGE_DATA_DIR": str(tmp_path / "data")},
        cwd=tmp_path,
    )
    assert "app.py" in done.stdout
    assert not UNUSED & set(done.stderr.split())
