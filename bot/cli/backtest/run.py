"""Run a backtest: collect past fixes with their issues, and triage each of them without its fix."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from bot.cli.backtest.blind import BlindTriager, Notes, Place, Scored
from bot.cli.backtest.texts import (
    FileTexts,
    GitHubTexts,
    MessageTexts,
    StoredTexts,
    Text,
    Texts,
    call_github,
    corrected,
    read_stored,
)
from bot.github.reader import IssueReader
from bot.report.document import Result
from bot.runs.fixes import FixWithFiles, answers, changed_lines, read_fixes
from bot.runs.local import settings_hash
from bot.runs.model import check_brain, model_settings
from bot.settings import Settings
from nodes.brains.calls.models import Models
from nodes.brains.screening import brain_of
from nodes.search.engine import Engine
from nodes.search.git.errors import SearchError
from nodes.search.index.loading import parser_version
from nodes.search.ranking.rank import load_weights

ProgressCallback = Callable[[int, int, str], None]
"""Progress callback: finished cases, all cases (0 while unknown) and the current step."""
_RANKED = 10
"""Files of a case that are stored."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``triage backtest``."""

    since: int = 0
    """Seconds since 1970."""
    issues: Path | None = None
    github: str | None = None
    limit: int = 50
    target: float = 0.8
    fresh: bool = False
    corrections: str | None = None
    """owner/name of the repository whose corrections on a server are cases too."""


@dataclass
class Judge:
    """A judge of all cases, and its results."""

    name: str
    """``rules``, or the model that reads the code."""
    key: str
    """Identifies the judge and its settings in stored results."""
    models: Models | None = None
    """None if rules judge."""
    cases: list[Scored] = field(default_factory=list)
    """Newest fix first."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a backtest."""

    repository: str
    tip: str
    """The newest commit whose history was read."""
    texts: str
    """The source of the issue texts."""
    target: float
    judges: tuple[Judge, ...]
    """The rules, then the model if one is configured, for the same issues in the same order."""
    left_out: Counter[str]
    """The reasons why fixes could not be scored, with the number of each."""


@dataclass(frozen=True, slots=True)
class _Case:
    answered: FixWithFiles
    text: Text

    def key(self, judge: Judge) -> str:
        """Return a digest of everything that the result depends on, so results of another release are not reused."""
        fix = self.answered.fix
        judged = (str(fix.number), fix.landed.sha, fix.landed.parent, self.text.title, self.text.body)
        return _digest(*judged, judge.key, repr(load_weights()), parser_version())


async def backtest(
    engine: Engine, tip: str, settings: Settings, asked: Options, on_progress: ProgressCallback
) -> Found:
    """Run a backtest, or resume an earlier one of the same repository and texts where it stopped.

    The newest cases run oldest first, so that little must be parsed from one commit to the next.

    Raises:
        UserError: texts, model or data directory are unusable; the message says what to do.
    """
    check_brain(settings)
    stored = await read_stored(settings, asked.corrections) if asked.corrections else None
    notes = Notes(_notes_path(engine, settings, asked), fresh=asked.fresh)
    left_out, triager = Counter[str](), BlindTriager(engine)
    try:
        async with _texts(asked, settings, notes) as other, _judges(settings) as judges:
            texts = StoredTexts(stored.texts, other) if stored else other
            on_progress(0, 0, "reading the history")
            fixes = read_fixes(engine.repository, tip, asked.github or asked.corrections or "", asked.since)
            fixed = {fix.number for fix in fixes}
            # First, because few people write corrections.
            by_people = corrected(engine.repository, stored.corrections if stored else (), fixed, left_out)
            answered = chain(by_people, answers(engine.repository, fixes))
            cases = await _collect(answered, texts, asked.limit, left_out, on_progress)
            for number, case in enumerate(reversed(cases)):
                on_progress(number, len(cases), f"#{case.answered.fix.number}")
                try:
                    scored = [await _scored(triager, case, judge, notes) for judge in judges]
                except SearchError as error:
                    left_out[f"the commit before the fix cannot be read: {error}"[:200]] += 1
                    continue
                for judge, one in zip(judges, scored, strict=True):
                    judge.cases.insert(0, one)
            on_progress(len(cases), len(cases), "")
    finally:
        notes.close()
    name = engine.repository.directory.name
    return Found(name, tip, texts.description, asked.target, tuple(judges), left_out)


