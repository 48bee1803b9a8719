"""One run of the graph from its start to its end that leaves nothing behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langgraph.checkpoint.memory import InMemorySaver

from nodes.checkpoints import serializer
from nodes.context import Context, Signal
from nodes.evidence import Evidence
from nodes.graph import build_graph
from nodes.run import Waiting, advance
from nodes.state import Answer, BugTriageState


class NoSignals:
    """Nobody interrupts a run that is nobody's issue."""

    async def unread(self, after: int) -> tuple[Signal, ...]:  # noqa: ARG002  the port's signature
        """Nothing, ever."""
        return ()


@dataclass
class EvidenceInMemory:
    """What was gathered, for as long as somebody holds it."""

    items: dict[str, Evidence] = field(default_factory=dict)

    async def put(self, evidence: Sequence[Evidence]) -> None:
        """Keep evidence by its key."""
        self.items.update({item.key: item for item in evidence})

    async def get(self, keys: Sequence[str]) -> Mapping[str, Evidence]:
        """What is known of these keys."""
        return {key: self.items[key] for key in keys if key in self.items}


async def run_through(context: Context, start: BugTriageState) -> BugTriageState:
    """Run to the end; a question that is asked is withdrawn, since nobody is there, and stays in the report."""
    graph = build_graph(InMemorySaver(serde=serializer()))
    outcome = await advance(graph, context, "unkept", start)
    while isinstance(outcome, Waiting):
        asked = outcome.exchange.question_id
        outcome = await advance(graph, context, "unkept", start, answer=Answer(), question_id=asked)
    return outcome.state
