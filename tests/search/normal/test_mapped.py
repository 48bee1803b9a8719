"""Every character of an edited text leads back to the characters of the given text that it represents."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.issue.normal.mapped import Edit, Mapped
from nodes.search.issue.normal.report import as_printed, as_written, normalise
from tests.search.normal.decorations import DECORATIONS, TRACES

TEXT = st.text(alphabet="ab\n", max_size=30)


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> list[Edit]:
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6).map(lambda cuts: cuts[: len(cuts) // 2 * 2])))
    pairs = zip(cuts[::2], cuts[1::2], strict=True)
    return [Edit(start, end, draw(st.text(alphabet="XY", max_size=3))) for start, end in pairs]


@pytest.mark.tried("texts whose edits lead back to the given characters")
@settings(max_examples=100, deadline=None)
@given(st.data(), TEXT)
def test_edits_lead_back(data: st.DataObject, text: str):
    report = Mapped(text)
    for _ in range(2):
        report = report.edited(data.draw(edits_of(report.text)))
    starts = [report.span(at, at + 1) for at in range(len(report.text))]
    assert starts == sorted(starts)
    for (start, end), character in zip(starts, report.text, strict=True):
        assert 0 <= start <= end <= len(text)
        # What no edit wrote is the given character itself.
        assert character in "XY" or text[start:end] == character


PARTS = st.lists(st.sampled_from(sorted(TRACES)), min_size=1, max_size=2)
LAYERS = st.lists(st.sampled_from(sorted(DECORATIONS)), max_size=2)


@pytest.mark.tried("decorated traces whose words lead back to the reporter's text")
@settings(max_examples=60, deadline=None)
@given(PARTS, LAYERS)
def test_words_lead_back_to_the_reporters(languages: list[str], layers: list[str]):
    text = "\n\n".join(TRACES[language] for language in languages)
    for layer in layers:
        text = DECORATIONS[layer](text)
    plain = normalise(text).text
    for line in filter(str.strip, plain.split("\n")):
        written = as_written(line.strip(), text)
        squeezed = " ".join(written.split()).casefold()
        assert squeezed in " ".join(text.split()).casefold()
        assert " ".join(as_printed(written, text).split()) or not written.split()
