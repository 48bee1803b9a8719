"""The citation engine: every claim names gathered evidence, and the evidence still reads as quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from nodes.evidence import Evidence
from nodes.judgements import Draft, DraftSuspect
from nodes.report import CitationAudit
from nodes.trust.echo import Said, only_told
from nodes.trust.support import fault_of

FABRICATION_FACTOR = 0.5
"""Seed 002, citation engine: a citation of nothing halves the confidence."""
UNCITED_PENALTY = 0.03
"""Seed 002: three per cent a sentence without a citation …"""
MAX_UNCITED_PENALTY = 0.40
"""… and no more than forty per cent in all."""
HEDGES = (
    "insufficient evidence",
    "lack sufficient evidence",
    "partially covers",
    "not provided",
    "cannot provide",
)
"""Seed 002: sentences that claim nothing need no citation."""

_CITED = re.compile(r"\bE\d{1,6}\b")
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,80})\](?!\()")
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z`\"'(\[])")


class Source(Protocol):
    """The commit that was read, to read it again."""

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:
        """Verbatim lines (1-based, inclusive), or None where they do not exist."""

    async def subject(self, change: str) -> str | None:
        """The first line of a commit's message, or None where the history behind the commit holds no such one."""


class OtherIssues(Protocol):
    """The repository's other issues, to read them again."""

    async def title(self, url: str) -> str | None:
        """The title of the issue at an address, or None where there is none."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft with everything taken out that could not be confirmed."""

    draft: Draft
    audit: CitationAudit
    standing: frozenset[str]
    """Numbers of evidence that was re-read and reads as quoted."""


async def check(
    draft: Draft, evidence: Mapping[str, Evidence], source: Source, issue: str, others: OtherIssues | None = None
) -> Checked:
    """Re-read all that a draft cites and drop what fails.

    Args:
        draft: the brain's proposal.
        evidence: what was gathered, by short number.
        source: the run's commit.
        issue: title and body, where quotes of the issue must stand.
        others: the repository's other issues; without them nothing that is said of one holds.
    """
    cited = _citations(draft)
    fabricated = tuple(name for name in cited if name not in evidence)
    gathered = [name for name in cited if name in evidence]
    standing = frozenset([name for name in gathered if await stands(evidence[name], source, issue, others)])
    failed = tuple(name for name in gathered if name not in standing)
    held = _Held({name: evidence[name] for name in standing}, issue)
    kept, dropped, uncited = _sentences(draft.root_cause, held)
    suspects = tuple(suspect for suspect in draft.suspects if suspect.evidence in standing)
    gone = [f"suspect {s.evidence}: {_why_gone(s.evidence, fabricated)}" for s in draft.suspects if s not in suspects]
    reasoned, unfounded = _reasons(suspects, held)
    ruled_out, idle = _ruled_out(draft.ruled_out, held)
    verdict, untold = _headline(draft.verdict, held)
    clean = draft.model_copy(
        update={"root_cause": kept, "suspects": reasoned, "verdict": verdict, "ruled_out": ruled_out}
    )
    audit = CitationAudit(
        citations=len(cited),
        fabricated=fabricated,
        failed=failed,
        uncited_claims=uncited,
        dropped=tuple(line[:300] for line in (*dropped, *gone, *unfounded, *idle, *untold)),
    )
    return Checked(clean, audit, standing)


def penalised(raw: float, audit: CitationAudit) -> float:
    """Confidence after the citation engine (SPEC section 6): monotone in each fault, never above ``raw``."""
    fabrication = FABRICATION_FACTOR if audit.fabricated else 1.0
    return raw * fabrication * (1 - min(MAX_UNCITED_PENALTY, UNCITED_PENALTY * audit.uncited_claims))


def _citations(draft: Draft) -> tuple[str, ...]:
    texts = (draft.verdict, draft.root_cause, *draft.ruled_out)
    found = [name for text in texts for name in cited_in(text)]
    return tuple(dict.fromkeys((*found, *(suspect.evidence for suspect in draft.suspects))))


def cited_in(text: str) -> list[str]:
    """Numbers of the evidence that a text cites in brackets, in order."""
    return [name for bracket in _BRACKETS.findall(text) for name in _CITED.findall(bracket)]


