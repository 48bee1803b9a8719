"""A decorated trace has the frames and the error of the plain one, and leads back to its characters."""

from __future__ import annotations

import pytest

from nodes.search.issue.normal.report import normalise
from nodes.search.issue.stacktraces.families import find_traces
from tests.search.normal.decorations import DECORATIONS, TRACES


def content(text: str) -> list[tuple[str, str | None, str | None, tuple[object, ...]]]:
    return [(one.language, one.error, one.message, one.frames) for one in find_traces(text)]


def around(trace: str) -> str:
    return f"It stops since yesterday:\n\n{trace}\n\nWhat can I do?\n"


@pytest.mark.parametrize("decoration", DECORATIONS)
@pytest.mark.parametrize("language", TRACES)
def test_a_decorated_trace_is_read_like_the_plain_one(language: str, decoration: str):
    plain, decorated = around(TRACES[language]), around(DECORATIONS[decoration](TRACES[language]))
    assert len(find_traces(plain)) == 1
    assert content(decorated) == content(plain)
    assert_is_the_reporters_text(decorated)
    once = normalise(decorated).text
    assert normalise(once).text == once


def assert_is_the_reporters_text(decorated: str) -> None:
    """Assert that the place of the only trace is in the text as the reporter wrote it, without its surroundings."""
    (trace,) = find_traces(decorated)
    written = decorated[trace.start : trace.end]
    frame = next(frame for frame in trace.frames if frame.line)
    assert frame.path.rpartition("/")[2] in written
    assert str(frame.line) in written
    assert "It stops" not in written
    assert "What can I do" not in written


def test_a_frame_without_a_function_is_separated_from_the_message_before_it():
    frames = "at c:\\zones\\out\\io.js:4:9 at next (c:\\zones\\out\\run.js:7:1) at async go (c:\\zones\\out\\a.js:1:2)"
    (trace,) = find_traces(normalise(f"Error: no zone, see https://zones.example {frames}").text)
    assert [frame.path.rpartition("/")[2] for frame in trace.frames] == ["io.js", "run.js", "a.js"]


def test_the_name_of_a_file_that_an_editor_linked_is_plain_again():
    linked = 'File "/config/acme/__[init__.py](http://init__.py/)", line 37, in setup'
    assert normalise(linked).text == 'File "/config/acme/__init__.py", line 37, in setup'
    other = "see [zones.md](https://example.org/zones.md)"
    assert normalise(other).text == other
