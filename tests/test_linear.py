"""No pattern and no parser takes more than linear time for hostile text."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from inspect import getsource
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.report.sanitise import block, cell, code, prose
from nodes.brains.briefing import build_briefing
from nodes.brains.rules.investigate import acting_kind, investigate, severity_of
from nodes.brains.rules.write import write
from nodes.context.brain import Case
from nodes.evidence import Evidence
from nodes.issue.facts import IssueFacts, read_facts
from nodes.search.issue.mentions.found import find_mentions, form_fields, split_fields
from nodes.search.issue.query import parse_query
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.types import Query
from nodes.trust.secrets import mask
from tests.support.cases import case, place
from tests.support.growth import NOTICEABLE, SOON, assert_cheap, assert_linear
from tests.support.slow_inputs import SlowInput, patterns, slow_inputs

PATTERNS = patterns("bot", "nodes", "prompts")
BOUNDED = {
    "nodes.issue.kinds.rare._SECTIONS": "the title and the first 12,000 characters of an issue",
    "nodes.search.facts.output.printed._CALL": "a hundred and twenty characters before an open parenthesis",
    "nodes.search.facts.output.printed._STATEMENT": "the lines before a literal, each of at most 1,000 characters",
    "nodes.search.facts.output.printed._TABLE": "two hundred characters before a literal",
    "nodes.search.facts.output.literals._VALUE_BETWEEN": "two hundred characters between two literals",
    "nodes.search.paths.globs._TOKEN": "a pattern in a configuration, of at most two hundred characters",
    "nodes.search.languages.syntax._CAST": "a definition's name, of three hundred characters at the most",
}
"""Patterns with quadratic time, and what limits the length of their text."""
LONG, LONGER = 3_000, 24_000
"""Characters on which a quadratic pattern takes several times what is noticeable; those for one that looks ahead over
thousands of characters, which takes linear time only beyond them."""
LINE, IN_TRACE = 500, 1_000
"""Characters, at most half of what is read of a line. One that takes cubic time takes more than these seconds."""
LINE_SECONDS, IN_TRACE_SECONDS = 0.0125, 0.1
TOGETHER = 4
"""Lines in one text of traces. Each line follows the frames of every language and is followed by them."""

FRAMES = "".join(
    f"{frame}\n"
    for frame in (
        "x.rb:1:in 'a'",
        "    at f (x.js:1:2)",
        "#0 /a.php(1): f()",
        "#0 0x1 in f at a.c:1",
        "\tat a.b(c.java:1)",
        "   at A.B() in a.cs:line 1",
        "main.f()\n\t/a.go:1 +0x1",
        "   0: a::b\n             at /a.rs:1",
        "    (a 1.0) lib/a.ex:1: A.b/1",
        '  File "a.py", line 1, in f',
        "1   App  0x1 f + 1 (a.swift:1)",
        "a.py:1: in f",
    )
)


def tried(name: str) -> Callable[[str], object]:
    """Return how the code applies a pattern: a search, unless it only matches the beginning of a text."""
    pattern = PATTERNS[name]
    everywhere = not only_matched(name)

    def work(text: str) -> None:
        given = text.encode() if isinstance(pattern.pattern, bytes) else text
        pattern.match(given)
        for _ in pattern.finditer(given) if everywhere else ():
            pass

    return work


def only_matched(name: str) -> bool:
    """Return whether a pattern only matches the beginning of a text, as the filler of a trace does.

    False for a pattern that other modules use.
    """
    module, _, constant = name.rpartition(".")
    form = rf"(\bfiller=)?\b{re.escape(constant)}\b(\.match\(|\.fullmatch\(| = )?"
    # Several patterns of one table are unpacked in one assignment.
    source = re.sub(r"(?m)^\w+(?:, \w+)+ = ", "", getsource(import_module(module)))
    uses = re.findall(form, source)
    return constant.startswith("_") and all(map(any, uses))


@pytest.mark.tried("regular expressions with the texts they are slowest on")
@pytest.mark.parametrize("name", [name for name in PATTERNS if name not in BOUNDED])
def test_every_pattern_is_linear(name: str) -> None:
    work, pattern = tried(name), PATTERNS[name]
    size = LONGER if re.search(r",\d{4,}\}", str(pattern.pattern)) else LONG
    for slow in slow_inputs(pattern):
        assert_linear(work, slow.text, size, slow, noticeable=SOON if size == LONG else NOTICEABLE)


def test_bounded_patterns_exist() -> None:
    assert set(BOUNDED) <= set(PATTERNS)


@pytest.mark.tried("regular expressions with the texts they are slowest on")
@pytest.mark.parametrize("name", [name for name in PATTERNS if name.startswith("nodes.search.")])
def test_any_line_is_parsed(name: str) -> None:
    slow = slow_inputs(PATTERNS[name])
    if ".stacktraces." not in name:
        for line in unread(slow, LINE):
            assert_cheap(partial(find_mentions, f"{line}\n```\n{line}\n```\n"), LINE_SECONDS, line[:40])
    lines = unread(slow, IN_TRACE) if ".stacktraces." in name else []
    for at in range(0, len(lines), TOGETHER):
        some = lines[at : at + TOGETHER]
        text = "".join(f"{line}\n{FRAMES}" for line in [*some, some[0]])
        assert_cheap(partial(find_traces, text), IN_TRACE_SECONDS, [line[:40] for line in some])


READ_LINES: set[str] = set()


def unread(slow: Sequence[SlowInput], size: int) -> list[str]:
    """Return the lines that were not read before: a third of them are slow for several patterns."""
    lines = dict.fromkeys(one.text(size).replace("\n", " ") for one in slow)
    found = [line for line in lines if line not in READ_LINES]
    READ_LINES.update(found)
    return found


def sections(size: int, first: int) -> str:
    """Return a text of hostile sections; each section is first in one such text, because some parsers stop early.

    Each piece occurs an even number of times, so that a mark which opens and closes has one meaning at every size.
    """
    pieces = (*PIECES[first:], *PIECES[:first])
    return "\n".join(piece * (size // len(piece) // len(PIECES) // 2 * 2) for piece in pieces)


PIECES = (
    *(" ", "\n", "a\n", "\t\n", "0", ".", "a.", '"', "'", "`", "(", "[", "[a](", "> ", "|", "\\", "@", "/", "#1 ", "é"),
    *("<!--", "<!-- -->", "```\n", "## a\n", "a ", "aB", "A::", "-----BEGIN PRIVATE KEY-----", "eyJa.", "? ", "\x1b["),
    *("Traceback (most recent call last):\n", 'File "a", line 1, in a\n', "at a.b(c.java:1)\n", "panic: a\n", "<\n"),
)
LONGEST = 150_000
"""Characters, more than those of the longest issue."""
READERS: dict[str, Callable[[Any], object]] = {
    "facts": lambda text: read_facts(text, text),
    "query": lambda text: parse_query(Query(text, text)),
    "kind": lambda text: (acting_kind(text, text, IssueFacts()), severity_of(text, text, "bug")),
    "investigate": investigate,
    "write": write,
    "briefing": build_briefing,
    "mask": mask,
    "prose": prose,
    "code": code,
    "block": block,
    "cell": cell,
}


@functools.cache
def facts_of(size: int, first: int) -> IssueFacts:
    text = sections(size, first)
    return read_facts(text[:300], text)


def case_of(size: int, first: int, *places: Evidence, **more: Any) -> Case:
    """Return a case of known facts: the reader "facts" measures how long reading those takes."""
    text = sections(size, first)
    return case(text[:300], text, *places, facts=facts_of(size, first), **more)


def searched(size: int, first: int) -> Case:
    return case_of(size, first, place("src/a.py", "f"), ran="codebase_search", confidence=0.9)


READ = {"investigate": case_of, "write": searched, "briefing": case_of}
"""What is given to those that do not read a text."""


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("reader", READERS)
def test_the_longest_text_is_read_in_linear_time(reader: str) -> None:
    text: Callable[..., Any] = READ.get(reader, sections)
    for first in range(0, len(PIECES), 12):
        assert_linear(READERS[reader], partial(text, first=first), LONGEST, PIECES[first])


HOSTILE = [
    " ",
    "`",
    '"',
    "(",
    "at ",
    'File "',
    "#0 ",
    "> ",
    "\x1b[",
    "<!--",
    "```",
    "a@b:1:2 ",
    "panicked at ",
    "** (A) ",
]
HOSTILE += [
    "x:1:in '",
    "x.rs:1:",
    "Fatal error: ",
    "==1== at 0x1: a (",
    "goroutine 1 [",
    "\n",
    ":1",
    ")",
    ".py",
    ".js:1:2",
]


@pytest.mark.tried("random texts that must be read without an error")
@settings(deadline=None, max_examples=150)
@given(st.text() | st.lists(st.sampled_from(HOSTILE), max_size=40).map("".join))
def test_no_text_is_refused(text: str) -> None:
    for read in (find_traces, find_mentions, split_fields, form_fields):
        read(text)
