"""The functions by which LangGraph merges what a node returns into the state, within the state's size limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from nodes.state import AgentFinding, Metrics, TraceEntry

T = TypeVar("T")

_WHOLE_FINDINGS = 3
_OLD_SUMMARY, _OLD_DETAILS, _OLD_LIST = 200, 60, 3
JOIN = "join"
"""The node that joins specialists that ran in parallel."""
_REMEMBERED, _IN_WORDS, _HINT = 6, 12, 40


def append(left: tuple[T, ...], right: tuple[T, ...]) -> tuple[T, ...]:
    """Append a node's values to the existing ones, which a checkpoint returns as a list."""
    return (*left, *right)


def shorten_old_findings(left: tuple[AgentFinding, ...], right: tuple[AgentFinding, ...]) -> tuple[AgentFinding, ...]:
    """Append findings, and shorten all but the newest ones to keep the state within its size limit.

    The supervisor has numbered the evidence of the older findings by then. Only the newest submission stays.
    """
    findings = (*left, *right)
    newest = max((number for number, finding in enumerate(findings) if finding.submitted is not None), default=-1)
    # Only runs with parallel specialists have so many findings that older ones must be cut further.
    is_long = any(finding.agent_name == JOIN for finding in findings)
    shortened = []
    for number, finding in enumerate(findings):
        cut: dict[str, object] = {} if number == newest or finding.submitted is None else {"submitted": None}
        if number < len(findings) - _WHOLE_FINDINGS:
            cut |= {"summary": finding.summary[:_OLD_SUMMARY], "details": finding.details[:_OLD_DETAILS]}
            cut |= {name: getattr(finding, name)[:_OLD_LIST] for name in ("relevant_files", "evidence")}
        if is_long and number < len(findings) - _REMEMBERED:
            cut |= {"summary": finding.summary[:_HINT], "details": ""}
        shortened.append(finding.model_copy(update=cut) if cut else finding)
    return tuple(shortened)


def shorten_old_entries(left: tuple[TraceEntry, ...], right: tuple[TraceEntry, ...]) -> tuple[TraceEntry, ...]:
    """Append to the trace; of a long one, and if specialists ran in parallel, the newest entries keep their full text.

    Runs with several entries per round, or that people directed again and again, would exceed the state's size limit.
    """
    entries = (*left, *right)
    if len(entries) <= 2 * _IN_WORDS and not any(entry.node == JOIN for entry in entries):
        return entries

    def shortened(entry: TraceEntry) -> TraceEntry:
        error = entry.error[:_HINT] if entry.error else None
        return entry.model_copy(update={"reason": entry.reason[:_HINT], "error": error, "looks": ()})

    return (*map(shortened, entries[:-_IN_WORDS]), *entries[-_IN_WORDS:])


def add(left: Metrics, right: Metrics) -> Metrics:
    """Merge a node's measurements into the run's metrics."""
    summed = ("confidence_history", "retry_reasons", "usage", "claims_dropped", "fallbacks")
    update: dict[str, object] = {name: getattr(left, name) + getattr(right, name) for name in summed}
    update |= {name: getattr(right, name) or getattr(left, name) for name in ("evaluation", "last_citation_audit")}
    return left.model_copy(update={**update, "remarks": tuple(dict.fromkeys((*left.remarks, *right.remarks)))})
