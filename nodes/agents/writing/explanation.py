"""A model's explanation of a fault: whether it is one, what it adds to a draft, and the places that it cites."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodes.context.brain import Case
from nodes.evidence import Evidence, NumberedEvidence
from nodes.guards import progress
from nodes.judgements import CauseSentence, Draft, DraftSuspect, Submission
from nodes.report import Citation
from nodes.search.facts.names.read_here import is_code
from nodes.search.issue.mentions.places import URL
from nodes.search.tokens import LISTS, query_terms
from nodes.trust.prose import split
from nodes.trust.statements import IssueEcho, cited_in, names_in

CAUSE_WORDS = 100
"""Maximum words of a cause; a comment shows all of it with its verdict and places (SPEC section 5a)."""
_SUSPECTS = 5
_STEPS, _NAMES, _NEW, _QUOTED = 2, 2, 2, 0.25
"""Minimum numbers of steps of an explanation, of names in each, and of names in all that the report lacks; the largest
share of a step that may repeat the report."""
_SHARED, _OF_TERMS = 2, 4
"""Minimum number of the report's terms in the steps; for a short report, one in this many of its terms."""
_WORD = re.compile(r"[^\W\d_]+")
_OF_LANGUAGES = LISTS["of languages"]
"""Words of programming languages, which do not tell one line from another."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A sentence of a cause with the code that it cites."""

    text: str
    code: Mapping[str, str]
    """The cited lines that decide something, and their definition's name, by evidence."""
    files: Mapping[str, str | None]
    """The file of each piece of evidence."""
    known: frozenset[str]
    """The names in these lines."""

    @property
    def names(self) -> frozenset[str]:
        """Those of these names that the sentence contains."""
        return names_in(self.text) & self.known


def is_explained(submitted: Submission | None, evidence: Mapping[str, NumberedEvidence], issue: str) -> bool:
    """Return whether a cause follows the code and is about the report.

    A sentence such as "this code decides it" suits any line and any report, so an approval of it says nothing. A cause
    explains if at least two of its sentences, about different lines of code that does something, name several things
    in these lines without quoting the report, some of which the report does not name; if they have some of the report's
    terms, and the lines of the first place's file too; and if the sentences differ in more than the names, because one
    sentence about any three lines is not an explanation.
    """
    cause, places = (submitted.cause, submitted.places) if submitted is not None else ((), ())
    # Words of another script occur in no sentence about code.
    terms = {term for term in query_terms(URL.sub(" ", issue)) if term.isascii()}
    echo, reported = IssueEcho(issue), names_in(issue)
    every = [_step(sentence, evidence) for sentence in cause]
    steps: dict[frozenset[str], _Step] = {}
    for step in every:
        if len(step.names) >= _NAMES and echo.share(step.text) <= _QUOTED:
            # What the sentence says about the lines and the report: the words that neither has.
            own = _words(step.text) - _words(issue) - _words(" ".join(step.code.values()))
            steps.setdefault(own, step)
    new = frozenset[str]().union(*(step.names for step in steps.values())) - reported
    there = frozenset[str]().union(*(step.known for step in steps.values())) - reported
    cited = {key for step in steps.values() for key in step.code}
    shared = len(query_terms(" ".join(step.text for step in steps.values())).keys() & terms)
    enough = len(steps) >= _STEPS and len(cited) >= _STEPS and len(new) >= min(_NEW, len(there))
    # What other files do does not explain why this file is named.
    found = (evidence[place.evidence].evidence.locator.path for place in places if place.evidence in evidence)
    first = next(found, None)
    here = " ".join(text for step in every for key, text in step.code.items() if step.files[key] == first)
    is_here = not terms or bool(query_terms(here).keys() & terms)
    return enough and is_here and shared >= min(_SHARED, len(terms) // _OF_TERMS)


def _step(sentence: CauseSentence, evidence: Mapping[str, NumberedEvidence]) -> _Step:
    # That something has no matches names no code, so it explains nothing by itself.
    cited = [evidence[name].evidence for name in sentence.evidence if name in evidence]
    code = dict[str, str]()
    for item in cited:
        # Comments and imports decide nothing; a commit's subject counts whole.
        lines = item.quote.splitlines() if item.kind != "lookup" else []
        kept = "\n".join(line for line in lines if line.strip() and (item.kind != "code" or is_code(line)))
        code |= {item.key: f"{kept} {item.symbol or ''}"} if kept else {}
    files = {item.key: item.locator.path for item in cited}
    return _Step(sentence.text, code, files, names_in(" ".join(code.values())) - _OF_LANGUAGES)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORD.findall(text))


