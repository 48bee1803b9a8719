"""The questions that are worth a person's time: only those whose answer can change the ranking."""

from __future__ import annotations

from collections.abc import Iterator

from nodes.brains.rules.distinguish import Question, distinguishing_question
from nodes.brains.rules.missing import Need, open_needs
from nodes.brains.rules.places import leading, reason_kinds, rival
from nodes.context import Case
from nodes.guards import may_ask

WEAK = 0.35
"""Below this the first place is little more than a guess."""
THIN = 12
"""Words below which prose alone gives a search nothing to hold on to."""


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
    between = distinguishing_question(case, found[0].evidence, other.evidence) if other is not None else None
    if between is not None:
        yield between
    if weak:
        needs = open_needs(case)
        yield from (question for need, question in _FOR_NEED if need in needs)


_WHAT_HAPPENED = Question(
    text="What did you do just before it went wrong, and what did the program do then?",
    reason="The report is too short to search the code by.",
    options=(
        "It stops with an error message (please paste all of it)",
        "It finishes, but the result is wrong (please show the input and the result)",
        "It hangs, or takes far too long",
    ),
)
_FOR_NEED: tuple[tuple[Need, Question], ...] = (
    (
        "error",
        Question(
            text="What exactly does the program print when it fails? Please paste the whole message.",
            reason="The report mentions an error without quoting it, and nothing else leads to one place in the code.",
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
