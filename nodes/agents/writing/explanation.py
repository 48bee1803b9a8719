"""A model's explanation of a fault: what its reading of the code adds to a draft, and the places that it cites."""

from __future__ import annotations

from collections.abc import Mapping

from nodes.context import Case
from nodes.evidence import Evidence
from nodes.guards import progress
from nodes.judgements import CauseSentence, Draft, DraftSuspect, Submission
from nodes.report import Citation
from nodes.trust.prose import split
from nodes.trust.statements import cited_in

CAUSE_WORDS = 100
"""Maximum words of a cause; a comment shows all of it beside its verdict and places (SPEC section 5a)."""
_SUSPECTS = 5


def completed(draft: Draft, case: Case) -> Draft:
    """Return a writer's draft with what the reading of the code submitted and the draft leaves out.

    The model that read the code saw more of it than the writer, so nothing that it found is lost on the way.
    """
    given = case.state.submitted
    if given is None:
        return draft
    numbers = {item.evidence.key: item.id for item in case.evidence}
    places = [
        DraftSuspect(evidence=numbers[place.evidence], why=place.why)
        for place in given.places
        if place.evidence in numbers
    ]
    gathered = {item.id: item.evidence for item in case.evidence}
    named = [gathered[suspect.evidence] for suspect in draft.suspects if suspect.evidence in gathered]
    others = [place for place in places if not any(is_same_place(gathered[place.evidence], known) for known in named)]
    rival = rival_of(given, numbers)
    return draft.model_copy(
        update={
            "root_cause": draft.root_cause or cause_of(given, numbers),
            "suspects": (*draft.suspects, *others)[:_SUSPECTS],
            "ruled_out": draft.ruled_out or ((rival,) if rival else ()),
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
    # The support holds the reader's own number already.
    blank = {"root_cause": "", "suspects": (), "ruled_out": (), "how_to_confirm": "", "confidence": 1.0}
    return draft.model_copy(update={**blank, "verdict": given.verdict})


def is_same_place(one: Evidence, other: Evidence) -> bool:
    """Return whether two quotes are of one function or share lines."""
    here, there = one.locator, other.locator
    if here.path is None or here.path != there.path:
        return False
    shared = (here.start_line or 0) <= (there.end_line or 0) and (there.start_line or 0) <= (here.end_line or 0)
    return shared or (one.symbol is not None and one.symbol == other.symbol)


def cause_of(given: Submission, numbers: Mapping[str, str]) -> str:
    """Return a submitted cause as prose; each sentence cites the evidence that the run still has."""
    return " ".join(filter(None, (_cited(sentence, numbers) for sentence in given.cause)))


def rival_of(given: Submission, numbers: Mapping[str, str]) -> str:
    """Return the strongest other place and what speaks against it, cited; empty if either is missing."""
    rival = given.rival
    cited = [numbers[key] for key in (rival.evidence, given.against) if key in numbers] if rival is not None else []
    return (
        f"{rival.why.rstrip('.')} [{', '.join(dict.fromkeys(cited))}]."[:300] if rival and rival.why and cited else ""
    )


def _cited(sentence: CauseSentence, numbers: Mapping[str, str]) -> str:
    cited = [numbers[key] for key in sentence.evidence if key in numbers]
    text = sentence.text.strip().rstrip(".")
    return f"{text} [{', '.join(dict.fromkeys(cited))}]." if text and cited else ""


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
