"""Text of an issue, a model or a repository has no effect in a comment."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.report.sanitise import block, cell, code, prose, visible

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
ALIVE = (
    re.compile(r"@\w"),
    re.compile(r"#\d|\bGH-\d", re.IGNORECASE),
    re.compile(r"://|\b(mailto|xmpp):|www\.", re.IGNORECASE),
)
TOKEN = "ghp_0123456789abcdefghij0123456789abcdef"
SIGNS = "@#`<>[]()!|\\*_~&;:/-\n\r\t\u200b\u202e\u2060"
ATTACKS = (
    *("@octocat", "&commat;octocat", "&#64;octocat", "a@b.org", "#12", "GH-7", "&#35;1", "/close"),
    *("<img src=x>", "<!--", "</details>", "![a](b)", "[a](b)", "https://a.b", "www.a.b"),
    *("`", "``", "```", "\\", "|", "~~", "**", "\n", " ", "a"),
)
HOSTILE = st.one_of(
    st.text(st.characters() | st.sampled_from(SIGNS), max_size=80),
    st.lists(st.sampled_from(ATTACKS), max_size=12).map("".join),
)


def rendered(markdown: str) -> str:
    """Return the HTML of a text after a word, because untrusted text always follows one."""
    return MARKDOWN.render(f"said {markdown}")


def outside_code(html: str) -> str:
    return re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL)


def assert_dead(html: str) -> None:
    text = outside_code(html)
    assert set(re.findall(r"<[^>]*>", text)) <= {"<p>", "</p>"}, text
    for pattern in ALIVE:
        assert not pattern.search(text), text


@pytest.mark.tried("mark-up that must not act in what is posted")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("ask @octocat and @acme/core", id="mention"),
        pytest.param("a@example.org", id="address"),
        pytest.param("&#64;octocat &commat;octocat", id="mention-as-entity"),
        pytest.param("see #12, acme/app#12 and GH-12", id="reference"),
        pytest.param("see &#35;12", id="reference-as-entity"),
        pytest.param("![pixel](https://evil.example/p.png)", id="image"),
        pytest.param("<img src='https://evil.example/p.png'>", id="raw-image"),
        pytest.param("</td></details><script>alert(1)</script>", id="html"),
        pytest.param("<!-- hidden", id="html-comment"),
        pytest.param("[click](javascript:alert(1))", id="link"),
        pytest.param("[click][1]\n\n[1]: https://evil.example", id="link-by-reference"),
        pytest.param("https://evil.example www.evil.example <https://evil.example>", id="bare-links"),
        pytest.param("**bold** ~~gone~~ _em_", id="emphasis"),
        pytest.param("`` `@octocat` ``", id="doubled-backticks"),
        pytest.param("``` @octocat `", id="uneven-backticks"),
        pytest.param("\\`@octocat\\`", id="escaped-backticks"),
        pytest.param("a\u200b@\u200boctocat #\u206012", id="zero-width"),
    ],
)
def test_rendered_prose_has_no_effect(text: str) -> None:
    assert_dead(rendered(prose(text)))


@pytest.mark.tried("mark-up that must not act in what is posted")
@given(HOSTILE)
def test_any_prose_becomes_one_line_without_effect(text: str) -> None:
    expected = prose(text)
    assert "\n" not in expected
    assert_dead(rendered(expected))


@pytest.mark.tried("mark-up that must not act in what is posted")
@given(HOSTILE)
def test_the_line_of_any_fact_contains_its_text(text: str) -> None:
    expected = code(text)
    assert "\n" not in expected
    html = rendered(expected)
    assert outside_code(html).strip() in ("<p>said </p>", "<p>said</p>")


@pytest.mark.tried("mark-up that must not act in what is posted")
@given(HOSTILE)
def test_nothing_closes_a_block_from_inside(text: str) -> None:
    tokens = MARKDOWN.parse(f"{block(text)}\n\nafter\n")
    assert [token.type for token in tokens] == ["fence", "paragraph_open", "inline", "paragraph_close"]


@pytest.mark.tried("mark-up that must not act in what is posted")
@given(HOSTILE, HOSTILE)
def test_no_cell_breaks_the_table(first: str, second: str) -> None:
    row = f"| x{cell(prose(first))} | x{cell(code(second))} | end |"
    html = MARKDOWN.render(f"| A | B | C |\n|---|---|---|\n{row}\n\nafter\n")
    assert html.count("<td>") == 3
    assert html.count("<tr>") == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("the call `a | b` fails", "the call `a | b` fails", id="code-span-stays"),
        pytest.param("one\n\ntwo\r\nthree", "one two three", id="one-line"),
        pytest.param("", "", id="empty"),
        pytest.param("a ` b", "a \\` b", id="lone-backtick"),
        pytest.param("snake_case", "snake\\_case", id="underscore"),
        pytest.param("src/app/x_y.py:12:5: oops", "src/app/x\\_y.py:12:5: oops", id="place-in-a-file"),
        pytest.param("set $HOME/bin, then", "set `$HOME/bin`, then", id="variable"),
        pytest.param("it costs $5. And $6", "it costs `$5`. And `$6`", id="price"),
        pytest.param("since 1a2b3c4d", "since `1a2b3c4d`", id="commit"),
        pytest.param("facade 1234567 deadbeef", "facade 1234567 deadbeef", id="words-and-numbers"),
        pytest.param("key: value", "key: value", id="colon"),
    ],
)
def test_prose_stays_readable(text: str, expected: str) -> None:
    assert prose(text) == expected


def test_no_line_starts_with_a_command() -> None:
    assert not prose("/close now").startswith("/")
    assert not re.search(r"^\s*/\w", block("/triage stop\n  /close"), re.MULTILINE)


@pytest.mark.parametrize("render", [prose, code, block], ids=["prose", "code", "block"])
def test_secrets_are_masked(render: object) -> None:
    expected = render(f"the token is {TOKEN} and that is that")  # type: ignore[operator]
    assert TOKEN not in expected
    assert "masked" in expected


def test_invisible_characters_are_dropped() -> None:
    assert visible("a\u200bb\u202ec\u2066d\ufeffe\x1b[31m\x00f\ud800g\n\th") == "abcde[31mfg\n\th"


def test_every_invisible_character_is_removed_and_no_other() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert visible(every) == "".join(c for c in every if c in "\n\t" or not unicodedata.category(c).startswith("C"))
