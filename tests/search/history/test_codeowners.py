"""CODEOWNERS is parsed as by GitHub."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.history.owners import owners_of, parse_codeowners
from tests.support.growth import assert_cheap

PATTERNS = [
    ("*", "a.py", True),
    ("*", "a/b/c.py", True),
    ("*.js", "a.js", True),
    ("*.js", "lib/deep/a.js", True),
    ("*.js", "a.jsx", False),
    ("/build/logs/", "build/logs/x/y.log", True),
    ("/build/logs/", "a/build/logs/y.log", False),
    ("docs/*", "docs/getting-started.md", True),
    ("docs/*", "docs/build-app/troubleshooting.md", False),
    ("docs/*", "a/docs/x.md", False),
    ("apps/", "apps/x", True),
    ("apps/", "a/apps/b/x", True),
    ("apps/", "apps", False),
    ("/docs/", "docs/a/b.md", True),
    ("/docs/", "x/docs/a.md", False),
    ("/scripts", "scripts/x", True),
    ("/scripts", "scripts", True),
    ("scripts", "a/scripts/x", True),
    ("**/logs", "build/logs/x", True),
    ("**/logs", "logs/x", True),
    ("**/logs", "deeply/nested/logs/x", True),
    ("/apps/github", "apps/github/x", True),
    ("a/**/b", "a/b", True),
    ("a/**/b", "a/x/y/b", True),
    ("a/**/b", "c/a/b", False),
    ("src/**", "src/a/b.c", True),
    ("src/**", "srcs/a", False),
    ("src/*.c", "src/a.c", True),
    ("src/*.c", "src/x/a.c", False),
    ("te?t.py", "test.py", True),
    ("te?t.py", "te/t.py", False),
    ("Readme.md", "README.md", False),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), PATTERNS)
def test_a_pattern_matches(pattern, path, expected):
    assert (owners_of(parse_codeowners(f"{pattern} @a"), path) is not None) is expected


@pytest.mark.parametrize(
    ("text", "path", "owners"),
    [
        pytest.param("* @global\n*.js @js", "a.js", ("@js",), id="the-last-match-wins"),
        pytest.param("*.js @js\n* @global", "a.js", ("@global",), id="also-where-it-is-broader"),
        pytest.param("* @one @org/team", "a", ("@one", "@org/team"), id="several-owners"),
        pytest.param("/apps/ @octocat\n/apps/github", "apps/github/x", (), id="a-line-without-owners-takes-them-away"),
        pytest.param("/apps/ @octocat\n/apps/github @doctocat", "apps/github/x", ("@doctocat",), id="inner-folder"),
        pytest.param("# a comment\n* @a # the rest is a comment @b", "x", ("@a",), id="comments"),
        pytest.param("a\\ b/ @space", "a b/x", ("@space",), id="escaped-space"),
        pytest.param("* @a\n!x.py @b", "x.py", ("@a",), id="negation-is-not-supported"),
        pytest.param("* @a\n[ab].py @b", "a.py", ("@a",), id="nor-are-ranges"),
        pytest.param("* @a\n\\#x @b", "#x", ("@a",), id="nor-an-escaped-hash"),
        pytest.param("* @a\nx.py not-an-owner", "x.py", ("@a",), id="a-broken-line-is-skipped"),
        pytest.param("* dev@example.org", "x", ("dev@example.org",), id="e-mail"),
        pytest.param("\ufeff* @a\r\n", "x", ("@a",), id="byte-order-mark-and-crlf"),
        pytest.param("*.py @a", "x.js", None, id="no-rule"),
        pytest.param("/ @a", "x", None, id="a-bare-slash-is-nothing"),
    ],
)
def test_who_owns_a_path(text, path, owners):
    rule = owners_of(parse_codeowners(text), path)
    assert (rule and rule.owners) == owners


@pytest.mark.tried("texts made to be slow to read")
def test_a_hostile_pattern_costs_little():
    def owners(size):
        rules = parse_codeowners("\n".join(f"{'*a' * size} @x{n}\n{'**/a/' * (size // 3)}b @y" for n in range(20)))
        return owners_of(rules, "/".join(["a" * 60] * 60))

    assert owners(900) is None
    assert_cheap(lambda: owners(900), 5.0)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(min_size=1, max_size=60))
def test_any_file_can_be_read(text, path):
    owners_of(parse_codeowners(text), path)
