"""The reporter's own part of a body, without form texts and machine output."""

from __future__ import annotations

import pytest

from nodes.search.issue.query import without_asides


@pytest.mark.parametrize(
    ("body", "left"),
    [
        pytest.param("It leaks.\n<!-- Please search first -->", "It leaks.\n", id="a-hint"),
        pytest.param("### What happened?\n\nIt leaks.", "\nIt leaks.", id="a-heading"),
        pytest.param("**Describe the bug**\nIt leaks.", "It leaks.", id="a-bold-heading"),
        pytest.param("It leaks.\n- [x] I read the terms", "It leaks.", id="a-box"),
        pytest.param("## Environment\nlinux, gpu\n## Steps\nopen it", "open it", id="a-section-about-the-machine"),
        pytest.param("## Versions\n```\npip freeze\n```\n## Steps\nopen", "```\n```\nopen", id="a-fenced-list"),
        pytest.param("numpy: 1.26.4\n - Python = 3.11\nIt leaks.", "It leaks.", id="versions"),
        pytest.param("See https://example.org/forum/1 for more.", "See   for more.", id="a-link"),
        pytest.param("```\n# get\nx = 1.5  # https://a.b\n```", "```\n# get\nx = 1.5  # https://a.b\n```", id="code"),
        pytest.param("    ratio = 1.5", "    ratio = 1.5", id="indented-code"),
    ],
)
def test_asides_are_removed(body, left):
    assert without_asides(body) == left
