"""Check that a sentence claims no more than its citations support."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nodes.evidence import Evidence

_CERTAIN = re.compile(
    r"\b(?:definitely|certainly|undoubtedly|unquestionably|guaranteed|proven|proves|verified|beyond doubt|no doubt)\b"
    r"|\b100 ?%",
    re.IGNORECASE,
)
"""Reading code proves nothing: a cause remains a hypothesis until someone runs the code."""
_OF_ITSELF = re.compile(
    r"\b(?:this|my|our|the above) (?:analysis|answer|assessment|conclusion|finding|investigation|report|triage)\b",
    re.IGNORECASE,
)
"""Phrases that assess the report itself instead of the code."""
_SPAN = re.compile(r"`([^`\n]{1,200})`")
_LINES = re.compile(r"\blines? (\d{1,7})(?: ?(?:-|\u2013|to|and) ?(\d{1,7}))?", re.IGNORECASE)


def fault_of(sentence: str, cited: Sequence[Evidence], issue: str) -> str | None:
    """Return what a sentence claims beyond its evidence, or None.

    Args:
        sentence: with or without its citations.
        cited: the evidence it cites, read again and confirmed.
        issue: title and body; names that the reporter wrote need no citation.
    """
    if _CERTAIN.search(sentence):
        return "more certain than reading can be"
    if _OF_ITSELF.search(sentence):
        return "judges itself"
    known = _squeezed("\n".join((issue, *(text for item in cited for text in _texts(item)))))
    for span in _SPAN.findall(sentence):
        if _squeezed(span).removesuffix("()") not in known:
            return "names code that is not in what it cites"
    for first, last in _LINES.findall(sentence):
        if not _is_from_reporter(first, issue) and not _inside(int(first), int(last or first), cited):
            return "names lines outside what it cites"
    return None


def _texts(item: Evidence) -> Iterable[str]:
    where = item.locator
    span = f"{where.path}:{where.start_line}" if where.path else ""
    return (item.quote, where.path or "", span, where.sha or "", item.symbol or "", *item.reasons)


def _squeezed(text: str) -> str:
    """Remove white space, because a span may contain a line break."""
    return "".join(text.split())


def _is_from_reporter(number: str, issue: str) -> bool:
    """Return whether the reporter wrote this number; traces give line numbers in many formats."""
    return re.search(rf"(?<!\d){number}(?!\d)", issue) is not None


def _inside(first: int, last: int, cited: Iterable[Evidence]) -> bool:
    return any(
        item.locator.start_line is not None
        and item.locator.end_line is not None
        and item.locator.start_line <= first <= last <= item.locator.end_line
        for item in cited
    )
