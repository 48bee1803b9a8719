"""The reporter's own text, without templates, machine output and licences."""

from __future__ import annotations

import pytest

from nodes.search.facts.inquiry import read_issue
from nodes.search.facts.names.named import names
from nodes.search.types import Query
from tests.support.growth import assert_cheap

LICENCE = "Licensed under the Apache License, `check_licence` Version 2.0"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("<!-- call `zone_map` -->", id="comment"),
        pytest.param("- [ ] I called `zone_map`", id="unticked-box"),
        pytest.param("### What does `zone_map` say?\n\nnothing", id="heading-of-a-form"),
        pytest.param("![zone_map.png](https://user-images.githubusercontent.com/1/zone_map.png)", id="image"),
        pytest.param('<img src="https://x.example/zone_map.png">', id="html-image"),
        pytest.param("https://github.com/acme/zones/assets/1/zone_map", id="asset"),
        pytest.param("Please say how you called `zone_map` here", id="template"),
        pytest.param("> Licensed under the Apache License, see `zone_map`", id="licence"),
    ],
)
def test_text_that_the_reporter_did_not_write_is_ignored(body: str):
    issue = read_issue(Query("It fails", body), ["Please say how you called `zone_map` here"])
    assert [name.last for name in names(issue)] == []


def test_answers_are_read_like_the_body():
    issue = read_issue(Query("It fails", "- [x] I called `zone_map`", ("No, it was `zone_list`",)))
    assert {name.last for name in names(issue)} == {"zone_map", "zone_list"}


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("2024-03-01 10:00:00,123 - ERROR - no zone", "no zone"),
        ("[10:00:00] no zone", "no zone"),
        ("2024-03-01T10:00:00.123Z no zone", "no zone"),
        ("no zone at 10:00:00", "no zone at 10:00:00"),
    ],
)
def test_the_time_of_a_log_line_is_not_a_word(line: str, plain: str):
    assert read_issue(Query("", line)).prose == (plain,)


@pytest.mark.parametrize(
    "body", ["<!--" * 20_000, "- [" * 20_000, "![" * 30_000, "`" * 60_000, "    \n" * 12_000, "\x01```\n" * 9_000]
)
def test_hostile_bodies_are_read_within_limits(body: str):
    assert_cheap(lambda: names(read_issue(Query("It fails", body))), 2.0)
