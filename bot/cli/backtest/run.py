"""Run a backtest: collect past fixes with their issues, and triage each issue at the commit before its fix."""

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from pydantic import BaseModel, ConfigDict, computed_field

from bot.cli.backtest.texts import Notes, PastText, Texts, open_texts, read_stored
from bot.report.document import Result
from bot.runs.context import triage_blind
from bot.runs.fixes import Fix, FixWithFiles, answers, changed_lines, corrected, read_fixes
from bot.runs.local import settings_hash
from bot.runs.model import check_brain, model_settings
from bot.settings.environment import Settings
from nodes.brains.calls.models import Models
from nodes.brains.screening import brain_of
from nodes.search.engine import Engine
from nodes.search.git.errors import SearchError
from nodes.search.index.loading import parser_version
from nodes.search.ranking.rank import load_weights

ProgressCallback = Callable[[int, int, str], None]
"""Progress callback: finished cases, all cases (0 while unknown) and the current step."""
MAX_TEXT = 131_072
"""Characters of an issue's text."""
_RANKED = 10
"""Files of a case that are stored."""


class PastCase(BaseModel):
    """One issue, its report at the commit before the fix, and what the fix changed."""

    model_config = ConfigDict(frozen=True)

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
    """Kind of the fact that leads the report; empty if none does."""
    opinions: dict[str, float] | None = None
    """How search and model rated the first file (``nodes.context.agreement``); None if no model read the code."""

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented form
    @property
    def rank(self) -> int:
        """Rank of the first file that the fix changed, from 1; 0 if none of the named files was changed."""
        return next((at for at, path in enumerate(self.ranked, 1) if path in self.gold), 0)

    @property
    def by_people(self) -> bool:
        """Whether a correction, not a fix, names the files; the issue was triaged at the commit of its report."""
        return self.fix == self.base

    @property
    def right(self) -> bool:
        """Whether the fix changed the first file."""
        return self.rank == 1


@dataclass
class Judge:
    """A judge of all cases, and its results."""

    name: str
    """``rules``, or the model that reads the code."""
    key: str
    """Identifies the judge and its settings in stored results."""
    models: Models | None = None
    """None if rules judge."""
    cases: list[PastCase] = field(default_factory=list)
    """Newest fix first."""


@dataclass(frozen=True, slots=True)
class BacktestResult:
    """The result of a backtest."""

    repository: str
    tip: str
    """The newest commit whose history was read."""
    texts: str
    """The source of the issue texts."""
    judges: tuple[Judge, ...]
    """The rules, then the model if one is configured, for the same issues in the same order."""
    left_out: Counter[str]
    """The reasons why fixes could not be scored, with the number of each."""


async def backtest(
    engine: Engine,
    tip: str,
    settings: Settings,
    on_progress: ProgressCallback,
    *,
    issues: Path | None = None,
    github: str | None = None,
    corrections: str | None = None,
    limit: int = 50,
) -> BacktestResult:
    """Run a backtest, or resume an earlier one of the same repository and texts where it stopped.

    The texts come from the file ``issues``, or from the repository ``github`` (owner/name); ``corrections`` names the
    repository on the server whose corrections are cases too. The newest ``limit`` cases run oldest first, so that
    little must be parsed from one commit to the next.

    Raises:
        UserError: texts, model or data directory are unusable; the message says what to do.
    """
    check_brain(settings)
    folder = _digest(str(engine.repository.directory), settings.github_api_url)
    notes, left_out = Notes(settings.triage_data_dir / "backtest" / folder), Counter[str]()
    people, stored = await read_stored(settings, corrections) if corrections else ((), {})
    async with open_texts(settings, notes, issues, github) as texts, _judges(settings) as judges:
        on_progress(0, 0, "reading the history")
        fixes = read_fixes(engine.repository, tip, github or corrections or "")
        # Corrections come first, because few people write them.
        by_people = corrected(engine.repository, people, {fix.number for fix in fixes}, left_out)
        answered = chain(by_people, answers(engine.repository, fixes))
        chosen = await _readable(answered, lambda fix: _text(fix, stored, texts), limit, left_out, on_progress)
        for number, (fixed, read) in enumerate(reversed(chosen)):
            on_progress(number, len(chosen), f"#{fixed.fix.number}")
            try:
                cases = [await _case(engine, fixed, read, judge, notes) for judge in judges]
            except SearchError as error:
                left_out[f"the commit before the fix cannot be read: {error}"[:200]] += 1
                continue
            for judge, case in zip(judges, cases, strict=True):
                judge.cases.insert(0, case)
        on_progress(len(chosen), len(chosen), "")
    source = f"from the server, else {texts.description}" if corrections else texts.description
    return BacktestResult(engine.repository.directory.name, tip, source, tuple(judges), left_out)


