"""Facts that a program extracts from an issue with certainty: traces, versions, errors, form fields, its language."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

from nodes.search.issue.mentions.found import Mentions, find_mentions, form_fields, split_fields
from nodes.search.issue.mentions.markdown import without_template
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import package_of
from nodes.search.tokens import LISTS
from nodes.search.types import StackTrace

MAX_ISSUE_TEXT = 8_000
"""Characters of an issue that are read."""
FOREIGN_LETTERS = 0.08
"""Minimum share of letters outside ASCII of a text that is not English."""
ENOUGH, COMMON = 12, 0.12
"""Number of words from which English has a minimum share of its most frequent words, and that share."""
_WORD = re.compile(r"[^\W\d_]+")
_UNSPACED = re.compile(r"[々\u3040-\u30ff\u3400-\u9fff]")
_ASIDE = re.compile(r"`[^`\n]{1,400}`|https?://\S{1,900}|^[ \t]{0,3}#{1,6}[^\n]*", re.MULTILINE)
_ENGLISH = LISTS["english"]
_OTHERS = LISTS["not english"]
"""Frequent words of other languages in Latin letters."""
_OF_THE_LANGUAGE = ("/usr/local/go/src/", "/rustc/", "node:", "internal/", "<", "/lib/python")
"""Parts of the paths of a language's own library."""


@dataclass(frozen=True)
class IssueFacts(Mentions):
    """Facts of one issue; empty means that none was found."""

    traces: tuple[StackTrace, ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    """(heading, content) of an issue form."""
    words: int = 0
    """Words of prose outside code; two characters of Chinese or Japanese count as one word."""


def read_facts(title: str, body: str) -> IssueFacts:
    """Extract all certain facts from an issue, once per run."""
    named = find_mentions(f"{title}\n{without_template(body)}")
    traces, own = tuple(find_traces(body)), body
    # Reporters often paste traces outside code blocks. From the end, so that the offsets of earlier ones stay valid.
    for trace in sorted(traces, key=lambda trace: -trace.start):
        own = own[: trace.start] + own[trace.end :]
    prose, _code = split_fields(without_template(own))
    return IssueFacts(
        **{field.name: getattr(named, field.name) for field in fields(named)},
        traces=traces,
        form=form_fields(body),
        words=sum(
            max(1, len(_UNSPACED.findall(word)) // 2)
            for word in f"{title} {prose}".split()
            if any(map(str.isalpha, word))
        ),
    )


def is_english(title: str, body: str) -> bool:
    """Return whether the prose of an issue may be English; too short a text may be."""
    prose = _ASIDE.sub(" ", f"{title[:300]}\n{split_fields(body[:MAX_ISSUE_TEXT])[0]}")
    letters = sum(map(str.isalpha, prose))
    if sum(character.isalpha() and not character.isascii() for character in prose) > FOREIGN_LETTERS * letters:
        return False
    words = [word.lower() for word in _WORD.findall(prose)]
    english, others = (sum(word in known for word in words) for known in (_ENGLISH, _OTHERS))
    return english >= others and (len(words) < ENOUGH or english >= COMMON * len(words) or not others)


def raising_package(traces: Iterable[StackTrace]) -> str | None:
    """Return the package, not of the standard library, that raised the final error; None if its folder names none."""
    with_frames = [trace for trace in traces if trace.frames]
    # The last trace is the final error of a chain.
    for frame in with_frames[-1].frames[:5] if with_frames else ():
        if name := package_of(frame.path):
            # Go's module cache writes a capital letter as ! and the lower-case letter.
            return re.sub(r"!([a-z])", lambda found: found[1].upper(), name)
        if not any(part in frame.path for part in _OF_THE_LANGUAGE):
            return None
    return None
