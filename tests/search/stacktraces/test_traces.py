"""Properties of traces of every language."""

import pytest

from nodes.search.issue.stacktraces import find_traces
from nodes.search.issue.stacktraces.runs import MAX_FRAMES, MAX_TRACES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("It is slow at night (since 3.2) and at 12:30:15 it stops.", id="prose"),
        pytest.param("Write to me@example.com:12:13 or see #12 and #0 in the list.", id="addresses-and-numbers"),
        pytest.param("1. at home\n2. at work\n", id="lists"),
        pytest.param("```py\ndef f():\n    raise ValueError('x')\n```", id="code"),
        pytest.param("The frame was at com.acme.Parser, I think.", id="a-class-in-prose"),
    ],
)
def test_prose_has_no_trace(text):
    assert find_traces(text) == []


def test_traces_come_in_order_of_appearance():
    java, script = "\tat a.B.c(B.java:1)\n", "    at f (x.js:1:2)\n"
    assert [trace.language for trace in find_traces(script + "then\n" + java)] == ["javascript", "java"]


def test_traces_and_frames_are_capped():
    frames = "\tat a.B.c(B.java:1)\n" * (MAX_FRAMES + 50)
    traces = find_traces("".join(f"a.XError: {number}\n{frames}" for number in range(MAX_TRACES + 5)))
    assert len(traces) == MAX_TRACES
    assert {len(trace.frames) for trace in traces} == {MAX_FRAMES}
