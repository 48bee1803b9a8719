"""Triage a past issue blindly: on the history up to a commit, without a person who answers."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.document import Result, build_result
from bot.runs.code import EngineCode
from bot.runs.context import InMemoryEvidence, NoSignals, configured, run_to_completion
from nodes.brains.rules import RulesBrain
from nodes.context.brain import Brain
from nodes.context.ports import Context
from nodes.evidence import Evidence
from nodes.run import initial_state
from nodes.search.engine import Engine
from nodes.search.history.types import History, Spot
from nodes.search.types import Query, Ranking

Place = tuple[str, int, int]
"""A file and its lines, 1-based and inclusive."""


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
        report = self.result.report
        return "" if report.headline is None else report.facts[report.headline].kind


async def triage_blind(engine: Engine, title: str, body: str, commit: str, brain: Brain | None = None) -> BlindRun:
    """Run the graph on the history up to a commit. A question it asks is withdrawn; without a brain, rules judge."""
    started, rules = time.perf_counter(), RulesBrain()
    code, kept = _Code(engine, engine.commit(commit)), InMemoryEvidence()
    parts = Context(title, body, code, kept, brain or rules, rules, signals=NoSignals(), renderer=MarkdownRenderer())
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
