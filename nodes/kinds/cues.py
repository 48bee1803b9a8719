"""Named phrases and properties of an issue text that mean the same in every repository."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.kinds.parts import Parts

OPENING = 300
"""Characters of prose that count as the opening, where people say what they want."""

_PHRASES = {
    "how to": r"\bhow (do|to|can|should|would|does|could)\b",
    "is there": r"\b(is|are) there\b|\bis it possible\b",
    "can I": r"\b(can|could|should|may) (i|we|you|someone|anyone|somebody)\b",
    "why": r"\bwhy\b",
    "what is": r"\bwhat('s| is| are| does| do)\b",
    "wonders": r"\bwonder(ing)?\b|\bcurious\b|\bnot sure\b|\bunderstand\b|\bconfus",
    "asks for help": r"\bhelp\b|\badvice\b|\bsuggestions?\b|\banyone\b|\bany (idea|one|body)\b",
    "polite": r"\bthank|\bplease\b",
    "add": r"\badd(ing)?\b|\bsupport(ing)?\b|\ballow\b|\bimplement|\bprovide|\bintroduce|\bconsider|\benable\b",
    "option": r"\boption\b|\bability\b|\bexpose\b|\bimprove",
    "would be nice": r"\bwould(n't)? (be|it be|love|like)\b|\b(it'?d|i'?d) (be|love|like)\b|\bnice (to|if)\b",
    "useful": r"\buseful\b|\bhelpful\b|\bhandy\b|\bconvenient\b",
    "feature request": r"\bfeatures?\b|\benhancement\b|\bproposal\b|\brfc\b|\bsuggestion\b|\bidea\b",
    "instead": r"\binstead\b|\bcurrently\b|\balternative|\bmotivation|\buse[ -]?case|\bworkaround",
    "error": r"errors?\b|exceptions?\b|\bwarning\b|\btraceback\b|\bfail(s|ed|ing|ure)?\b",
    "crash": r"\bcrash|\bseg(fault|mentation)|\bpanic|\bhang|\bfreez|\bdeadlock|\bleak|\babort|\bassert",
    "wrong": r"\bwrong|\bincorrect|\bunexpected|\binvalid|\binconsisten|\bbroken\b|\bbreaks?\b",
    "problem": r"\bbug(gy)?\b|\bissue\b|\bproblem",
    "does not": r"\b(doesn'?t|does not|don'?t|isn'?t|is not|no longer|never|cannot|can'?t|unable|won'?t|didn'?t) ",
    "reproduce": r"\breproduc|\bsteps\b",
    "expected": r"\bexpect(ed|s)?\b|\bactual\b|\bshould\b",
    "regression": r"\bregression\b|\bused to\b|\b(since|after) (v?\d|version|upgrad|updat|install)|\bearlier version\b",
    "trying": r"\b(i'?m|i am|i was|i have been|i've been|we are|i) (trying|tried|try|want|wanted|need)\b|\btrying to\b",
    "build": r"\binstall|\bbuild(ing)?\b|\bcompil|\bcmake\b|\bpip\b|\bnpm\b",
    "solve": r"\bsame (problem|issue|error)\b|\bsolve|\bsolution\b|\bfix(ed)?\b",
    "my own": r"\bmy (code|project|app|application|model|computer|pc|laptop|machine|system)\b|\bi g[eo]t\b|\bgetting\b",
}
PHRASES = {name: re.compile(pattern) for name, pattern in _PHRASES.items()}
_TRACE = re.compile(r"\btraceback \(most|^\s{1,8}at \S|\bline \d|\b0x[0-9a-f]{6}", re.MULTILINE)


def cues_of(parts: Parts) -> frozenset[str]:
    """Return the cues that an issue shows, each with the part that shows it."""
    return frozenset((*_phrases(parts), *_shapes(parts)))


def _phrases(parts: Parts) -> Iterator[str]:
    opening = parts.prose[:OPENING]
    for name, pattern in PHRASES.items():
        if pattern.search(parts.title):
            yield f"title: {name}"
        if pattern.search(opening):
            yield f"opening: {name}"
            yield f"prose: {name}"
        elif pattern.search(parts.prose):
            yield f"prose: {name}"


def _shapes(parts: Parts) -> Iterator[str]:
    shapes = {
        "title: question mark": "?" in parts.title,
        "prose: question mark": "?" in parts.prose,
        "prose: question marks": parts.prose.count("?") > 1,
        "trace": bool(_TRACE.search(parts.whole)),
    }
    yield from (name for name, holds in shapes.items() if holds)
