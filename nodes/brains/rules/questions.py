"""The questions that are worth a person's time: only those whose answer can change the ranking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nodes.brains.rules.investigate import missing_from
from nodes.brains.rules.places import EQUAL, leading, plain_words, reason_kinds, rival, words_of
from nodes.context import Case
from nodes.evidence import Evidence
from nodes.guards import may_ask

WEAK = 0.35
"""Below this the first place is little more than a guess."""
THIN = 12
"""Words below which prose alone gives a search nothing to hold on to."""

_GENERIC = frozenset(
    """get set run init main handle handler util utils base core common helper helpers manager new make create from for
    with the and default impl internal index self test tests value values data item items object class func function
    method call process execute apply module src lib types type""".split()  # noqa: SIM905  easier to read and to diff
)
_GERUNDS = {
    word.replace("+", "").replace("-", "e"): word.replace("+", "ing").replace("-", "ing")
    for word in """import+ export+ read+ load+ sort+ filter+ render+ upload+ download+ install+ build+ open+ start+
    print+ format+ send+ fetch+ insert+ append+ edit+ search+ convert+ copy+ pars- writ- sav- clos- delet- updat-
    encod- decod- serializ- merg- compil- resolv- validat- resiz- remov- mov- renam- releas- stor-""".split()  # noqa: SIM905
}
"""Verbs that symbols start with, and how one says them: a plus for -ing, a minus for an e that gives way to it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question in the reporter's words, and for the maintainer why it is put."""

    text: str
    reason: str
    options: tuple[str, ...]
    context: str = ""


def next_question(case: Case) -> Question | None:
    """The first question that would help, was not put before, and still has somebody to answer it."""
    exchanges = case.state.human_exchanges
    if not may_ask(case.state) or case.state.redirect_instructions or any(one.withdrawn for one in exchanges):
        return None  # once a maintainer has said where to look, it is for them to ask
    put = {normalised(exchange.question) for exchange in exchanges}
    return next((question for question in _candidates(case) if normalised(question.text) not in put), None)


def normalised(question: str) -> str:
    """What makes two questions the same, as the supervisor compares them."""
    return " ".join("".join(c if c.isalnum() else " " for c in question.casefold()).split())


def is_thin(case: Case) -> bool:
    """Does the report give a search nothing but a few words?"""
    facts = case.facts
    return facts.words < THIN and not (
        facts.traces or facts.errors or facts.code_blocks or facts.symbols or facts.paths or facts.modules
    )


def is_guess(case: Case) -> bool:
    """Is the first place named though neither the report nor the place says why?

    However few places there are to choose from, and however likely that makes each of them.
    """
    found = leading(case)
    return is_thin(case) and not (found and reason_kinds(case, found[0].evidence))


def _candidates(case: Case) -> Iterator[Question]:
    found = leading(case)
    weak = not found or case.state.search_confidence < WEAK
    if (weak and is_thin(case)) or is_guess(case):
        yield _WHAT_HAPPENED
    other = rival(found)
    between = _between(case, found[0].evidence, other.evidence) if other is not None else None
    if between is not None:
        yield between
    if weak:
        lacks = missing_from(case, "bug")
        yield from (question for fact, question in _FOR_MISSING if any(fact in line for line in lacks))


_WHAT_HAPPENED = Question(
    text="What did you do just before it went wrong, and what did the program do then?",
    reason="The report is too short to search the code by.",
    options=(
        "It stops with an error message (please paste all of it)",
        "It finishes, but the result is wrong (please show the input and the result)",
        "It hangs, or takes far too long",
    ),
)
_FOR_MISSING = (
    (
        "error message",
        Question(
            text="What exactly does the program print when it fails? Please paste the whole message.",
            reason="The report speaks of an error without quoting it, and nothing else leads to one place in the code.",
            options=(
                "An error with a stack trace (please paste it)",
                "A single line (please paste it)",
                "Nothing at all",
            ),
        ),
    ),
    (
        "steps",
        Question(
            text="What are the steps, or the shortest piece of code, that show the problem?",
            reason="Without a name of a function, command or page the search has no place to start.",
            options=("I can paste code that shows it", "I can list the steps", "It happens only sometimes"),
        ),
    ),
)


def _between(case: Case, one_place: Evidence, other_place: Evidence) -> Question | None:
    """Tell two nearly equal suspects apart by what the reporter was doing."""
    first, second = words_of(one_place), words_of(other_place)
    said = set(plain_words(f"{case.title}\n{case.body}"))
    one, two = _own_words(first - second), _own_words(second - first)
    # If the issue uses the words of one side only, it has answered the question.
    if not one or not two or bool(said & set(one)) != bool(said & set(two)):
        return None
    here, there = _activity(one), _activity(two)
    return Question(
        text=f"Does it go wrong {here}, or {there}?",
        reason=f"Two places fit the report equally well (scores within {round(100 * (1 - EQUAL))} %).",
        options=(_capital(here), _capital(there), "Both, or I cannot tell"),
    )


def _own_words(words: frozenset[str]) -> list[str]:
    return sorted(
        (word for word in words if word.isalpha() and word not in _GENERIC), key=lambda w: (w not in _GERUNDS, w)
    )


def _activity(words: list[str]) -> str:
    first = words[0]
    rest = [word for word in words[1:] if not word.startswith(first)][:1]
    if first in _GERUNDS:
        return " ".join(("when", _GERUNDS[first], *rest))
    return f"in what has to do with “{' '.join(words[:2])}”"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
