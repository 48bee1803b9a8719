"""Hostile text costs no more than its length."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.mentions import find_mentions, form_fields, split_fields
from nodes.search.stacktraces import find_traces

SMALL, LARGE = 250_000, 1_000_000
ABSOLUTE = 20.0
"""Seconds; ten times what the slowest takes on a busy machine of two cores."""
PIECES = [
    *(
        "at ",
        "(",
        'File "',
        "a.",
        "`",
        "#0 ",
        '"',
        "a/",
        "1.",
        "[",
        "> ",
        "a::",
        " ",
        "A1",
        "\x1b[",
        "<!--",
        "```",
        "a@b:1:2 ",
    ),
    *(
        "panicked at ",
        "** (A) ",
        "at a.b(",
        "x:1:in '",
        "#1 a(1) ",
        "x.rs:1:",
        "Fatal error: ",
        "( in ",
        "==1== at 0x1: a (",
    ),
    *(
        "0 0x1 a in b at c.d:1 ",
        "goroutine 1 [",
        "\n",
        "a\n",
        "at a.b(c.java:1)\n",
        'File "a", line 1, in a\n',
        "#0 a(1): b()\n",
    ),
]


def read_all(text):
    find_traces(text)
    find_mentions(text)
    split_fields(text)
    form_fields(text)


def seconds(text):
    start = time.perf_counter()
    read_all(text)
    return time.perf_counter() - start


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("width", [1_990, None], ids=["long-lines", "one-line"])
def test_time_grows_with_length(piece, width):
    small, large = (hostile(piece, size, width) for size in (SMALL, LARGE))
    before, after = seconds(small), seconds(large)
    # Below a few milliseconds the clock measures the machine.
    assert after < max(16 * before, 0.2)
    assert after < ABSOLUTE


def hostile(piece, size, width):
    if width is None:
        return piece * (size // len(piece))
    return ((piece * (width // len(piece) + 1))[:width] + "\n") * (size // width)


@settings(deadline=None, max_examples=150)
@given(st.text() | st.lists(st.sampled_from([*PIECES, ":1", ")", " in ", ".py", ".js:1:2"]), max_size=40).map("".join))
def test_no_text_is_refused(text):
    read_all(text)
