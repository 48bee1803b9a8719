"""A decorated trace has the frames and the error of the plain one, and leads back to its characters."""

from __future__ import annotations

import pytest

from nodes.search.issue.normal.report import normalise
from nodes.search.issue.stacktraces import find_traces
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


@pytest.mark.parametrize("decoration", DECORATIONS)
@pytest.mark.parametrize("language", TRACES)
def test_the_place_of_a_decorated_trace_is_the_reporters_text(language: str, decoration: str):
    decorated = around(DECORATIONS[decoration](TRACES[language]))
    (trace,) = find_traces(decorated)
    written = decorated[trace.start : trace.end]
    frame = next(frame for frame in trace.frames if frame.line)
    assert frame.path.rpartition("/")[2] in written
    assert str(frame.line) in written
    assert "It stops" not in written
    assert "What can I do" not in written


@pytest.mark.parametrize("decoration", DECORATIONS)
@pytest.mark.parametrize("language", TRACES)
def test_a_normalised_text_does_not_change_again(language: str, decoration: str):
    once = normalise(around(DECORATIONS[decoration](TRACES[language]))).text
    assert normalise(once).text == once
