"""Build what one run may call, and run the graph once without storing anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from bot.runs.promise import promise_of
from bot.settings.repository import RepositoryConfig
from nodes.brains.llm import LLMBrain
from nodes.context.agreement import load_fitted
from nodes.context.ports import Context, Signal
from nodes.evidence import Evidence
from nodes.graph import build_graph
from nodes.issue.facts import read_facts
from nodes.run import advance
from nodes.state import Answer, BugTriageState, Waiting
from nodes.state.checkpoints import serializer


def configured(context: Context, config: RepositoryConfig | None = None) -> Context:
    """Return the context of a run under a repository's configuration."""
    config, brain = config or RepositoryConfig(), context.brain
    learnt: dict[str, Any] = {}
    if isinstance(brain, LLMBrain):
        learnt = {"compress_from": brain.compress_from, "agreement": load_fitted(brain.agreement_file, brain.name)}
    return replace(
        context,
        facts=read_facts(context.title, context.body),
        language=config.language,
        claim_from=promise_of(config).claim_from,
        answers_questions=config.answer_questions,
        **learnt,
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
    """Run to the end; a question is withdrawn, since no one can answer it, and stays in the report."""
    # Checkpoints are needed even here, because a question interrupts the graph and the answer resumes it.
    graph = build_graph(InMemorySaver(serde=serializer()))
    return (await advance(graph, context, "ephemeral", start, _withdraw)).state


async def _withdraw(_waiting: Waiting) -> Answer:
    return Answer()
