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

_STEPS, _NAMES, _NEW, _QUOTED = 2, 2, 2, 0.25
"""Steps of an explanation, the names in each, and those of all that the report lacks, if there are so many; the largest
share of a step that may be the report's own words."""
_SHARED, _OF_TERMS = 2, 4
"""Terms of the report in the steps; a short report needs only one in so many of its terms."""
_WORD = re.compile(r"[^\W\d_]+")
_OF_LANGUAGES = frozenset(
    """assert async await bool boolean break case catch char class const continue default defer delete double elif else
    enum except export extends extern false final finally float from func function global goto impl implements import
    inline instanceof interface lambda local long loop match module mutable namespace none null nullptr override package
    pass private protected public raise range return select self short signed static string struct super switch
    template this throw throws trait true typedef typename typeof undefined unsafe unsigned using virtual void volatile
    where while with yield""".split()
)
"""Words of programming languages, which name nothing that is in one line and not in another."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A sentence of a cause with the code that it cites."""

    text: str
    code: Mapping[str, str]
    """The cited lines that decide something, and their definition's name, by evidence."""
    files: Mapping[str, str | None]
    """The file of each."""
    statement: frozenset[str]
    """The words that neither these lines nor the report have: what the sentence says about both."""

    @property
    def known(self) -> frozenset[str]:
        """The names in these lines."""
        return names_in(" ".join(self.code.values())) - _OF_LANGUAGES

    @property
    def names(self) -> frozenset[str]:
        """Those of them that the sentence is about."""
        return names_in(self.text) & self.known


def is_explained(submitted: Submission | None, evidence: Mapping[str, NumberedEvidence], issue: str) -> bool:
    """Return whether a cause follows the code and is about the report.

    A sentence such as "this code decides it" suits any line and any report, so an approval of it says nothing. A cause
    explains if at least two of its sentences, about different lines of code that does something, name several things
    in these lines without quoting the report, some of which the report does not name; if they have some of the report's
    terms, and the lines of the first place's file too; and if the sentences differ in more than the names, because one
    sentence about any three lines is no explanation.
    """
    cause, places = (submitted.cause, submitted.places) if submitted is not None else ((), ())
    # Words of another script occur in no sentence about code.
    terms = {term for term in query_terms(URL.sub(" ", issue)) if term.isascii()}
    echo, reported = IssueEcho(issue), names_in(issue)
    every = [_step(sentence, evidence, issue) for sentence in cause]
    steps: dict[frozenset[str], _Step] = {}
    for step in every:
        if len(step.names) >= _NAMES and echo.share(step.text) <= _QUOTED:
            steps.setdefault(step.statement, step)
    new = _all(step.names for step in steps.values()) - reported
    there = _all(step.known for step in steps.values()) - reported
    cited = {key for step in steps.values() for key in step.code}
    shared = len(query_terms(" ".join(step.text for step in steps.values())).keys() & terms)
    enough = len(steps) >= _STEPS and len(cited) >= _STEPS and len(new) >= min(_NEW, len(there))
    # What other files do is no reason to name this one.
    first = next(
        (evidence[place.evidence].evidence.locator.path for place in places if place.evidence in evidence), None
    )
    here = " ".join(text for step in every for key, text in step.code.items() if step.files[key] == first)
    is_here = not terms or bool(query_terms(here).keys() & terms)
    return enough and is_here and shared >= min(_SHARED, len(terms) // _OF_TERMS)


def _step(sentence: CauseSentence, evidence: Mapping[str, NumberedEvidence], issue: str) -> _Step:
    # That something has no matches names no code, so it explains nothing by itself.
    cited = [evidence[name].evidence for name in sentence.evidence if name in evidence]
    code = {item.key: f"{text} {item.symbol or ''}" for item in cited if (text := _code_of(item))}
    statement = _words(sentence.text) - _words(issue) - _words(" ".join(code.values()))
    return _Step(sentence.text, code, {item.key: item.locator.path for item in cited}, statement)


def _code_of(item: Evidence) -> str:
    """Return the quoted lines without comments and imports, which decide nothing; a commit's subject whole."""
    if item.kind == "lookup":
        return ""
    lines = item.quote.splitlines()
    return "\n".join(line for line in lines if line.strip() and (item.kind != "code" or is_code(line)))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def _all(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
