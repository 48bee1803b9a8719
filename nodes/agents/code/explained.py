"""Decide whether a model's cause explains a fault: whether it follows the code and is about the report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodes.evidence import Evidence, NumberedEvidence
from nodes.judgements import CauseSentence, Submission
from nodes.search.facts.names.read_here import is_code
from nodes.search.issue.mentions.places import URL
from nodes.search.tokens import query_terms
from nodes.trust.statements import IssueEcho, names_in

_STEPS, _NAMES, _NEW, _QUOTED = 2, 2, 3, 0.25
"""Steps of an explanation, the names in each, and those of all that the report lacks, if there are so many; the largest
share of a step that may be the report's own words."""
_SHARED, _OF_TERMS = 2, 4
"""Terms of the report in the steps; a short report needs only one in so many of its terms."""
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Step:
    """A sentence of a cause with the code that it cites."""

    text: str
    code: frozenset[str]
    """The names of this code."""
    places: frozenset[str]
    said: frozenset[str]
    """The words that neither this code nor the report has: what the sentence says about both."""

    @property
    def names(self) -> frozenset[str]:
        """The names of the code that the sentence is about."""
        return names_in(self.text) & self.code


def is_explained(submitted: Submission | None, evidence: Mapping[str, NumberedEvidence], issue: str) -> bool:
    """Return whether a cause follows the code and is about the report.

    A sentence such as "this code decides it" suits any line and any report, so an approval of it says nothing. A cause
    explains if at least two of its sentences, about different lines of code that does something, name several things
    in these lines without quoting the report, some of which the report does not name; if they have some of the report's
    terms; and if they differ in more than the names, because one sentence about any three lines is no explanation.
    """
    cause = submitted.cause if submitted is not None else ()
    echo, reported = IssueEcho(issue), names_in(issue)
    steps: dict[frozenset[str], _Step] = {}
    for step in (_step(sentence, evidence, issue) for sentence in cause):
        if len(step.names) >= _NAMES and echo.share(step.text) <= _QUOTED:
            steps.setdefault(step.said, step)
    new = _all(step.names for step in steps.values()) - reported
    there = _all(step.code for step in steps.values()) - reported
    places = _all(step.places for step in steps.values())
    # Words of another script occur in no sentence about code.
    terms = {term for term in query_terms(URL.sub(" ", issue)) if term.isascii()}
    shared = len(query_terms(" ".join(step.text for step in steps.values())).keys() & terms)
    enough = len(steps) >= _STEPS and len(places) >= _STEPS and len(new) >= min(_NEW, len(there))
    return enough and shared >= min(_SHARED, len(terms) // _OF_TERMS)


def _step(sentence: CauseSentence, evidence: Mapping[str, NumberedEvidence], issue: str) -> _Step:
    # That something has no matches names no code, so it explains nothing by itself.
    cited = [evidence[name].evidence for name in sentence.evidence if name in evidence]
    cited = [item for item in cited if item.kind != "lookup"]
    own = [(_code_of(item), item) for item in cited]
    words = _words(sentence.text) - _words(issue).union(*(_words(f"{text} {item.symbol or ''}") for text, item in own))
    return _Step(
        sentence.text,
        _all(names_in(f"{text} {item.symbol or ''}") for text, item in own),
        frozenset(item.key for text, item in own if text),
        words,
    )


def _code_of(item: Evidence) -> str:
    """Return the quoted lines without comments and imports, which decide nothing; a commit's subject whole."""
    if item.kind != "code":
        return item.quote
    return "\n".join(line for line in item.quote.splitlines() if line.strip() and is_code(line))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def _all(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
