"""The citation engine: every claim names gathered evidence, and the evidence still reads as quoted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from nodes.evidence import Evidence
from nodes.judgements import Draft
from nodes.report import CitationAudit

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
    kept, dropped, uncited = _sentences(draft.root_cause, standing)
    suspects = tuple(suspect for suspect in draft.suspects if suspect.evidence in standing)
    gone = [f"suspect {s.evidence}: {_why_gone(s.evidence, fabricated)}" for s in draft.suspects if s not in suspects]
    clean = draft.model_copy(
        update={
            "root_cause": kept,
            "suspects": suspects,
            "verdict": _uncite(draft.verdict),
            "ruled_out": tuple(line for line in draft.ruled_out if set(_cited_in(line)) <= standing),
        }
    )
    audit = CitationAudit(
        citations=len(cited),
        fabricated=fabricated,
        failed=failed,
        uncited_claims=uncited,
        dropped=tuple(line[:300] for line in (*dropped, *gone)),
    )
    return Checked(clean, audit, standing)


def penalised(raw: float, audit: CitationAudit) -> float:
    """Confidence after the citation engine (SPEC section 6): monotone in each fault, never above ``raw``."""
    fabrication = FABRICATION_FACTOR if audit.fabricated else 1.0
    return raw * fabrication * (1 - min(MAX_UNCITED_PENALTY, UNCITED_PENALTY * audit.uncited_claims))


def _citations(draft: Draft) -> tuple[str, ...]:
    texts = (draft.verdict, draft.root_cause, *draft.ruled_out)
    found = [name for text in texts for name in _cited_in(text)]
    return tuple(dict.fromkeys((*found, *(suspect.evidence for suspect in draft.suspects))))


def _cited_in(text: str) -> list[str]:
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


def _sentences(text: str, standing: frozenset[str]) -> tuple[str, list[str], int]:
    """The sentences that hold, what was dropped with its reason, and how many cited nothing at all."""
    kept: list[str] = []
    dropped: list[str] = []
    uncited = 0
    for sentence in filter(None, _SENTENCE_END.split(text.strip())):
        cited = _cited_in(sentence)
        if not cited and any(hedge in sentence.lower() for hedge in HEDGES):
            kept.append(sentence)
        elif not cited:
            uncited += 1
            dropped.append(f"no evidence cited: {sentence}")
        elif set(cited) <= standing:
            kept.append(sentence)
        else:
            dropped.append(f"evidence does not hold: {sentence}")
    return " ".join(kept), dropped, uncited


def _why_gone(name: str, fabricated: tuple[str, ...]) -> str:
    return "no such evidence was gathered" if name in fabricated else "its lines do not read as quoted"
