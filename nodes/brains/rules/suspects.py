"""The places under suspicion, best first."""

from __future__ import annotations

from nodes.context import Case
from nodes.evidence import NumberedEvidence


def latest_suspects(case: Case) -> list[NumberedEvidence]:
    """What the last code search that found anything brought, in its order."""
    by_key = {item.evidence.key: item for item in case.evidence}
    for finding in reversed(case.state.findings):
        if finding.agent_name == "codebase_search" and finding.evidence:
            return [by_key[key] for key in finding.evidence if key in by_key]
    return []


def place(item: NumberedEvidence) -> str:
    """Path and symbol, as Markdown."""
    evidence = item.evidence
    symbol = f" — `{evidence.symbol}`" if evidence.symbol else ""
    return f"`{evidence.locator.path}`{symbol}"


def why(item: NumberedEvidence, most: int = 2) -> str:
    """The strongest reasons, in words."""
    return "; ".join(item.evidence.reasons[:most])
