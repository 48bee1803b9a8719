"""Parts of pages: described drawings, and comments without active content."""

from __future__ import annotations

import re

import pytest

from bot.report.words import count, span
from bot.server.web.pages.run_view import graph
from bot.server.web.render import CUT, as_html, file_name, label, line, moment, prose, verbatim
from bot.store.runs.run_events import LOOKS, Visit, dump
from nodes.state import TraceEntry
from tests.web.stored import COMMENT, TRACE, entry


def at(node: str, began: float, ended: float | None) -> Visit:
    return Visit(id=f"{node}{began}", node=node, began=began, ended=ended)


@pytest.mark.parametrize(
    ("trace", "now", "expected"),
    [
        pytest.param(
            (*TRACE[:4], entry("web_search", "3 results", 1), entry("join", "2 branches", 1), *TRACE[4:]),
            (),
            {"Investigator": "1", "Code search": "2", "Web search": "2", "Critic": "3", "Writer": "4"},
            id="parallel nodes share one place",
        ),
        pytest.param(
            (*TRACE[:3], entry("crash<db>", "2 rows", 1)),
            ("critic",),
            {"Investigator": "1", "crash<db>": "2", "Critic": ""},
            id="operator's tools and running nodes",
        ),
    ],
)
def test_the_graph_shows_the_path(
    trace: tuple[TraceEntry, ...], now: tuple[str, ...], expected: dict[str, str]
) -> None:
    nodes = graph(trace, now=now)
    assert {name: " ".join(map(str, places)) for name, state, places in nodes if state != "off"} == expected
    assert [name for name, state, _ in nodes if state == "now"] == [label(name) for name in now]


def test_a_rendered_comment_retains_its_structure_and_is_sanitised() -> None:
    html = as_html(
        COMMENT
        + '\n<script>alert(1)</script><img src="https://x/y.png"><a href="javascript:alert(1)" onclick="x">go</a>'
        '<form><input></form><iframe src="https://x"></iframe><p style="color:red" class="x">red</p><!-- gone -->'
    )
    assert "<details><summary>For maintainers</summary>" in html
    assert "<table>" in html
    assert 'rel="noreferrer noopener nofollow"' in html
    assert not re.search(r"script|img|javascript|onclick|form|input|iframe|style|class|gone|alert", html)
    assert CUT.strip().strip("*") in as_html("x" * 70_000)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a/b/lexer.py", 'a/<wbr>b/<wbr><span class="whole">lexer.py</span>'),
        ("test_of_a_very_long_name.component.ts", 'test_of_a_very_long_name.<span class="whole">component.ts</span>'),
        ("<b>/x", '&lt;b&gt;/<wbr><span class="whole">x</span>'),
    ],
)
def test_a_file_name_breaks_between_folders_and_not_in_its_ending(name: str, shown: str) -> None:
    assert file_name(name) == shown


def test_text_is_shown_unchanged_or_without_invisible_characters() -> None:
    assert verbatim("a\u202eb\x07\n\tc") == "a⟨U+202E⟩b⟨U+0007⟩\n\tc"
    assert prose("`a<b>` is `c` and `d") == "<code>a&lt;b&gt;</code> is <code>c</code> and `d"
    assert line("a\u202eb \x07\n c ghp_" + "a1" * 20) == "ab c [masked]"


def test_numbers_are_formatted_in_a_suitable_unit() -> None:
    texts = [span(one) for one in (0.0004, 0.0421, 1.24, 99.4, 99.6, 6_000, 172_800, 9e6)]
    assert texts == ["0 ms", "42 ms", "1.2 s", "99.4 s", "2 min", "2 h", "2 days", "104 days"]
    assert (count(1, "run"), count(12_040, "run")) == ("1 run", "12\N{NARROW NO-BREAK SPACE}040 runs")
    assert "unknown" in moment(0)


def test_long_texts_of_a_step_are_shortened() -> None:
    looked = entry("codebase_search", "x", 1, looks=tuple("abcdefghij"))
    visit = Visit(id="1", node="codebase_search", began=1.0, ended=2.0, trace=(looked,))
    again = Visit.model_validate_json(dump(visit))
    assert len(again.trace[0].looks) == LOOKS
    assert again.model_copy(update={"trace": visit.trace}) == visit
