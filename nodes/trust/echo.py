"""Detect sentences that only repeat what the reporter wrote; these are not findings."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nodes.evidence import Evidence
from nodes.sources import OUTSIDE

TOO_ALIKE = 0.7
"""The share of a sentence's word sequences found in the issue from which the sentence counts as a repetition."""
_SEQUENCE = 4  # words in a row; any two texts about one subject share shorter sequences
_WORD = re.compile(r"\w+")
_CITATION = re.compile(r"\[[^\[\]\n]{1,80}\]")
_FROM_PEOPLE = frozenset({"issue", "trace", "human"})
"""Kinds of evidence that people wrote into the thread."""


class IssueEcho:
    """The text of an issue, to check whether a sentence repeats it."""

    def __init__(self, text: str) -> None:
        self._sequences = frozenset(_sequences(text))

    def holds(self, sentence: str) -> bool:
        """Return whether a sentence repeats the reporter's words; False for a sentence that is too short to decide."""
        sequences = list(_sequences(_CITATION.sub(" ", sentence)))
        repeated = sum(sequence in self._sequences for sequence in sequences)
        return bool(sequences) and repeated >= TOO_ALIKE * len(sequences)


def only_reported(cited: Iterable[Evidence]) -> bool:
    """Return whether all cited evidence was written into the thread, so that nothing new was found.

    Evidence with an address comes from another issue and is not part of this thread.
    """
    return all(item.kind in _FROM_PEOPLE and item.locator.url is None for item in cited)


def only_outside(cited: Iterable[Evidence]) -> bool:
    """Return whether all cited evidence is from outside the repository: possibly related, but not a cause by itself."""
    return all(item.kind in OUTSIDE for item in cited)


def names(text: str, path: str, symbol: str | None) -> bool:
    """Return whether an issue names a place: its file, or the last part of its symbol as a separate word."""
    file = path.rpartition("/")[2]
    last = (symbol or "").rpartition(".")[2]
    return _stands_in(text, file) or (
        len(last) > 3 and ("_" in last or last.lower() != last) and _stands_in(text, last)
    )


def _stands_in(text: str, name: str) -> bool:
    at = text.find(name) if name else -1
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


def _sequences(text: str) -> Iterable[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return zip(*(words[start:] for start in range(_SEQUENCE)), strict=False)
