"""Build what one run may call, and run the graph once without storing anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langgraph.checkpoint.memory import InMemorySaver

from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.promise import promise_of
from bot.settings.repository import RepositoryConfig
from nodes.brains.llm import LLMBrain
from nodes.checkpoints import serializer
from nodes.context import (
    COMPRESS_FROM,
    AttachedText,
    Brain,
    CodePort,
    Context,
    EvidencePort,
    ExternalSources,
    IssueOrigin,
    LabelReader,
    Listener,
    PastPort,
    PicturePort,
    PullReader,
    Renderer,
    Signal,
    SignalPort,
    ignore_progress,
)
from nodes.context.agreement import load_fitted
from nodes.evidence import Evidence
from nodes.graph import build_graph
from nodes.issue.facts import read_facts
from nodes.run import advance_answered
from nodes.state import Answer, BugTriageState, Waiting


def build_context(
    title: str,
    body: str,
    *,
    code: CodePort,
    evidence: EvidencePort,
    brain: Brain,
    rules: Brain,
    config: RepositoryConfig | None = None,
    signals: SignalPort | None = None,
    renderer: Renderer | None = None,
    outside: ExternalSources | None = None,
    past: PastPort | None = None,
    pictures: PicturePort | None = None,
    labels: LabelReader | None = None,
    origin: IssueOrigin | None = None,
    pulls: PullReader | None = None,
    attached: tuple[AttachedText, ...] = (),
    listener: Listener = ignore_progress,
) -> Context:
    """Build the context of a run; ``Context`` describes its parts.

    Without ``config`` the defaults of a repository apply, without ``signals`` the run belongs to no issue, without
    ``renderer`` the comment has no links. ``config`` can disable the pictures that the operator enabled.
    """
    config = config or RepositoryConfig()
    return Context(
        title=title,
        body=body,
        code=code,
        evidence=evidence,
        brain=brain,
        rules=rules,
        signals=signals or NoSignals(),
        renderer=renderer or MarkdownRenderer(),
        outside=outside or ExternalSources(),
        past=past,
        pictures=pictures if config.pictures else None,
        listener=listener,
        facts=read_facts(title, body),
        labels=labels,
        origin=origin,
        pulls=pulls,
        attached=attached,
        language=config.language,
        compress_from=brain.compress_from if isinstance(brain, LLMBrain) else COMPRESS_FROM,
        agreement=load_fitted(brain.agreement_file, brain.name) if isinstance(brain, LLMBrain) else None,
        claim_from=promise_of(config).claim_from,
        answers_questions=config.answer_questions,
    )


class NoSignals:
    """The signals port of a run that belongs to no issue, so that no person can interrupt it."""

    async def unread(self, after: int) -> tuple[Signal, ...]:  # noqa: ARG002  the port's signature
        """Return no signals."""
        return ()


@dataclass
class InMemoryEvidence:
    """Evidence stored in memory, for the lifetime of this object."""

    items: dict[str, Evidence] = field(default_factory=dict)

    async def put(self, evidence: Sequence[Evidence]) -> None:
        """Store evidence by its key."""
        self.items.update({item.key: item for item in evidence})

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """Return the stored evidence for these keys."""
        return {key: self.items[key] for key in keys if key in self.items}


async def run_to_completion(context: Context, start: BugTriageState) -> BugTriageState:
    """Run to the end; a question is withdrawn, since no person is present, and stays in the report."""
    # Checkpoints are needed even here, because a question interrupts the graph and the answer resumes it.
    graph = build_graph(InMemorySaver(serde=serializer()))
    return (await advance_answered(graph, context, "ephemeral", start, _withdraw)).state


async def _withdraw(_waiting: Waiting) -> Answer:
    return Answer()
