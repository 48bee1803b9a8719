"""Run a backtest: from the fixes to the scored cases, stored one per line so that it can resume."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from bot.cli.backtest.blind import BlindTriager, Place
from bot.cli.backtest.corrections import corrected
from bot.cli.backtest.fixes import Fix, FixWithFiles, answers, changed_lines
from bot.cli.backtest.judges import Judge, Judging
from bot.cli.backtest.recording import digest
from bot.cli.backtest.score import PLACES, Scored, Used
from bot.cli.backtest.texts import Text, Texts, dump, load
from bot.errors import UserError
from bot.report.document import Result
from bot.store.runs.feedback import Correction
from nodes.search.engine import Engine
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.index.version import parser_version
from nodes.search.ranking.rank import load_weights


class Notes:
    """One file of JSON lines that are appended and synced. A line that was cut off by a kill is removed."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        """Open the file, or start a new one.

        Raises:
            UserError: the file cannot be written.
        """
        self.path = path
        self.texts: dict[int, Text | None] = {}
        self._scored: dict[str, Scored] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if fresh:
                path.unlink(missing_ok=True)
            self._read()
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}; set TRIAGE_DATA_DIR") from error

    def scored(self, key: str) -> Scored | None:
        """Return the result of a case that was run before under the same key; None otherwise."""
        return self._scored.get(key)

    def store_scored(self, key: str, scored: Scored) -> None:
        """Store the result of a case durably."""
        self._scored[key] = scored
        self._append({"case": key, "scored": scored.document()})

    def store_text(self, number: int, text: Text | None) -> None:
        """Store GitHub's response for a number durably; None means that the number is not an issue."""
        self._append({"number": number, "text": dump(text)})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        # A kill can cut the last line. It is removed, or the next line would be appended to it.
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for line in whole.splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            payload = json.loads(line)
            if "case" in payload:
                self._scored[str(payload["case"])] = Scored.load(payload["scored"])
            else:
                self.texts[int(payload["number"])] = load(payload["text"])
        except (ValueError, KeyError, TypeError):
            return  # from another release, or damaged: it is computed again

    def _append(self, payload: dict[str, Any]) -> None:
        self._file.write(json.dumps(payload, ensure_ascii=True).encode() + b"\n")
        os.fsync(self._file.fileno())


ProgressCallback = Callable[[int, int, str], None]
"""Progress callback: finished cases, all cases (0 while unknown) and the current step."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run."""

    fixes: Sequence[Fix]
    """Newest first."""
    limit: int
    """Maximum number of cases."""
    judges: Sequence[Judge]
    """Each judges every case."""
    corrections: Sequence[Correction] = ()
    """What people wrote about wrong reports; cases if no fix is known."""


@dataclass(frozen=True, slots=True)
class Case:
    """An issue, its fix, and the files that should have been named."""

    answered: FixWithFiles
    text: Text

    @property
    def identity(self) -> str:
        """A digest of what is judged."""
        fix = self.answered.fix
        return digest(str(fix.number), fix.landed.sha, fix.landed.parent, self.text.title, self.text.body)

    def key(self, judge: str) -> str:
        """Return a digest of everything that the result depends on, so results of another release are not reused."""
        return digest(self.identity, judge, repr(load_weights()), parser_version())


@dataclass
class Found:
    """The results of a backtest by one judge."""

    cases: list[Scored] = field(default_factory=list)
    """Newest fix first."""
    left_out: Counter[str] = field(default_factory=Counter)
    """The reasons why fixes could not be scored, with the number of each."""


async def backtest(
    engine: Engine, triager: BlindTriager, texts: Texts, notes: Notes, *, plan: Plan, on_progress: ProgressCallback
) -> list[Found]:
    """Collect the newest cases, then run them oldest first, so that little must be parsed from one commit to the next.

    Returns:
        The results of each judge, for the same issues in the same order.

    Raises:
        UserError: the texts cannot be read now, or a judge cannot judge.
    """
    left_out = Counter[str]()
    fixed = {fix.number for fix in plan.fixes}
    # First, because few people write corrections.
    by_people = corrected(engine.repository, plan.corrections, fixed, left_out)
    answered = chain(by_people, answers(engine.repository, plan.fixes))
    cases = await _collect(answered, texts, plan.limit, left_out, on_progress)
    found = [Found(left_out=left_out) for _ in plan.judges]
    for number, case in enumerate(reversed(cases)):
        on_progress(number, len(cases), f"#{case.answered.fix.number}")
        try:
            scored = [await _scored(engine.repository, triager, case, judge, notes) for judge in plan.judges]
        except SearchError as error:
            left_out[f"the commit before the fix cannot be read: {error}"[:200]] += 1
            continue
        for by_judge, one in zip(found, scored, strict=True):
            by_judge.cases.insert(0, one)
    on_progress(len(cases), len(cases), "")
    return found


