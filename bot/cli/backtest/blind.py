"""Triage an issue without its fix: run the whole graph on the history up to one commit."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.report.document import Result, build_result
from bot.runs.code import EngineCode
from bot.runs.context import InMemoryEvidence, build_context, run_to_completion
from nodes.brains.rules import RulesBrain
from nodes.context import Brain
from nodes.evidence import Evidence
from nodes.run import initial_state
from nodes.search.engine import Engine
from nodes.search.history.types import History, Spot
from nodes.search.types import Query, Ranking


class Place(NamedTuple):
    """Lines of a file, 1-based and inclusive."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class BlindRun:
    """The result of a run that could not read the fix."""

    result: Result
    evidence: Mapping[str, Evidence]
    """All gathered evidence, by its key."""
    order: tuple[str, ...]
    """The keys in the order of their short numbers."""
    ranked: tuple[str, ...]
    """Files in the order of confidence: the report's suspects, then the search's results."""
    places: tuple[Place, ...]
    """Places, in the same order."""
    seconds: float

    @property
    def confidence(self) -> float:
        """The value that decides whether the first file is claimed; 0 without suspects."""
        return self.result.report.claim_strength if self.result.report.suspects else 0.0


class BlindTriager:
    """Triages issues independently of each other. Only parsed code is reused from one issue to the next."""

    def __init__(self, engine: Engine) -> None:
        """Read one repository."""
        self._engine = engine
        self.repository = engine.repository
        self._rules = RulesBrain()

    async def triage(self, title: str, body: str, commit: str, brain: Brain | None = None) -> BlindRun:
        """Run the graph at a commit. A question it asks is withdrawn, because no person can answer.

        Args:
            title: the issue's title.
            body: the issue's text.
            commit: the commit whose history the run may see.
            brain: makes the judgements; None for the rules.
        """
        started = time.perf_counter()
        code, kept = _Code(self._engine, self._engine.commit(commit)), InMemoryEvidence()
        context = build_context(title, body, code=code, evidence=kept, brain=brain or self._rules, rules=self._rules)
        state = await run_to_completion(context, initial_state(title, body, repository="", sha=code.sha))
        result = build_result(state)
        named = [Place(suspect.path, suspect.start_line, suspect.end_line) for suspect in result.report.suspects]
        ranked = tuple(dict.fromkeys((*(place.path for place in named), *code.ranked)))
        places = tuple(dict.fromkeys((*named[:1], *code.places, *named)))
        seconds = time.perf_counter() - started
        return BlindRun(result, kept.items, state.evidence, ranked, places, seconds)


class _Code(EngineCode):
    """Records the search's ranking. Skips the history lookup: no fix shows whether suspect changes are right."""

    ranked: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()

    async def find(self, query: Query) -> Ranking:
        found = await super().find(query)
        self.ranked = tuple(hit.path for hit in found.files)
        self.places = tuple(Place(place.path, place.start_line, place.end_line) for place in found.locations)
        return found

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:  # noqa: ARG002  the port's signature
        return History()
