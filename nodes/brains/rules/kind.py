"""What kind a run takes an issue for: the likeliest one, unless it may well be a bug."""

from __future__ import annotations

from nodes.facts import IssueFacts
from nodes.kinds import classify
from nodes.report import Kind

MAY_BE_A_BUG = 0.1
"""From this probability on an issue is searched for as a bug: a missed bug costs its reporter more than a search."""


def kind_of(title: str, body: str, facts: IssueFacts) -> Kind:
    """The kind that a run acts on; a stack trace is a bug's, whatever else the text says, but for a weakness."""
    found = classify(title, body)
    if found.kind == "security":
        return "security"
    if facts.traces:
        return "bug"
    if found.kind in ("docs", "spam"):
        return found.kind
    if found.shares["bug"] >= MAY_BE_A_BUG:
        return "bug"
    return "feature" if found.shares["feature"] >= found.shares["question"] else "question"