async def _scored(repository: Repository, triager: BlindTriager, case: Case, judge: Judge, notes: Notes) -> Scored:
    """Return the stored result of a case, or run it and store the result."""
    key = case.key(judge.key)
    stored = notes.scored(key)
    if stored is not None and judge.has(case.identity):
        return stored
    async with judge.judging(case.identity, case.answered.fix.number) as judging:
        scored = await _run(repository, triager, case, judging)
    scored = replace(scored, model_seconds=judging.seconds)
    notes.store_scored(key, scored)
    return scored


async def _collect(
    answered: Iterator[FixWithFiles], texts: Texts, limit: int, left_out: Counter[str], on_progress: ProgressCallback
) -> list[Case]:
    cases: list[Case] = []
    for one in answered:
        if len(cases) >= limit:
            break
        if one.why_not:
            left_out[one.why_not] += 1
            continue
        on_progress(0, 0, f"reading #{one.fix.number}")
        text = await texts.of(one.fix)
        if text is None:
            left_out["no text found for that number, or it is a pull request"] += 1
        elif text.created > one.fix.landed.committed:
            left_out["the issue was opened after the fix"] += 1
        else:
            cases.append(Case(one, text))
    return cases


async def _run(repository: Repository, triager: BlindTriager, case: Case, judging: Judging) -> Scored:
    fix, text = case.answered.fix, case.text
    blind = await triager.triage(text.title, text.body, fix.landed.parent, judging.brain)
    lines = changed_lines(repository, fix.landed, case.answered.gold)
    report, usage = blind.result.report, blind.result.metrics.usage
    return Scored(
        number=fix.number,
        fix=fix.landed.sha,
        base=fix.landed.parent,
        title=text.title[:200],
        kind=report.kind,
        confidence=blind.confidence,
        claims=report.root_cause is not None,
        gold=case.answered.gold,
        ranked=blind.ranked[: max(PLACES)],
        seconds=round(blind.seconds, 3),
        calls=usage.calls,
        tokens=usage.input_tokens + usage.output_tokens,
        fell_back=bool(blind.result.metrics.fallbacks),
        place_rank=_place_rank(blind.places, lines),
        used=tuple(
            Used(model, used.calls, used.input_tokens, used.output_tokens, used.cached_tokens)
            for model, used in sorted(judging.used.items())
        ),
        engine_first=blind.engine_first,
        engine_confidence=blind.engine_confidence,
        model_confidence=_model_confidence(blind.result),
        opinions=_opinions(blind.result),
    )


def _model_confidence(result: Result) -> float | None:
    """Return the confidence of the last reading of code by a model."""
    read = [entry for entry in result.trace if entry.node == "codebase_search" and entry.judged_by != "rules"]
    return read[-1].scores.get("support", read[-1].confidence) if read else None


def _opinions(result: Result) -> dict[str, float] | None:
    """Return the opinions of the last reading of code by a model."""
    read = [entry.scores for entry in result.trace if entry.node == "codebase_search" and "support" in entry.scores]
    names = ("search", "model", "agree", "near", "read", "explained")
    if not read:
        return None
    verdicts = [one.decision for one in result.trace if one.node == "critic" and one.judged_by != "rules"]
    approved = float(verdicts[-1:] == ["APPROVED"])
    return {**{name: read[-1][name] for name in names if name in read[-1]}, "approved": approved}


def _place_rank(places: Sequence[Place], lines: Sequence[tuple[str, int, int]]) -> int:
    """Return the rank of the first place that contains a changed line, from 1; 0 if there is none."""
    for at, place in enumerate(places, 1):
        if any(path == place.path and first <= place.end and place.start <= last for path, first, last in lines):
            return at
    return 0
