"""Triage an issue without its fix, on the history up to one commit, and store the result durably."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from bot.cli.backtest.texts import Text
from bot.errors import UserError
from bot.report.comment.markdown import MarkdownRenderer
from bot.report.document import Result, build_result
from bot.runs.code import EngineCode
from bot.runs.context import InMemoryEvidence, NoSignals, configured, run_to_completion
from nodes.brains.rules import RulesBrain
from nodes.context import Brain, Context
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

    @property
    def lead(self) -> str:
        """The kind of the fact that leads the report; empty if none does."""
        report = self.result.report
        return "" if report.headline is None else report.facts[report.headline].kind


class BlindTriager:
    """Triages issues independently of each other. Only parsed code is reused from one issue to the next."""

    def __init__(self, engine: Engine) -> None:
        """Read one repository."""
        self._engine = engine
        self.repository = engine.repository
        self._rules = RulesBrain()

    async def triage(self, title: str, body: str, commit: str, brain: Brain | None = None) -> BlindRun:
        """Run the graph at a commit. A question it asks is withdrawn, because no person can answer.

        ``commit``: its history is all that the run may see. Without a brain, rules judge.
        """
        started = time.perf_counter()
        code, kept = _Code(self._engine, self._engine.commit(commit)), InMemoryEvidence()
        parts = Context(
            title, body, code, kept, brain or self._rules, self._rules, signals=NoSignals(), renderer=MarkdownRenderer()
        )
        state = await run_to_completion(configured(parts), initial_state(title, body, repository="", sha=code.sha))
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


@dataclass(frozen=True, slots=True)
class Scored:
    """One issue, its report at the commit before the fix, and what the fix changed."""

    number: int
    fix: str
    base: str
    title: str
    kind: str
    confidence: float
    """Confidence in the first file; 0 if none was named."""
    claims: bool
    """Whether a cause was claimed, not only a place to start reading."""
    gold: tuple[str, ...]
    """Source files that the fix changed."""
    ranked: tuple[str, ...]
    """The first files that were named, best first."""
    seconds: float
    calls: int = 0
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar, as far as models have prices."""
    fell_back: bool = False
    """Whether rules judged a part of the run because the model did not."""
    place_rank: int = 0
    """Rank of the first place that contains a line the fix changed, from 1; 0 if none does."""
    lead: str = ""
    """Kind of the fact that leads the report; empty if none does, and for cases of older releases."""
    opinions: dict[str, float] | None = None
    """How search and model rated the first file (``nodes.context.agreement``); None if no model read the code."""

    @property
    def rank(self) -> int:
        """Rank of the first file that the fix changed, from 1; 0 if none of the named files was changed."""
        return next((at for at, path in enumerate(self.ranked, 1) if path in self.gold), 0)

    @property
    def by_people(self) -> bool:
        """Whether a correction and not a fix names the files; the issue was triaged at the commit of its report."""
        return self.fix == self.base

    @property
    def right(self) -> bool:
        """Whether the fix changed the first file."""
        return self.rank == 1

    def document(self) -> dict[str, Any]:
        """Return the case as plain values."""
        return {**asdict(self), "gold": list(self.gold), "ranked": list(self.ranked), "rank": self.rank}

    @classmethod
    def load(cls, record: dict[str, Any]) -> Scored:
        """Read the values that ``document`` returned."""
        given = {name: record[name] for name in cls.__dataclass_fields__ if name in record}
        return cls(**{**given, "gold": tuple(given["gold"]), "ranked": tuple(given["ranked"])})


class Notes:
    """One file of JSON lines that are appended and synced. A line that was cut off by a kill is removed."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        """Open the file, or start a new one.

        Raises:
            UserError: the file cannot be written.
        """
        self.texts: dict[int, Text | None] = {}
        self.scored: dict[str, Scored] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if fresh:
                path.unlink(missing_ok=True)
            content = path.read_bytes() if path.exists() else b""
            whole = content[: content.rfind(b"\n") + 1]
            self._file = path.open("ab", buffering=0)
            # A kill can cut the last line. It is removed, or the next line would be appended to it.
            self._file.truncate(len(whole))
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}; set TRIAGE_DATA_DIR") from error
        for line in whole.splitlines():
            self._take(line)

    def store_scored(self, key: str, scored: Scored) -> None:
        """Store the result of a case durably."""
        self.scored[key] = scored
        self._append({"case": key, "scored": scored.document()})

    def store_text(self, number: int, text: Text | None) -> None:
        """Store GitHub's response for a number durably; None means that the number is not an issue."""
        self.texts[number] = text
        self._append({"number": number, "text": asdict(text) if text else None})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _take(self, line: bytes) -> None:
        try:
            payload = json.loads(line)
            if "case" in payload:
                self.scored[str(payload["case"])] = Scored.load(payload["scored"])
            else:
                self.texts[int(payload["number"])] = Text(**payload["text"]) if payload["text"] else None
        except (ValueError, KeyError, TypeError):
            return  # from another release, or damaged: it is computed again

    def _append(self, payload: dict[str, Any]) -> None:
        self._file.write(json.dumps(payload, ensure_ascii=True).encode() + b"\n")
        os.fsync(self._file.fileno())