def completed(draft: Draft, case: Case) -> Draft:
    """Return a writer's draft with what the reading of the code submitted and the draft leaves out.

    The model that read the code saw more of it than the writer, so nothing that it found is lost on the way.
    """
    given = case.state.submitted
    if given is None:
        return draft
    gathered = {item.evidence.key: item for item in case.evidence}
    numbers = {key: item.id for key, item in gathered.items()}
    suspected = {suspect.evidence for suspect in draft.suspects}
    named = [item.evidence for item in case.evidence if item.id in suspected]
    others = [
        DraftSuspect(evidence=item.id, why=place.why)
        for place in given.places
        if (item := gathered.get(place.evidence)) and not any(is_same_place(item.evidence, other) for other in named)
    ]
    cause = " ".join(filter(None, (_cited(sentence.text, sentence.evidence, numbers) for sentence in given.cause)))
    rival = given.rival
    ruled_out = _cited(rival.why, (rival.evidence, given.against), numbers)[:300] if rival is not None else ""
    return draft.model_copy(
        update={
            "root_cause": draft.root_cause or cause,
            "suspects": (*draft.suspects, *others)[:_SUSPECTS],
            "ruled_out": draft.ruled_out or tuple(filter(None, (ruled_out,))),
            "how_to_confirm": draft.how_to_confirm or given.confirm,
        }
    )


def proposed(draft: Draft, case: Case) -> Draft | None:
    """Return the draft by rules with what the reading of the code concluded; None if a model has to write it.

    A submission with a verdict, a cause and places leaves a writer nothing to add, unless people or a rejected draft
    came after it. A critic's objection was answered by its reader.
    """
    given, state = case.state.submitted, case.state
    judged = state.critic_feedback.on_evidence if state.critic_feedback is not None else None
    if given is None or not (given.verdict and given.cause and given.places) or judged is None or state.best_draft:
        return None
    now = progress(state)
    if (judged.answers, judged.redirects) != (now.answers, now.redirects):
        return None
    # The support already includes the reader's own number.
    blank = {"root_cause": "", "suspects": (), "ruled_out": (), "how_to_confirm": "", "confidence": 1.0}
    return draft.model_copy(update={**blank, "verdict": given.verdict})


def is_same_place(one: Evidence, other: Evidence) -> bool:
    """Return whether two quotes are of one function or share lines."""
    here, there = one.locator, other.locator
    if here.path is None or here.path != there.path:
        return False
    shared = (here.start_line or 0) <= (there.end_line or 0) and (there.start_line or 0) <= (here.end_line or 0)
    return shared or (one.symbol is not None and one.symbol == other.symbol)


def _cited(text: str, keys: Iterable[str], numbers: Mapping[str, str]) -> str:
    """Return a sentence with the numbers of the evidence that the run still has; empty if it has none."""
    cited = dict.fromkeys(numbers[key] for key in keys if key in numbers)
    text = text.strip().rstrip(".")
    return f"{text} [{', '.join(cited)}]." if text and cited else ""


def within_words(cause: str) -> tuple[str, tuple[str, ...]]:
    """Return the first sentences of a cause that a comment has room for, and the others."""
    sentences, left = split(cause), CAUSE_WORDS
    for number, sentence in enumerate(sentences):
        left -= len(sentence.split())
        if left < 0 and number:
            return " ".join(sentences[:number]), tuple(sentences[number:])
    return cause, ()


def citations_of(text: str, evidence: Mapping[str, Evidence]) -> tuple[Citation, ...]:
    """Return the places of the evidence that a text cites, each once."""
    cited = ((name, evidence[name]) for name in dict.fromkeys(cited_in(text)) if name in evidence)
    return tuple(
        Citation(
            evidence=name,
            path=item.locator.path or "",
            start_line=item.locator.start_line or 0,
            end_line=item.locator.end_line or 0,
            change=(item.locator.sha or "") if item.kind == "commit" else "",
        )
        for name, item in cited
    )
