"""Which texts are commands, and which are not."""

from __future__ import annotations

import pytest

from bot.worker.commands.parse import Command, parse
from tests.support.growth import assert_linear


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("/triage", [Command("triage")], id="alone"),
        pytest.param("thanks!\n/triage status", [Command("status")], id="after-prose"),
        pytest.param("   /triage why  ", [Command("why")], id="indented-a-little"),
        pytest.param("/Triage Redirect look at  the parser ", [Command("redirect", "look at  the parser")], id="case"),
        pytest.param("/triage\r\n/triage stop\r\n", [Command("triage"), Command("stop", "", 1)], id="two-lines"),
        pytest.param("- a list\n/triage stop", [Command("stop")], id="below-a-list"),
        pytest.param("/triage stop\n--\nrita", [Command("stop")], id="above-a-signature"),
        pytest.param("> quoted\n\n/triage stop", [Command("stop")], id="below-a-quote"),
        pytest.param("> ```\n> x\n/triage stop", [Command("stop")], id="below-a-quoted-block"),
        pytest.param("a ` b\n/triage stop", [Command("stop")], id="a-lone-backtick"),
        pytest.param("````\n```\n/triage\n````\n/triage why", [Command("why")], id="after-a-block"),
        pytest.param("/triage frobnicate now", [Command("frobnicate", "now")], id="unknown-word"),
        pytest.param("<details>\n\n/triage help\n\n</details>", [Command("help")], id="in-a-fold"),
        pytest.param("/triage label `needs info`", [Command("label", "`needs info`")], id="code-in-its-argument"),
    ],
)
def test_a_command_stands_on_a_line_of_its_own(text: str, expected: list[Command]) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("please /triage", id="inside-a-line"),
        pytest.param("```\n/triage\n```", id="code-block"),
        pytest.param("~~~\n/triage", id="open-code-block"),
        pytest.param("    /triage", id="indented-code"),
        pytest.param("\t/triage", id="tab"),
        pytest.param("x `code\n/triage stop\nmore` y", id="code-span-over-lines"),
        pytest.param("<pre>\n/triage\n</pre>", id="pre"),
        pytest.param("text <code>\n/triage stop\n</code>", id="code-element"),
        pytest.param("> /triage stop", id="quote"),
        pytest.param("> > x\n> /triage stop", id="nested-quote"),
        pytest.param("> x\n/triage stop", id="lazy-line-of-a-quote"),
        pytest.param("<!--\n/triage stop\n-->", id="html-comment"),
        pytest.param("text <!--\n/triage stop\n-->", id="html-comment-in-a-paragraph"),
        pytest.param("<!-- open\n\n/triage stop", id="html-comment-never-closed"),
        pytest.param("/triagestop", id="no-space"),
        pytest.param("//triage", id="two-slashes"),
        pytest.param("\u200b/triage stop", id="zero-width-in-front"),
        pytest.param("/tri\u200bage stop", id="zero-width-inside"),
        pytest.param("/tr\u0456age stop", id="cyrillic-letter"),
        pytest.param("\u2215triage stop", id="other-slash"),
        pytest.param("\uff0ftriage stop", id="fullwidth-slash"),
        pytest.param("x\u2028/triage stop", id="line-separator"),
        pytest.param("x\x0b/triage stop", id="vertical-tab"),
        pytest.param("# /triage stop", id="heading"),
        pytest.param("| /triage stop |\n|---|", id="table"),
        pytest.param("\\/triage stop", id="escaped"),
        pytest.param("", id="empty"),
    ],
)
def test_text_that_only_resembles_a_command_is_not_one(text: str) -> None:
    assert parse(text) == []


def test_commands_of_a_comment_are_bounded_in_number_and_length() -> None:
    found = parse(f"/triage redirect {'x' * 5_000}\n" + "/triage\n" * 5_000)
    assert len(found) == 10
    assert len(found[0].argument) == 600
    assert [command.ordinal for command in found] == list(range(10))


def test_spacing_does_not_make_another_command() -> None:
    assert (
        parse("/triage  redirect   a  b")[0].canonical == parse("/triage redirect a b")[0].canonical == "redirect a b"
    )


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize(
    "hostile",
    [
        "> " * 30_000,
        ">" * 60_000,
        "- " * 30_000,
        "` " * 30_000,
        "`a``" * 16_000,
        "".join("`" * (n % 60 + 1) + " " for n in range(2_000)),
        "<!--" * 16_000,
        "<code" * 12_000,
        "[" * 60_000,
        "/triage " + " " * 60_000 + "x",
        "/triage " + "x " * 30_000,
        "```\n" * 16_000,
        " " * 60_000,
        "a\n" * 30_000,
    ],
)
def test_hostile_text_takes_linear_time(hostile: str) -> None:
    assert_linear(lambda text: parse(text + "\n\n/triage stop"), lambda size: hostile[:size], len(hostile))
