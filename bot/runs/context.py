"""Build what one run may call, and run the graph once without storing anything, also blindly on a past issue."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.document import Result, build_result
from bot.runs.code import EngineCode
from bot.runs.promise import promise_of
from bot.settings.repository import RepositoryConfig
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.context.agreement import load_fitted
from nodes.context.brain import Brain
from nodes.context.ports import Context
from nodes.evidence import Evidence
from nodes.graph import build_graph
from nodes.issue.facts import read_facts
from nodes.run import advance, initial_state
from nodes.search.engine import Engine
from nodes.search.history.types import History, Spot
from nodes.search.types import Query, Ranking
from nodes.state import Answer, BugTriageState, Waiting
from nodes.state.checkpoints import serializer

Place = tuple[str, int, int]
"""A file and its lines, 1-based and inclusive."""


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
    return (await advance(graph, context, "ephemeral", start, withdraw)).state


async def withdraw(_waiting: Waiting) -> Answer:
    """Return no answer, so the question remains in the result."""
    return Answer()


@dataclass(frozen=True, slots=True)
class BlindRun:
    """The result of a run that could not read the fix."""

    result: Result
    evidence: Mapping[str, Evidence]
    """All gathered evidence, by its short number."""
    ranked: tuple[str, ...]
    """Files in the order of confidence: the report's suspects, then the search's results."""
    places: tuple[Place, ...]
    """Places, in the same order."""
    seconds: float

    @property
    def confidence(self) -> float:
        """The value that decides whether the first file is claimed; 0 without suspects."""
        return self.result.report.claim_strength if self.result.report.suspects else 0.0

    @property
    def lead(self) -> str:
        """The kind of the fact that leads the report; empty if none does."""
        lead = self.result.report.lead
        return "" if lead is None else lead.kind


async def triage_blind(engine: Engine, title: str, body: str, commit: str, brain: Brain | None = None) -> BlindRun:
    """Run the graph on the history up to a commit. A question it asks is withdrawn; without a brain, rules judge."""
    started, rules = time.perf_counter(), RulesBrain()
    code, kept = _Code(engine, engine.commit(commit)), InMemoryEvidence()
    parts = Context(title, body, code, kept, brain or rules, rules, MarkdownRenderer())
    state = await run_to_completion(configured(parts), initial_state(title, body, repository="", sha=code.sha))
    result = build_result(state)
    named = [(suspect.path, suspect.start_line, suspect.end_line) for suspect in result.report.suspects]
    ranked = tuple(dict.fromkeys((*(path for path, _, _ in named), *code.ranked)))
    places = tuple(dict.fromkeys((*named[:1], *code.places, *named)))
    evidence = {f"E{number}": kept.items[key] for number, key in enumerate(state.evidence, 1) if key in kept.items}
    return BlindRun(result, evidence, ranked, places, time.perf_counter() - started)


class _Code(EngineCode):
    """Records the search's ranking. Skips the history lookup: no fix shows whether suspect changes are right."""

    ranked: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    async def find(self, query: Query) -> Ranking:
        found = await super().find(query)
        self.ranked = tuple(hit.path for hit in found.files)
        self.places = tuple((place.path, place.start_line, place.end_line) for place in found.locations)
        return found

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:  # noqa: ARG002  the port's signature
        return History()
