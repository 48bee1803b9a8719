"""A result as one JSON document, with the schema it keeps to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from nodes.evidence import Evidence, NumberedEvidence
from nodes.report import TriageReport
from nodes.state import BugTriageState, CriticVerdict, HumanExchange, Metrics, TraceEntry


class Result(BaseModel):
    """What ``triage run --format json`` prints: the report, how it came about, and what it cost."""

    model_config = ConfigDict(frozen=True)

    report: TriageReport
    questions: tuple[HumanExchange, ...] = ()
    critique: CriticVerdict | None = None
    """The critic's last verdict, with its gaps and the evidence that it requires; null if no critic ran."""
    trace: tuple[TraceEntry, ...] = ()
    metrics: Metrics = Metrics()
    evidence: tuple[str, ...] = ()
    """The keys of what was gathered, in the order of its numbers: the first is E1."""
    gathered: tuple[NumberedEvidence, ...] = ()
    """The evidence itself; filled where an explanation was asked for."""

    def numbered(self, known: Mapping[str, Evidence]) -> tuple[NumberedEvidence, ...]:
        """What is known of the evidence, under its short numbers."""
        keys = enumerate(self.evidence, 1)
        return tuple(NumberedEvidence(id=f"E{n}", evidence=known[key]) for n, key in keys if key in known)


def build_result(state: BugTriageState) -> Result:
    """The part of a finished state that is meant for others.

    Raises:
        ValueError: the run has no report.
    """
    if state.report is None:
        raise ValueError("the run has no report")
    return Result(
        report=state.report,
        questions=state.human_exchanges,
        critique=state.critic_feedback,
        trace=state.trace,
        metrics=state.metrics,
        evidence=state.evidence,
    )


def result_schema() -> dict[str, Any]:
    """The JSON Schema of a result."""
    schema = Result.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Tracehound triage result", **schema}
