"""Check a draft statement by statement: keep what its evidence supports, and drop the rest with a reason."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nodes.evidence import Evidence
from nodes.judgements import DraftSuspect
from nodes.sources import OUTSIDE
from nodes.trust.echo import IssueEcho, only_outside, only_reported
from nodes.trust.support import fault_of

HEDGES = (
    "insufficient evidence",
    "lack sufficient evidence",
    "partially covers",
    "not provided",
    "cannot provide",
)
"""Seed 002: sentences with these phrases claim nothing and need no citation."""

_CITED = re.compile(r"\bE\d{1,6}\b")
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,80})\](?!\()")
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z`\"'(\[])")


class Ground:
    """The basis of statements: the confirmed evidence, and the reporter's text."""

    def __init__(self, standing: Mapping[str, Evidence], issue: str) -> None:
        self._standing = standing
        self._issue = issue
        self._echo = IssueEcho(issue)

    def fault(self, statement: str, cited: Sequence[str]) -> str | None:
        """Return the reason why a statement that cites these numbers must not be published, or None."""
        if not set(cited) <= set(self._standing):
            return "evidence does not hold"
        named = [self._standing[name] for name in cited]
        if cited and only_reported(named):
            return "rests on the report alone"
        if cited and only_outside(named):
            return "rests alone on what stands outside the repository"
        if found := fault_of(statement, named, self._issue):
            return found
        return "the report says so itself" if self._echo.holds(statement) else None

    def headline_fault(self, verdict: str) -> str | None:
        """Return the same for a line that cites nothing and may name any confirmed evidence of the repository."""
        inside = [item for item in self._standing.values() if item.kind not in OUTSIDE]
        found = fault_of(verdict, inside, self._issue)
        return found or ("the report says so itself" if self._echo.holds(verdict) else None)

    def program_reason(self, number: str) -> str:
        """Return the search engine's reasons for a piece of evidence."""
        evidence = self._standing[number]
        own_reasons = [reason for reason in evidence.reasons if reason != f"in {evidence.locator.path}"]
        return "; ".join(own_reasons[:2])[:300]


def cited_in(text: str) -> list[str]:
    """Return the numbers of the evidence that a text cites in brackets, in order."""
    return [name for bracket in _BRACKETS.findall(text) for name in _CITED.findall(bracket)]


def sentences(text: str, ground: Ground) -> tuple[str, list[str], int]:
    """Return the supported sentences, the dropped ones with reasons, and the number of sentences without a citation."""
    kept: list[str] = []
    dropped: list[str] = []
    uncited = 0
    for sentence in filter(None, _SENTENCE_END.split(text.strip())):
        cited = cited_in(sentence)
        if not cited and not any(hedge in sentence.lower() for hedge in HEDGES):
            uncited += 1
            dropped.append(f"no evidence cited: {sentence}")
        elif fault := ground.fault(sentence, cited):
            dropped.append(f"{fault}: {sentence}")
        else:
            kept.append(sentence)
    return " ".join(kept), dropped, uncited


def reasons(suspects: Sequence[DraftSuspect], ground: Ground) -> tuple[tuple[DraftSuspect, ...], list[str]]:
    """Return the suspects, and the reasons that were replaced.

    A reason that claims more than its evidence supports is replaced by the program's own reason.
    """
    faults = [ground.fault(suspect.why, [suspect.evidence]) for suspect in suspects]
    kept = [
        suspect.model_copy(update={"why": ground.program_reason(suspect.evidence)}) if fault else suspect
        for suspect, fault in zip(suspects, faults, strict=True)
    ]
    return tuple(kept), [f"{fault}: {s.why}" for s, fault in zip(suspects, faults, strict=True) if fault]


def ruled_out(lines: Sequence[str], ground: Ground) -> tuple[tuple[str, ...], list[str]]:
    """Return the supported lines and the dropped ones; ruling a place out is a claim and needs evidence."""
    kept, dropped = [], []
    for line in lines:
        cited = cited_in(line)
        fault = ground.fault(line, cited) if cited else "no evidence cited"
        if fault:
            dropped.append(f"{fault}: {line}")
        else:
            kept.append(line)
    return tuple(kept), dropped


def headline(verdict: str, ground: Ground) -> tuple[str, list[str]]:
    """Return a verdict fit for the headline, or an empty one so that the program writes it, and what was dropped."""
    # The headline is shown without its evidence, so bracketed numbers are removed.
    plain = _BRACKETS.sub(lambda found: "" if _CITED.search(found[1]) else found[0], verdict).replace(" .", ".").strip()
    fault = ground.headline_fault(plain)
    return ("", [f"{fault}: {plain}"]) if fault else (plain, [])
