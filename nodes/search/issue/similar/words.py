"""Represents an issue by the hashes of its words, so that its text need not be stored."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodes.search.issue.fingerprint import FRAMES, plain_error, plain_function
from nodes.search.issue.mentions.markdown import MAX_TEXT, lines, without_comments
from nodes.search.issue.stacktraces import find_traces
from nodes.search.tokens import STOPWORDS, WORD, hashes_of, term_hash

VERSION = 1
"""Version of the stored words; words of another version are computed again."""
MAX_WORDS = 800
"""Maximum number of distinct words of a body, the most frequent first; a body with more is a log."""

WORDS: Any = np.dtype([("term", "<u4"), ("count", "u1")])
_FORM_LINE = re.compile(r" {0,3}(?:#{1,6}[ \t]|[-*+][ \t]\[[ xX]\][ \t])|_?No response_?$|```")

Words = NDArray[Any]


@dataclass(frozen=True, slots=True)
class IssueWords:
    """Three fields of an issue, each the packed hashes of its terms with their counts (``WORDS``)."""

    title: bytes
    body: bytes
    crash: bytes
    """The error and the innermost functions of its stack traces, without paths, lines and addresses."""


def words_of(title: str, body: str) -> IssueWords:
    """Return the stored representation of an issue."""
    crash = Counter(term_hash(name) for name in crash_names(body))
    return IssueWords(_packed(_terms(title)), _packed(_terms(own_text(body))), _packed(crash))


def own_text(body: str) -> str:
    """Return a body without a template's text: hints, headings and check boxes."""
    return "\n".join(line for line in lines(without_comments(body[:MAX_TEXT])) if not _FORM_LINE.match(line))


def crash_names(body: str) -> list[str]:
    """Return names that a crash has in any version and on any machine; they do not depend on the repository's files."""
    names: list[str] = []
    for trace in find_traces(body[:MAX_TEXT]):
        error = plain_error(trace.error)
        names += [f"error {error}"] if error else []
        # Twice as many frames as a fingerprint has: it skips those of libraries, which cannot be recognised without the
        # files.
        names += [f"frame {plain_function(frame.function or '')}" for frame in trace.frames[: 2 * FRAMES]]
    return [name for name in names if name not in ("frame ", "frame ~")]


def unpacked(words: bytes) -> dict[int, int]:
    """Return hashes with their counts."""
    rows = np.frombuffer(words, WORDS)
    return dict(zip(rows["term"].tolist(), rows["count"].tolist(), strict=True))


def _terms(text: str) -> Counter[int]:
    counts: Counter[int] = Counter()
    for word, times in Counter(WORD.findall(text)).items():
        if word.lower() not in STOPWORDS:
            for term in hashes_of(word):
                counts[term] += times
    return counts


def _packed(counts: Counter[int]) -> bytes:
    most_frequent = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_WORDS]
    # A count is one byte; beyond a few occurrences saturation makes it irrelevant anyway.
    return np.array([(term, min(count, 255)) for term, count in sorted(most_frequent)], WORDS).tobytes()