@asynccontextmanager
async def _judges(settings: Settings) -> AsyncIterator[list[Judge]]:
    rules = Judge("rules", "rules")
    if settings.brain == "rules":
        yield [rules]
        return
    # The table that the results are fitted to must not depend on an earlier fit.
    own = replace(model_settings(settings), agreement=None)
    models = Models(own)
    spent = json.dumps((settings_hash(settings), own.level, repr(own.limits), own.max_output_tokens))
    try:
        yield [rules, Judge(own.default, _digest(spent), models)]
    finally:
        await models.aclose()


@asynccontextmanager
async def _texts(asked: Options, settings: Settings, notes: Notes) -> AsyncIterator[Texts]:
    if asked.issues is not None:
        yield FileTexts(asked.issues)
    elif asked.github is None:
        yield MessageTexts()
    else:
        token = settings.github_token.get_secret_value() if settings.github_token else ""
        async with aclosing(IssueReader(asked.github, api_url=settings.github_api_url, token=token)) as reader:
            await call_github(reader.id())
            yield GitHubTexts(reader, asked.github, notes.texts, notes.store_text)


async def _collect(
    answered: Iterable[FixWithFiles], texts: Texts, limit: int, left_out: Counter[str], on_progress: ProgressCallback
) -> list[_Case]:
    cases: list[_Case] = []
    for answer in answered:
        if len(cases) >= limit:
            break
        if answer.why_not:
            left_out[answer.why_not] += 1
            continue
        on_progress(0, 0, f"reading #{answer.fix.number}")
        text = await texts.of(answer.fix)
        if text is None:
            left_out["no text found for that number, or it is a pull request"] += 1
        elif text.created > answer.fix.landed.committed:
            left_out["the issue was opened after the fix"] += 1
        else:
            cases.append(_Case(answer, text))
    return cases


async def _scored(triager: BlindTriager, case: _Case, judge: Judge, notes: Notes) -> Scored:
    """Return the stored result of a case, or run it and store the result."""
    key = case.key(judge)
    if key not in notes.scored:
        notes.store_scored(key, await _run(triager, case, judge.models))
    return notes.scored[key]


async def _run(triager: BlindTriager, case: _Case, models: Models | None) -> Scored:
    fix, text = case.answered.fix, case.text
    # A budget for each issue: a run's limits are not for the whole backtest.
    budget = models.budget() if models else None
    brain = brain_of(models, budget) if models else None
    blind = await triager.triage(text.title, text.body, fix.landed.parent, brain)
    lines = changed_lines(triager.repository, fix.landed, case.answered.gold)
    report, metrics = blind.result.report, blind.result.metrics
    return Scored(
        number=fix.number,
        fix=fix.landed.sha,
        base=fix.landed.parent,
        title=text.title[:200],
        kind=report.kind,
        confidence=blind.confidence,
        claims=report.root_cause is not None,
        gold=case.answered.gold,
        ranked=blind.ranked[:_RANKED],
        seconds=round(blind.seconds, 3),
        calls=metrics.usage.calls,
        tokens=metrics.usage.input_tokens + metrics.usage.output_tokens,
        cost=budget.cost if budget else 0,
        fell_back=bool(metrics.fallbacks),
        place_rank=_place_rank(blind.places, lines),
        lead=blind.lead,
        opinions=_opinions(blind.result),
    )


def _opinions(result: Result) -> dict[str, float] | None:
    """Return the opinions of the last reading of code by a model."""
    read = [entry.scores for entry in result.trace if entry.node == "codebase_search" and "support" in entry.scores]
    names = ("search", "model", "agree", "near", "read", "explained")
    if not read:
        return None
    verdicts = [step.decision for step in result.trace if step.node == "critic" and step.judged_by != "rules"]
    approved = float(verdicts[-1:] == ["APPROVED"])
    return {**{name: read[-1][name] for name in names if name in read[-1]}, "approved": approved}


def _place_rank(places: Sequence[Place], lines: Sequence[tuple[str, int, int]]) -> int:
    """Return the rank of the first place that contains a changed line, from 1; 0 if there is none."""
    for at, place in enumerate(places, 1):
        if any(path == place.path and first <= place.end and place.start <= last for path, first, last in lines):
            return at
    return 0


def _notes_path(engine: Engine, settings: Settings, asked: Options) -> Path:
    """Return the notes file: one per repository and source of texts. The keys of cases cover the texts themselves."""
    name = _digest(str(engine.repository.directory), settings.github_api_url, asked.github or "")
    return settings.triage_data_dir / "backtest" / f"{name}.jsonl"


def _digest(*payload: str) -> str:
    return hashlib.sha256("\x00".join(payload).encode("utf-8", "surrogatepass")).hexdigest()[:16]
