"""A result as one JSON document, and its schema."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.release import schema_address
from bot.report.languages.catalogue import translator
from bot.report.languages.codes import ENGLISH
from nodes.described import Described
from nodes.evidence import Evidence, NumberedEvidence
from nodes.report import TriageReport
from nodes.state import BugTriageState, CriticVerdict, HumanExchange, Metrics, TraceEntry


class Result(BaseModel):
    """The output of ``triage run --format json``: the report, the steps that led to it, and its cost."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    report: TriageReport
    questions: tuple[HumanExchange, ...] = ()
    critique: CriticVerdict | None = None
    """The critic's last verdict, with its gaps and the evidence that it requires; null if no critic ran."""
    trace: tuple[TraceEntry, ...] = ()
    metrics: Metrics = Metrics()
    evidence: tuple[str, ...] = ()
    """The keys of the gathered evidence, in the order of its numbers: the first is E1."""
    gathered: tuple[NumberedEvidence, ...] = ()
    """The evidence itself; filled if an explanation was requested."""

    def numbered(self, known: Mapping[str, Evidence]) -> tuple[NumberedEvidence, ...]:
        """Return the evidence with its short numbers."""
        keys = enumerate(self.evidence, 1)
        return tuple(NumberedEvidence(id=f"E{n}", evidence=known[key]) for n, key in keys if key in known)


def build_result(state: BugTriageState, *, language: str = ENGLISH, posted: str = "") -> Result:
    """Return the public part of a finished state.

    A language without a catalogue means English. Without ``posted``, the comment as it was posted, the draft stays.

    Raises:
        ValueError: the run has no report.
    """
    if state.report is None:
        raise ValueError("the run has no report")
    write = translator(language)
    comment = posted or write(state.report.github_comment)
    return Result(
        report=state.report.model_copy(update={"github_comment": comment, "language": write.language}),
        questions=state.human_exchanges,
        critique=state.critic_feedback,
        trace=state.trace,
        metrics=state.metrics,
        evidence=state.evidence,
    )


def result_schema() -> dict[str, Any]:
    """Return the JSON Schema of a result."""
    schema = Result.model_json_schema(mode="serialization", schema_generator=Described)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema_address("triage-result"),
        "title": "Tracehound triage result",
        **schema,
    }
