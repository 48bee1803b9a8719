"""Which issues a message closes, and which it only names."""

from __future__ import annotations

import pytest

from nodes.search.history.mainline import references, reverted
from tests.support.growth import assert_linear


@pytest.mark.parametrize(
    ("message", "closes", "names"),
    [
        pytest.param("Fix the lexer\n\nFixes #12", (12,), (), id="a-keyword-in-the-body"),
        pytest.param("fixed: #12", (12,), (), id="a-colon"),
        pytest.param("Fixed #12, #13 and GH-14 -- Mended dates.", (12, 13, 14), (), id="a-list"),
        pytest.param("closes issue #7", (7,), (), id="a-word-between"),
        pytest.param("Resolves https://github.com/o/r/issues/5", (5,), (), id="an-address"),
        pytest.param("Resolves https://github.com/o/r/pull/5", (), (), id="the-address-of-a-pull-request"),
        pytest.param("Fixes other/project#3", (), (), id="another-project"),
        pytest.param("Mend dates (#34)", (), (34,), id="a-squash"),
        pytest.param("GH-34: mend dates", (), (34,), id="gh-dash"),
        pytest.param("Mend dates (#34)\n\nCloses #12", (12,), (34,), id="a-squash-that-closes"),
        pytest.param("Merge pull request #8 from a/b\n\nMend dates", (), (), id="a-merge-names-itself"),
        pytest.param("Merge pull request #8 from a/b\n\nFixes #7", (7,), (), id="a-merge-that-closes"),
        pytest.param("Refs #12 -- Added tests.", (), (), id="only-about-it"),
        pytest.param('Revert "Fix #12"\n\nFixes #12', (), (), id="a-revert"),
        pytest.param("prefix #1, unfixed #2, fixes1 #3", (), (1, 2, 3), id="words-that-only-hold-the-keyword"),
        pytest.param("Fixes #12abc, color #fff, &#38;, a#4", (), (), id="what-is-no-number"),
        pytest.param("fixes #0 and closes #1234567890", (), (), id="numbers-no-issue-has"),
    ],
)
def test_references(message: str, closes: tuple[int, ...], names: tuple[int, ...]) -> None:
    found = references(message)
    assert (found.closes, found.names) == (closes, names)


def test_a_projects_own_name_counts() -> None:
    assert references("Fixes Octo/Parser#3, closes other/x#4", "octo/parser").closes == (3,)
    assert references("Fixes https://github.com/other/x/issues/4", "octo/parser").closes == ()


def test_reverted_commits_are_named() -> None:
    assert reverted(f"Revert\n\nThis reverts commit {'a' * 40}.") == ("a" * 40,)


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("piece", ["fixes ", "fixes #1,", "#1 and ", "fixes https://a/b/", "fixes a.a/", " (#1"])
def test_a_hostile_message_takes_linear_time(piece: str) -> None:
    assert_linear(references, lambda size: piece * size, 30_000)
