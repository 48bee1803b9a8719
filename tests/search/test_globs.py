"""Path patterns match what git's ``.gitignore`` matches, in time linear in the path."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.settings.repository import read_config
from nodes.search.engine import Engine
from nodes.search.paths.globs import name_matches, path_matches
from nodes.search.types import Query
from tests.support.repositories import make_repository

CASES = [
    ("vendor/**", "vendor/a/b.c", True),
    ("vendor/**", "src/vendor/a.c", False),
    ("vendor/**", "vendor", False),
    ("Vendor/**", "vendor/a.c", False),
    ("vendor/", "src/vendor/a.c", True),
    ("/vendor/", "src/vendor/a.c", False),
    ("vendor", "src/vendor/a.c", True),
    ("**/gen/*.py", "gen/a.py", True),
    ("**/gen/*.py", "src/x/gen/a.py", True),
    ("**/gen/*.py", "src/gen/x/a.py", False),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/x/a.py", False),
    ("*.py", "src/x/a.py", True),
    ("/*.py", "src/a.py", False),
    ("a/**/z", "a/z", True),
    ("a/**/z", "a/b/c/z", True),
    ("a/*/z", "a/b/c/z", False),
    ("a?c", "abc", True),
    ("*.[ch]", "lib/x.h", True),
    ("*.[!ch]", "lib/x.h", False),
    ("a.b", "axb", False),
    ("docs/*", "docs/a/b", True),
    (r"\*.py", "a.py", False),
    ("**", "a/b", True),
    ("a[", "a[", False),
]


LAYOUT = ("src/a", "src/x/a", "gen/a", "src/gen/a", "vendor/a")
PATTERNS_LEFT = {
    "**/gen/*.py": {"src/a", "src/x/a", "vendor/a"},
    "src/*.py": {"src/x/a", "gen/a", "src/gen/a", "vendor/a"},
    "Vendor/**": set(LAYOUT),
    "vendor/": {"src/a", "src/x/a", "gen/a", "src/gen/a"},
}


@pytest.mark.parametrize(("pattern", "path", "fits"), CASES)
def test_the_rules(pattern: str, path: str, fits: bool) -> None:
    assert path_matches(path, (pattern,)) is fits


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ignored")
    subprocess.run(["git", "init", "-q", str(made)], check=True)
    return made


def by_git(folder: Path, pattern: str, paths: Sequence[str]) -> set[str]:
    """Return the paths that git ignores by one pattern; none of them exists, so each counts as a file."""
    (folder / ".gitignore").write_text(f"{pattern}\n", encoding="utf-8")
    input_paths = "\0".join(paths)
    done = subprocess.run(
        ["git", "-c", "core.ignoreCase=false", "check-ignore", "-z", "--stdin", "--no-index"],
        cwd=folder, input=input_paths, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return set(filter(None, done.stdout.split("\0")))


NAME = st.text("abA.-", min_size=1, max_size=3).filter(lambda name: name not in (".", "..") and ".git" not in name)
PATHS = st.lists(NAME, min_size=1, max_size=4).map("/".join)
PIECES = ("a", "b", "A", ".", "-", "*", "?", "[ab]", "[!a]", "[a-]", "[^.-a]", r"\*", "a*b", "*.")
SEGMENTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join).filter(lambda s: "**" not in s)
# Stars next to another character and empty segments follow no rule of git's manual.
PATTERNS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(("", "/")),
        st.lists(SEGMENTS | st.just("**"), min_size=1, max_size=5).map("/".join),
        st.sampled_from(("", "/")),
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pattern=PATTERNS, paths=st.lists(PATHS, min_size=1, max_size=30, unique=True))
def test_any_pattern_matches_as_in_git(folder: Path, pattern: str, paths: list[str]) -> None:
    assert {path for path in paths if path_matches(path, (pattern,))} == by_git(folder, pattern, paths)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_pattern_is_refused(pattern: str, path: str) -> None:
    path_matches(path, (pattern,))
    assert name_matches(pattern.replace("*", "x"), pattern) or not pattern.isascii()


@pytest.mark.parametrize(
    "pattern", ["*a" * 90 + "b", "**/*a" * 30 + "/b", "**/a/" * 40 + "b", "[a-]" * 40 + "*" * 9 + "b"]
)
def test_a_hostile_pattern_takes_linear_time(pattern: str) -> None:
    def cost(length: int) -> float:
        path = ("a" * 200 + "/" + "a/" * 100) * length
        began = time.process_time()
        for _ in range(10):
            path_matches(path, (pattern,))
        return time.process_time() - began

    cost(1)
    assert min(cost(32) for _ in range(3)) < 0.01 + 24 * min(cost(4) for _ in range(3))


@pytest.mark.parametrize(("pattern", "path", "fits"), CASES)
def test_the_configuration_and_the_engine_agree(pattern: str, path: str, fits: bool) -> None:
    config = read_config(f"ignore_paths: ['{pattern}']\n")
    assert path_matches(path, config.ignore_paths) is fits


def test_the_engine_leaves_out_paths_that_match(tmp_path: Path) -> None:
    files = {f"{path}.py": f"def parse_header(line):\n    return {n}\n" for n, path in enumerate(LAYOUT)}
    make_repository(tmp_path / "r", files)
    engine = Engine(tmp_path / "r")
    for pattern, left in PATTERNS_LEFT.items():
        query = Query("parse_header fails", "parse_header fails", ignore=(pattern,))
        found = {hit.path.removesuffix(".py") for hit in engine.find(query, engine.commit()).files}
        assert found == left, pattern


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("area: *", "Area: Lexer", True),
        ("area: *", "area", False),
        ("kind/*", "kind/a/b", True),
        ("a.b", "axb", False),
        ("*bug*", "a bug here", True),
        ("bug", "type/bug", False),
    ],
)
def test_names(pattern: str, name: str, fits: bool) -> None:
    assert name_matches(name, pattern) is fits
