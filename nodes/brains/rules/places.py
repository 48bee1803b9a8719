"""Rank the places that were found, and give the reasons for each."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from nodes.context.brain import Case
from nodes.evidence import Evidence, NumberedEvidence
from nodes.search.issue.query import COMPOUND, IDENTIFIER
from nodes.search.paths.roles import role_of
from nodes.search.tokens import WORD, plain_words, query_terms
from nodes.search.types import Frame

EQUAL = 0.95
"""Minimum ratio of two scores that count as nearly equal."""
_AGREES = 0.15
"""Added to a normalised score if a frame of the reporter's trace is in the same file."""
_NOT_AT_FAULT = frozenset({"test", "docs", "example", "vendored", "minified"})
_NAMED_BY_MAINTAINER = 1.0
"""Added if a maintainer named the place: more than all other signals together."""
_REASON_KINDS = (
    ("pointed", re.compile(r"\bpointed here\b|\bsaid to look here\b")),
    ("trace", re.compile(r"\bstack trace\b|\bframe\b", re.IGNORECASE)),
    ("phrase", re.compile(r"\bmessage\b|\bquotes\b", re.IGNORECASE)),
    ("symbol", re.compile(r"\bdefines\b|\bnamed\b|\bsymbol\b", re.IGNORECASE)),
    ("path", re.compile(r"\bnames this (file|module)\b|\bin its path\b|\bfile's name\b", re.IGNORECASE)),
    ("words", re.compile(r"\bwords\b|\bmentions\b", re.IGNORECASE)),
    ("neighbour", re.compile(r"\bimport", re.IGNORECASE)),
    ("history", re.compile(r"\bfix(es|ed)?\b|\bcommit|\bchanged\b", re.IGNORECASE)),
)
_UNINFORMATIVE = re.compile(
    r"^in .*\.\w{1,8}$|^outside any definition$|^defines nothing$|^represents its folder$"
    r"|rarely at fault$|^decides hardly"
)


def code_of(case: Case) -> tuple[NumberedEvidence, ...]:
    """Return the gathered code, results of the last search first."""
    code = [item for item in case.evidence if item.evidence.kind == "code" and item.evidence.locator.path]
    last = case.state.searches[-1].evidence if case.state.searches else ()
    return tuple(sorted(code, key=lambda item: item.evidence.key not in last))


def rank(case: Case, candidates: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    """Order by score and agreement with the reporter's frames; tests and documents come last."""

    def worth(item: NumberedEvidence) -> float:
        evidence = item.evidence
        score = evidence.score + _AGREES * (frame_in(case, evidence) is not None)
        # A test or a document comes before source code only if a maintainer named it.
        return score + _NAMED_BY_MAINTAINER * is_named_by_maintainer(evidence) - (not is_source(evidence))

    return tuple(sorted(candidates, key=lambda item: -worth(item)))


def leading(case: Case) -> tuple[NumberedEvidence, ...]:
    """Return the results of the last search in ranked order, without those of older searches."""
    code, last = code_of(case), case.state.searches[-1].evidence if case.state.searches else ()
    return rank(case, [item for item in code if item.evidence.key in last] or code)


def is_named_by_maintainer(evidence: Evidence) -> bool:
    """Return whether a maintainer named the place."""
    return any(kind_of_reason(text) == "pointed" for text in evidence.reasons)


def is_answered(case: Case, evidence: Evidence) -> bool:
    """Return whether an answer contains the symbol in its exact spelling; the search itself uses the issue only."""
    symbol = (evidence.symbol or "").rpartition(".")[2]
    if not COMPOUND.search(symbol):
        return False
    return any(symbol in IDENTIFIER.findall(exchange.answer or "") for exchange in case.state.human_exchanges)


def is_source(evidence: Evidence) -> bool:
    """Return whether it is code that can be at fault, not a test, an example or a document."""
    return role_of(evidence.locator.path or "") not in _NOT_AT_FAULT


def frame_in(case: Case, evidence: Evidence) -> Frame | None:
    """Return the innermost frame of the reporter's traces that is in this file."""
    parts = PurePosixPath(evidence.locator.path or "").parts
    for frame in (frame for trace in case.facts.traces for frame in trace.frames if frame.path):
        # A trace may contain the path of any machine, whose outer folders differ.
        written = PurePosixPath(frame.path).parts
        shared = min(len(parts), len(written), 3)
        if shared > 0 and parts[-shared:] == written[-shared:]:
            return frame
    return None


def reason_kinds(case: Case, evidence: Evidence) -> frozenset[str]:
    """Return the independent kinds of reasons that support a place."""
    found = {kind_of_reason(text) for text in evidence.reasons if not _UNINFORMATIVE.search(text)}
    if frame_in(case, evidence) is not None:
        found.add("trace")
    if is_answered(case, evidence):
        found.add("answer")
    return frozenset(found - {"neighbour"} if len(found) > 1 else found)


def why(case: Case, evidence: Evidence) -> str:
    """Return the reasons that people gave for a place: a redirect, an answer, a frame of the trace; empty if none."""
    reasons: dict[str, str] = {}
    if is_named_by_maintainer(evidence):
        reasons["pointed"] = next(text for text in evidence.reasons if kind_of_reason(text) == "pointed")
    if is_answered(case, evidence):
        reasons["answer"] = f"an answer names `{(evidence.symbol or '').rpartition('.')[2]}`"
    frame = frame_in(case, evidence)
    if frame is not None:
        reasons["trace"] = f"on the reporter's stack trace{f' at line {frame.line}' if frame.line else ''}"
    return "; ".join(reasons.values())[:300]


def kind_of_reason(text: str) -> str:
    """Return the kind of a reason, or the reason itself if its kind is unknown."""
    return next((kind for kind, pattern in _REASON_KINDS if pattern.search(text)), text)


def shared_words(case: Case, evidence: Evidence) -> set[str]:
    """Return the words that issue and quoted code share."""
    in_code = set(query_terms(f"{evidence.quote} {evidence.symbol or ''}"))
    words = {word.lower() for word in WORD.findall(f"{case.title}\n{case.body}")}
    plain = (word for word in words if 3 < len(word) <= 40 and "_" not in word)
    return {word for word in plain if set(query_terms(word)) & in_code}


def name(evidence: Evidence) -> str:
    """Return a place as it is written in a sentence."""
    path = f"`{evidence.locator.path}`"
    return f"`{evidence.symbol}` in {path}" if evidence.symbol else path


def words_of(evidence: Evidence) -> frozenset[str]:
    """Return the plain words of a place's symbol and file name."""
    stem = PurePosixPath(evidence.locator.path or "").stem
    return frozenset(plain_words(f"{evidence.symbol or ''} {stem}"))


def rival(ranked: Sequence[NumberedEvidence]) -> NumberedEvidence | None:
    """Return the best place of another file if its score is nearly equal to the first."""
    first = ranked[0].evidence if ranked else Evidence(kind="code")
    other = next((item for item in ranked if item.evidence.locator.path != first.locator.path), None)
    return other if other is not None and other.evidence.score >= EQUAL * first.score else None
