"""Decide whether to ask, and what: only where the answer would change the ranking or the verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodes.brains.rules.suspects import latest_suspects
from nodes.context import Case
from nodes.evidence import Evidence
from nodes.guards import may_ask
from nodes.state import BugTriageState

CLEAR = 0.65
"""At this confidence no answer would change what is reported."""
THIN = 25
"""Words of prose under which an issue that names nothing cannot be searched by."""
EQUAL = 0.95
"""Score of the second place, as a share of the first, from which on they compete."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the reason for it and the answers it would decide between."""

    text: str
    reason: str
    options: tuple[str, ...]


def next_question(case: Case) -> Question | None:
    """The question whose answer would help most, or None where none would."""
    state = case.state
    if not may_ask(state) or state.search_confidence >= CLEAR:
        return None
    for question in (_what_happens(case), _which_of_two(case)):
        if question is not None and not _was_put(question.text, state):
            return question
    return None


def _what_happens(case: Case) -> Question | None:
    facts = case.facts
    named = facts.traces or facts.errors or facts.code_blocks or facts.symbols or facts.paths
    if named or facts.words >= THIN:
        return None
    return Question(
        "What exactly do you see when it goes wrong?",
        "The issue names no error, code or feature, so a search has nothing to hold on to.",
        (
            "An error message or stack trace (please paste it)",
            "A wrong result (what you got, and what you expected)",
            "It hangs or is slow (what you did just before)",
        ),
    )


def _which_of_two(case: Case) -> Question | None:
    suspects = latest_suspects(case)
    if len(suspects) < 2:
        return None
    first = suspects[0].evidence
    rivals = [s.evidence for s in suspects[1:4] if s.evidence.locator.path != first.locator.path]
    rival = next((evidence for evidence in rivals if evidence.score >= EQUAL * first.score), None)
    if rival is None:
        return None
    one, other = _in_words(first), _in_words(rival)
    if one == other:
        return None
    return Question(
        "Which of these is closer to what you were doing when it went wrong?",
        "Two parts of the code match the issue equally well; your answer decides which one is looked at.",
        (one, other, "Neither, or both"),
    )


def _in_words(evidence: Evidence) -> str:
    """A symbol and its file, as somebody would say it who does not know the code."""
    stem = (evidence.locator.path or "").rsplit("/", 1)[-1].split(".", 1)[0]
    name = (evidence.symbol or "").rsplit(".", 1)[-1]
    words = [word.lower() for part in (name, stem) for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", part)]
    return " ".join(dict.fromkeys(words)) or stem


def _was_put(text: str, state: BugTriageState) -> bool:
    return any(exchange.question == text for exchange in state.human_exchanges)
