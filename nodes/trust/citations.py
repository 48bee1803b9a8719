"""The citation engine: checks that every claim cites gathered evidence and that the evidence matches its quote."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nodes.context.ports import CodePort
from nodes.evidence import Evidence, as_lookup, call_of
from nodes.judgements import Draft
from nodes.report import CitationAudit
from nodes.trust.statements import EvidenceBasis, cited_in, headline, reasons, ruled_out, sentences

FABRICATION_FACTOR = 0.5
"""Factor on the confidence if a citation names evidence that does not exist (SPEC section 6)."""
UNCITED_PENALTY = 0.03
"""Reduction of the confidence for each sentence without a citation (a fraction)."""
MAX_UNCITED_PENALTY = 0.40
"""Maximum of these reductions together."""
TitleOf = Callable[[str], Awaitable[str | None]]
"""Reads the title of another issue of the repository again; None if no issue has this address."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A draft without the parts that could not be confirmed."""

    draft: Draft
    audit: CitationAudit
    standing: frozenset[str]
    """Numbers of evidence that was read again and matches its quote."""


async def check(
    draft: Draft, evidence: Mapping[str, Evidence], code: CodePort, issue: str, others: TitleOf | None = None
) -> Checked:
    """Read again what a draft cites, and drop what fails: what the issue lacks, and others' without ``others``."""
    texts = (draft.verdict, draft.root_cause, *draft.ruled_out)
    found = [name for text in texts for name in cited_in(text)]
    cited = tuple(dict.fromkeys((*found, *(suspect.evidence for suspect in draft.suspects))))
    fabricated = tuple(name for name in cited if name not in evidence)
    gathered = [name for name in cited if name in evidence]
    standing = frozenset([name for name in gathered if await still_matches(evidence[name], code, issue, others)])
    failed = tuple(name for name in gathered if name not in standing)
    # Only evidence that was read again supports a statement.
    basis = EvidenceBasis({name: evidence[name] for name in standing}, issue, evidence.values())
    kept, dropped, uncited = sentences(draft.root_cause, basis)
    suspects = tuple(suspect for suspect in draft.suspects if suspect.evidence in standing)
    removed_suspects = [
        f"suspect {name}: {'the evidence does not exist' if name in fabricated else 'its lines do not match the quote'}"
        for name in (item.evidence for item in draft.suspects if item not in suspects)
    ]
    reasoned, replaced = reasons(suspects, basis)
    supported_lines, dropped_lines = ruled_out(draft.ruled_out, basis)
    verdict, headlines = headline(draft.verdict, basis)
    checked = {"root_cause": kept, "suspects": reasoned, "verdict": verdict, "ruled_out": supported_lines}
    clean = draft.model_copy(update=checked)
    audit = CitationAudit(
        citations=len(cited),
        fabricated=fabricated,
        failed=failed,
        uncited_claims=uncited,
        dropped=tuple(line[:300] for line in (*dropped, *removed_suspects, *replaced, *dropped_lines, *headlines)),
    )
    return Checked(clean, audit, standing)


def penalised(raw: float, audit: CitationAudit) -> float:
    """Apply the citation penalties (SPEC section 6): the result falls with each fault and never exceeds ``raw``."""
    fabrication = FABRICATION_FACTOR if audit.fabricated else 1.0
    return raw * fabrication * (1 - min(MAX_UNCITED_PENALTY, UNCITED_PENALTY * audit.uncited_claims))


async def still_matches(evidence: Evidence, code: CodePort, issue: str, others: TitleOf | None = None) -> bool:
    """Return whether the text at the evidence's locator still matches its quote."""
    if evidence.kind in ("code", "commit", "lookup"):
        return await _read_again(evidence, code) == evidence.quote
    if evidence.kind == "issue" and evidence.locator.url is not None:
        return others is not None and await others(evidence.locator.url) == evidence.quote
    # Other kinds, from people and from outside sources, cannot be read again.
    return evidence.quote in issue if evidence.kind in ("issue", "trace") else bool(evidence.quote)


async def _read_again(evidence: Evidence, code: CodePort) -> str | None:
    where = evidence.locator
    if evidence.kind == "commit":
        return await code.subject(where.sha) if where.sha is not None else None
    if evidence.kind == "lookup":
        call = call_of(evidence)
        return as_lookup(call, await code.use_tool(call), where.sha or "").quote if call is not None else None
    if where.path is None or where.start_line is None or where.end_line is None:
        return None
    return await code.read(where.path, where.start_line, where.end_line)
