"""A report compared with the fix that landed, in a real clone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.store.runs.outcomes import Outcome, Reported, Verdict
from bot.worker.outcomes import compare
from tests.backtest.story import build
from tests.support.repositories import git


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Mapping[str, str]]:
    path = tmp_path_factory.mktemp("story") / "feed"
    names = build(path)
    return path, {**names, "tip": git(path, "rev-parse", "HEAD").decode().strip()}


def reported(sha: str, *named: str) -> Outcome:
    return Outcome(1, sha, Reported(claimed=True, confidence=0.8, named=named), "open", None, 0)


@pytest.mark.parametrize(
    ("number", "named", "rank", "fix"),
    [
        pytest.param(1, ("feed/dates.py", "feed/store.py"), 1, "one", id="the-first-file"),
        pytest.param(1, ("feed/store.py", "feed/dates.py"), 2, "one", id="the-second"),
        pytest.param(1, ("tests/test_dates.py",), 0, "one", id="a-test-does-not-count"),
        pytest.param(1, (), 0, "one", id="nothing-was-named"),
        pytest.param(2, ("feed/store.py",), 1, "two", id="a-merge-that-brought-it"),
    ],
)
def test_the_files_of_the_fix_say_how_good_the_report_was(
    story: tuple[Path, Mapping[str, str]], number: int, named: tuple[str, ...], rank: int, fix: str
) -> None:
    path, names = story
    found = compare(path, names["tip"], reported(names["start"], *named), number, "octo/feed")
    assert found == Verdict("scored", rank, names[fix])


@pytest.mark.parametrize(
    ("number", "read", "says"),
    [
        pytest.param(77, "start", "no commit", id="nobody-says-so"),
        pytest.param(3, "start", "no commit", id="only-a-number"),
        pytest.param(4, "start", "no commit", id="undone"),
        pytest.param(9, "start", "no source file", id="pages-alone"),
        pytest.param(1, "tip", "no commit", id="fixed-before-it-was-read"),
        pytest.param(1, "gone", "no longer exists", id="history-was-rewritten"),
    ],
)
def test_outcomes_without_a_fix_are_unknown(
    story: tuple[Path, Mapping[str, str]], number: int, read: str, says: str
) -> None:
    path, names = story
    sha = names.get(read, "e" * 40)
    found = compare(path, names["tip"], reported(sha, "feed/dates.py"), number, "octo/feed")
    assert found.state == "unknown"
    assert says in found.why