async def _text(fix: Fix, stored: Mapping[int, PastText], texts: Texts) -> PastText | None:
    return stored.get(fix.number) or await texts.of(fix)


async def _readable(
    answered: Iterable[FixWithFiles],
    read: Callable[[Fix], Awaitable[PastText | None]],
    limit: int,
    left_out: Counter[str],
    on_progress: ProgressCallback,
) -> list[tuple[FixWithFiles, PastText]]:
    """Return the first fixes whose issue has a text from before the fix; count why others are left out."""
    chosen: list[tuple[FixWithFiles, PastText]] = []
    for answer in answered:
        if len(chosen) >= limit:
            break
        on_progress(0, 0, f"reading #{answer.fix.number}")
        text = None if answer.why_not else await read(answer.fix)
        if text is None:
            left_out[answer.why_not or "no text found for that number, or it is a pull request"] += 1
        elif text.is_younger(answer.fix.landed.committed):
            left_out["the issue was opened after the fix"] += 1
        else:
            chosen.append((answer, text))
    return chosen


@asynccontextmanager
async def _judges(settings: Settings) -> AsyncIterator[list[Judge]]:
    rules = Judge("rules", "rules")
    if settings.brain == "rules":
        yield [rules]
        return
    # The table that the results are fitted to must not depend on an earlier fit.
    own = replace(model_settings(settings), agreement=None)
    spent = json.dumps((settings_hash(settings), own.level, repr(own.limits), own.max_output_tokens))
    async with aclosing(Models(own)) as models:
        yield [rules, Judge(own.default, _digest(spent), models)]


async def _case(engine: Engine, fixed: FixWithFiles, text: PastText, judge: Judge, notes: Notes) -> PastCase:
    """Return the stored result of an issue, or run it and store the result."""
    fix = fixed.fix
    # The key has everything that the result depends on, so results of another release are not reused.
    judged = (str(fix.number), fix.landed.sha, fix.landed.parent, text.title, text.body)
    key = _digest(*judged, judge.key, repr(load_weights()), parser_version())
    return notes.read(key, PastCase) or notes.store(key, await _judged(engine, fix, fixed.gold, text, judge.models))


async def _judged(engine: Engine, fix: Fix, gold: tuple[str, ...], text: PastText, models: Models | None) -> PastCase:
    # A budget for each issue: a run's limits are not for the whole backtest.
    budget = models.budget() if models else None
    brain = brain_of(models, budget) if models else None
    blind = await triage_blind(engine, text.title[:1_024], text.body[:MAX_TEXT], fix.landed.parent, brain)
    lines = changed_lines(engine.repository, fix.landed, gold)
    changed = (
        rank
        for rank, (path, start, end) in enumerate(blind.places, 1)
        if any(path == fixed and first <= end and start <= last for fixed, first, last in lines)
    )
    report, metrics = blind.result.report, blind.result.metrics
    return PastCase(
        number=fix.number,
        fix=fix.landed.sha,
        base=fix.landed.parent,
        title=text.title[:200],
        kind=report.kind,
        confidence=blind.confidence,
        claims=report.root_cause is not None,
        gold=gold,
        ranked=blind.ranked[:_RANKED],
        seconds=round(blind.seconds, 3),
        calls=metrics.usage.calls,
        tokens=metrics.usage.input_tokens + metrics.usage.output_tokens,
        cost=budget.cost if budget else 0,
        fell_back=bool(metrics.fallbacks),
        place_rank=next(changed, 0),
        lead=blind.lead,
        opinions=_opinions(blind.result),
    )


def _opinions(result: Result) -> dict[str, float] | None:
    """Return the opinions of the last reading of code by a model."""
    read = [entry.scores for entry in result.trace if entry.node == "codebase_search" and "support" in entry.scores]
    if not read:
        return None
    verdicts = [step.decision for step in result.trace if step.node == "critic" and step.judged_by != "rules"]
    names = ("search", "model", "agree", "near", "read", "explained")
    known = {name: read[-1][name] for name in names if name in read[-1]}
    return known | {"approved": float(verdicts[-1:] == ["APPROVED"])}


def _digest(*payload: str) -> str:
    return hashlib.sha256("\x00".join(payload).encode("utf-8", "surrogatepass")).hexdigest()[:16]
