"""The citation engine: every claim names gathered evidence, and the evidence still reads as quoted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from nodes.evidence import Evidence
from nodes.judgements import Draft
from nodes.report import CitationAudit
from nodes.trust.statements import Ground, cited_in, headline, reasons, ruled_out, sentences

FABRICATION_FACTOR = 0.5
"""Seed 002, citation engine: a citation of nothing halves the confidence."""
UNCITED_PENALTY = 0.03
"""Seed 002: three per cent a sentence without a citation …"""
MAX_UNCITED_PENALTY = 0.40
"""… and no more than forty per cent in all."""


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
    ground = Ground({name: evidence[name] for name in standing}, issue)
    kept, dropped, uncited = sentences(draft.root_cause, ground)
    suspects = tuple(suspect for suspect in draft.suspects if suspect.evidence in standing)
    gone = [f"suspect {s.evidence}: {_why_gone(s.evidence, fabricated)}" for s in draft.suspects if s not in suspects]
    reasoned, unfounded = reasons(suspects, ground)
    others_out, idle = ruled_out(draft.ruled_out, ground)
    verdict, untold = headline(draft.verdict, ground)
    clean = draft.model_copy(
        update={"root_cause": kept, "suspects": reasoned, "verdict": verdict, "ruled_out": others_out}
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


def _why_gone(name: str, fabricated: tuple[str, ...]) -> str:
    return "no such evidence was gathered" if name in fabricated else "its lines do not read as quoted"