def _uncite(text: str) -> str:
    """A headline stands alone: its bracketed numbers would mean nothing there."""
    return _BRACKETS.sub(lambda found: "" if _CITED.search(found[1]) else found[0], text).replace(" .", ".").strip()


async def stands(evidence: Evidence, source: Source, issue: str, others: OtherIssues | None = None) -> bool:
    """Whether evidence still reads as quoted where it says it stands."""
    where = evidence.locator
    if evidence.kind == "code":
        if where.path is None or where.start_line is None or where.end_line is None:
            return False
        return await source.read(where.path, where.start_line, where.end_line) == evidence.quote
    if evidence.kind == "commit":
        return where.sha is not None and await source.subject(where.sha) == evidence.quote
    if evidence.kind == "issue" and where.url is not None:
        return others is not None and await others.title(where.url) == evidence.quote
    if evidence.kind in ("issue", "trace"):
        return evidence.quote in issue
    return bool(evidence.quote)


class _Held:
    """What a sentence may rest on: the evidence that stands, and what the reporter wrote."""

    def __init__(self, standing: Mapping[str, Evidence], issue: str) -> None:
        self.standing = standing
        self._issue = issue
        self._said = Said(issue)

    def fault(self, sentence: str, cited: Sequence[str]) -> str | None:
        """Say why a sentence may not be published, given the standing evidence that it cites."""
        named = [self.standing[name] for name in cited]
        found = fault_of(sentence, named, self._issue)
        if found is None and self._said.holds(sentence):
            return "the report says so itself"
        return found


def _sentences(text: str, held: _Held) -> tuple[str, list[str], int]:
    """The sentences that hold, what was dropped with its reason, and how many cited nothing at all."""
    kept: list[str] = []
    dropped: list[str] = []
    uncited = 0
    for sentence in filter(None, _SENTENCE_END.split(text.strip())):
        cited = cited_in(sentence)
        if not cited and any(hedge in sentence.lower() for hedge in HEDGES):
            kept.append(sentence)
        elif not cited:
            uncited += 1
            dropped.append(f"no evidence cited: {sentence}")
        elif fault := _fault_of_cited(sentence, cited, held):
            dropped.append(f"{fault}: {sentence}")
        else:
            kept.append(sentence)
    return " ".join(kept), dropped, uncited


def _fault_of_cited(sentence: str, cited: Sequence[str], held: _Held) -> str | None:
    if not set(cited) <= set(held.standing):
        return "evidence does not hold"
    if only_told(held.standing[name] for name in cited):
        return "rests on the report alone"
    return held.fault(sentence, cited)


def _reasons(suspects: Sequence[DraftSuspect], held: _Held) -> tuple[tuple[DraftSuspect, ...], list[str]]:
    """Put the program's own reason where a suspect's says more than its evidence."""
    kept, dropped = [], []
    for suspect in suspects:
        fault = held.fault(suspect.why, [suspect.evidence])
        if fault:
            dropped.append(f"{fault}: {suspect.why}")
            evidence = held.standing[suspect.evidence]
            reasons = [reason for reason in evidence.reasons if reason != f"in {evidence.locator.path}"]
            suspect = suspect.model_copy(update={"why": "; ".join(reasons[:2])[:300]})  # noqa: PLW2901
        kept.append(suspect)
    return tuple(kept), dropped


def _ruled_out(lines: Sequence[str], held: _Held) -> tuple[tuple[str, ...], list[str]]:
    """To rule a place out is a claim like any other."""
    faults = {
        line: "no evidence cited" if not (c := cited_in(line)) else _fault_of_cited(line, c, held) for line in lines
    }
    return tuple(line for line in lines if not faults[line]), [
        f"{fault}: {line}" for line, fault in faults.items() if fault
    ]


def _headline(verdict: str, held: _Held) -> tuple[str, list[str]]:
    """The verdict as it may stand above the report, or none: then the program writes one."""
    plain = _uncite(verdict)
    fault = held.fault(plain, list(held.standing))
    return ("", [f"{fault}: {plain}"]) if fault else (plain, [])


def _why_gone(name: str, fabricated: tuple[str, ...]) -> str:
    return "no such evidence was gathered" if name in fabricated else "its lines do not read as quoted"
