"""Attributes of a step that a trace may always contain: its route, timing and confidence, but no text of an issue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from nodes.guards import NOTHING_JOINED
from nodes.report import Kind
from nodes.state import NodeName, Tier

_DECISIONS = frozenset(
    {*get_args(NodeName), *get_args(Kind), "found", "nothing found", "failed", "joined", NOTHING_JOINED, "not asked"}
    | {"accept", "retry", "review", "APPROVED", "REJECTED", "asked", "answered", "withdrawn"}
)
"""All decisions that nodes write. Any other value is left out."""
ATTRIBUTES = tuple(
    f"triage.{name}"
    for name in ("decision", "guard", "confidence", "beside", "tier", "specialists", "failed", "sources", "overlap_ms")
)


def routing(outputs: Any) -> dict[str, str | float]:
    """Return the attributes of a node's span from its output; empty if the output is not a node's."""
    if not isinstance(outputs, Mapping):
        return {}
    return {f"triage.{name}": value for name, value in _facts(outputs) if value not in (None, "")}


def _facts(outputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if outputs.get("tier") in get_args(Tier):
        yield "tier", outputs["tier"]
    beside = outputs.get("also")
    if isinstance(beside, tuple) and beside:
        yield "beside", " ".join(str(name)[:40] for name in beside)
    entries = outputs.get("trace")
    if not isinstance(entries, tuple) or not entries:
        return
    entry = entries[-1]
    decision = getattr(entry, "decision", None)
    yield "decision", decision if decision in _DECISIONS else None
    yield "guard", getattr(entry, "guard", None)
    yield "confidence", getattr(entry, "confidence", None)
    counts = getattr(entry, "counts", {})
    yield from ((name, counts.get(name)) for name in ("specialists", "failed", "sources"))
    timing = getattr(entry, "timing", None)
    yield "overlap_ms", getattr(timing, "overlap_ms", None)
