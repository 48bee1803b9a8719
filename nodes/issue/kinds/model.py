"""The parts, terms and cues of an issue, which mean the same in every repository, and a linear model over the terms."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import exp, sqrt
from pathlib import Path
from typing import Literal, get_args

from nodes.search.issue.mentions.markdown import split_blocks, without_comments
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

LearntKind = Literal["bug", "feature", "question"]
LEARNT: tuple[LearntKind, ...] = get_args(LearntKind)
WEIGHTS = Path(__file__).with_name("weights.json")
UNIT, TENTHS = 100, 10
"""Weights are stored as integer hundredths, and rarities as integer tenths."""
LEAST = 50
"""Tenths of rarity added to the length of each field, so that a few words count less than many."""
Weights = Mapping[str, tuple[int, ...]]
"""A term's rarity, then its weight for each kind."""
MAX_TITLE, MAX_BODY, MAX_CODE = 300, 12_000, 3_000
"""The maximum numbers of characters read; the beginning of an issue shows its kind."""
_HEADING = lazy(r"\s{0,3}(#{1,6}\s|\*\*[^*\n]{1,120}\*\*:?\s*$|[^\n]{3,60}:\s*$)")
_TICK_BOX = lazy(r"\s{0,9}[-*+]\s?\[[ xX]\]")
_IMAGE = lazy(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,500}\)|<img[^>\n]{0,500}>")
_LINK = lazy(r"https?://[^\s)>]+")
_WIDE_MARK = "\uff1f"
"""The question mark of Chinese and Japanese."""
OPENING = 300
"""Characters of prose that count as the opening, where people say what they want."""
# One search, because the phrases of eight languages in an English text would take as long as the rest of the work.
_NOT_ENGLISH = lazy(
    r"[\u00c0-\u024f\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
    r"|\b(?:el|los|las|una|que|por|con|del|le|les|des|une|est|pas|pour|der|das|und|ist|nicht|beim|uma|dos|para|com)\b"
)
_VALUE = lazy(r"[=\d]|`[^`]*`|->|→")
"""What a title quotes: a number, code, a result."""
_TRACE = lazy(r"\btraceback \(most|^\s{1,8}at \S|\bline \d|\b0x[0-9a-f]{6}", re.MULTILINE)
Field = Literal["title", "prose", "code", "cues", "whole"]
_WORD = lazy(r"[a-z]+(?:'[a-z]+)?|[?!]")
_CUES = load_sections(Path(__file__).with_name("phrases.txt"))
_ENGLISH = {name: lazy(lines[0]) for name, lines in _CUES.items()}
# The phrases of all languages are one cue: nearly all labelled issues are English, and only its weight is learnt.
PHRASES = {name: lazy("|".join(lines)) for name, lines in _CUES.items()}


@dataclass(frozen=True, slots=True)
class KindParts:
    """An issue's text in lower case, split by author and purpose."""

    title: str
    prose: str
    """Outside code, without headings, tick boxes, template comments, images and links."""
    code: str
    """The content of fenced blocks."""
    whole: str
    """The body without changes except lower case, template text included."""


def parts_of(title: str, body: str) -> KindParts:
    """Split the beginning of an issue into its parts, in time linear in the text read."""
    # The model was trained on exactly this preparation, so a change here requires a new training.
    whole = body[:MAX_BODY].lower().replace(_WIDE_MARK, "? ")
    prose, blocks = split_blocks(without_comments(whole))
    # Headings, labels of fields and tick boxes are the template's.
    own = (line for line in prose.split("\n") if not (_HEADING.match(line) or _TICK_BOX.match(line)))
    text = "\n".join(line for line in own if line.strip() != "_no response_")
    return KindParts(
        title=title[:MAX_TITLE].lower().replace(_WIDE_MARK, "? "),
        prose=_LINK.sub(" ", _IMAGE.sub(" ", text)),
        code="\n".join(blocks)[:MAX_CODE],
        whole=whole,
    )


def cues_of(parts: KindParts) -> frozenset[str]:
    """Return the cues that an issue shows, each with the part that shows it."""
    return frozenset((*_phrases(parts), *_shapes(parts)))


def terms_in(parts: KindParts) -> dict[Field, frozenset[str]]:
    """Return the words and word pairs of each field, each once regardless of its frequency."""
    return {
        "title": frozenset(_with_pairs(_WORD.findall(parts.title))),
        "prose": frozenset(_with_pairs(_WORD.findall(parts.prose))),
        "code": frozenset(_WORD.findall(parts.code)),
        "cues": cues_of(parts),
        "whole": frozenset(_with_pairs(_WORD.findall(parts.whole))),
    }


def _phrases(parts: KindParts) -> Iterator[str]:
    opening = parts.prose[:OPENING]
    others = _NOT_ENGLISH.search(parts.title) or _NOT_ENGLISH.search(parts.prose)
    for name, pattern in (PHRASES if others else _ENGLISH).items():
        if pattern.search(parts.title):
            yield f"title: {name}"
        if pattern.search(opening):
            yield f"opening: {name}"
            yield f"prose: {name}"
        elif pattern.search(parts.prose):
            yield f"prose: {name}"


def _shapes(parts: KindParts) -> Iterator[str]:
    shapes = {
        "title: question mark": "?" in parts.title,
        "title: value": bool(_VALUE.search(parts.title)),
        "prose: question mark": "?" in parts.prose,
        "prose: question marks": parts.prose.count("?") > 1,
        "trace": bool(_TRACE.search(parts.whole)),
    }
    yield from (name for name, holds in shapes.items() if holds)


def _with_pairs(words: list[str]) -> Iterator[str]:
    yield from words
    yield from map(" ".join, pairwise(words))


@dataclass(frozen=True, slots=True)
class KindModel:
    """The model that ``python -m benchmarks.kinds.train`` or ``benchmarks.kinds.disclosures`` writes."""

    bias: tuple[int, ...]
    temperature: float
    """The divisor of scores, calibrated so that a confidence is the share of right answers in unseen repositories."""
    fields: Mapping[Field, Weights]
    kinds: tuple[str, ...] = LEARNT

    def shares(self, terms: Mapping[Field, Iterable[str]]) -> dict[str, float]:
        """Return the probability of each kind; they add up to 1."""
        scores = [score / self.temperature for score in self.scores(terms)]
        # Subtracting the highest score keeps exp() from overflowing.
        highest = max(scores)
        raised = [exp(score - highest) for score in scores]
        return {kind: value / sum(raised) for kind, value in zip(self.kinds, raised, strict=True)}

    def scores(self, terms: Mapping[Field, Iterable[str]]) -> list[float]:
        """Score each kind: the weights of a field's known terms, divided by the length of their rarities."""
        totals = [bias / UNIT for bias in self.bias]
        for field, weights in self.fields.items():
            known = [weights[term] for term in terms[field] if term in weights]
            length = sqrt(sum(rarity * rarity for rarity, *_ in known) + LEAST**2) / TENTHS * UNIT
            for number in range(len(totals) if known else 0):
                totals[number] += sum(values[number + 1] for values in known) / length
        return totals


@cache
def load_model(path: Path = WEIGHTS, kinds: tuple[str, ...] = LEARNT) -> KindModel:
    """Read the weights, once per process."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    if tuple(stored["kinds"]) != kinds:
        raise ValueError(f"{path} was trained for other kinds")
    return KindModel(tuple(stored["bias"]), stored["temperature"], stored["fields"], kinds)
