"""Run a backtest: collect past fixes with their issues, and triage each issue at the commit before its fix."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from bot.cli.backtest.case import Case, Notes
from bot.cli.backtest.texts import (
    Text,
    Texts,
    call_github,
    corrected,
    file_texts,
    github_texts,
    message_texts,
    read_stored,
)
from bot.report.comment.markdown import MarkdownRenderer
from bot.report.document import Result, build_result
from bot.runs.code import EngineCode
from bot.runs.context import InMemoryEvidence, NoSignals, configured, run_to_completion
from bot.runs.fixes import FixWithFiles, answers, changed_lines, read_fixes
from bot.runs.local import settings_hash
from bot.runs.model import check_brain, model_settings
from bot.runs.remote import opened
from bot.settings import Settings
from nodes.brains.calls.models import Models
from nodes.brains.rules import RulesBrain
from nodes.brains.screening import brain_of
from nodes.context import Brain, Context
from nodes.evidence import Evidence
from nodes.run import initial_state
from nodes.search.engine import Engine
from nodes.search.git.errors import SearchError
from nodes.search.history.types import History, Spot
from nodes.search.index.loading import parser_version
from nodes.search.ranking.rank import load_weights
from nodes.search.types import Query, Ranking

ProgressCallback = Callable[[int, int, str], None]
"""Progress callback: finished cases, all cases (0 while unknown) and the current step."""
Place = tuple[str, int, int]
"""A file and its lines, 1-based and inclusive."""
_RANKED = 10
"""Files of a case that are stored."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``triage backtest``."""

    issues: Path | None = None
    github: str | None = None
    limit: int = 50
    target: float = 0.8
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
    cases: list[Case] = field(default_factory=list)
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
    return BlindRun(result, kept.items, state.evidence, ranked, places, time.perf_counter() - started)


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


@dataclass(frozen=True, slots=True)
class _Issue:
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
    folder = _digest(str(engine.repository.directory), settings.github_api_url)
    notes, left_out = Notes(settings.triage_data_dir / "backtest" / folder), Counter[str]()
    async with _texts(asked, settings, notes) as other, _judges(settings) as judges:
        texts = stored.before(other) if stored else other
        on_progress(0, 0, "reading the history")
        fixes = read_fixes(engine.repository, tip, asked.github or asked.corrections or "")
        fixed = {fix.number for fix in fixes}
        # First, because few people write corrections.
        by_people = corrected(engine.repository, stored.corrections if stored else (), fixed, left_out)
        answered = chain(by_people, answers(engine.repository, fixes))
        issues = await _collect(answered, texts, asked.limit, left_out, on_progress)
        for number, issue in enumerate(reversed(issues)):
            on_progress(number, len(issues), f"#{issue.answered.fix.number}")
            try:
                cases = [await _case(engine, issue, judge, notes) for judge in judges]
            except SearchError as error:
                left_out[f"the commit before the fix cannot be read: {error}"[:200]] += 1
                continue
            for judge, case in zip(judges, cases, strict=True):
                judge.cases.insert(0, case)
        on_progress(len(issues), len(issues), "")
    return Found(engine.repository.directory.name, tip, texts.description, asked.target, tuple(judges), left_out)


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


@asynccontextmanager
async def _texts(asked: Options, settings: Settings, notes: Notes) -> AsyncIterator[Texts]:
    if asked.issues is not None:
        yield file_texts(asked.issues)
    elif asked.github is None:
        yield message_texts()
    else:
        token = settings.github_token.get_secret_value() if settings.github_token else ""
        async with opened(asked.github, settings, token) as client:
            await call_github(client.id())
            yield github_texts(client, asked.github, notes)


async def _collect(
    answered: Iterable[FixWithFiles], texts: Texts, limit: int, left_out: Counter[str], on_progress: ProgressCallback
) -> list[_Issue]:
    issues: list[_Issue] = []
    for answer in answered:
        if len(issues) >= limit:
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
            issues.append(_Issue(answer, text))
    return issues


async def _case(engine: Engine, issue: _Issue, judge: Judge, notes: Notes) -> Case:
    """Return the stored result of an issue, or run it and store the result."""
    key = issue.key(judge)
    return notes.read(key, Case) or notes.store(key, await _judged(engine, issue, judge.models))


async def _judged(engine: Engine, issue: _Issue, models: Models | None) -> Case:
    fix, text = issue.answered.fix, issue.text
    # A budget for each issue: a run's limits are not for the whole backtest.
    budget = models.budget() if models else None
    brain = brain_of(models, budget) if models else None
    blind = await triage_blind(engine, text.title, text.body, fix.landed.parent, brain)
    lines = changed_lines(engine.repository, fix.landed, issue.answered.gold)
    report, metrics = blind.result.report, blind.result.metrics
    return Case(
        number=fix.number,
        fix=fix.landed.sha,
        base=fix.landed.parent,
        title=text.title[:200],
        kind=report.kind,
        confidence=blind.confidence,
        claims=report.root_cause is not None,
        gold=issue.answered.gold,
        ranked=blind.ranked[:_RANKED],
        seconds=round(blind.seconds, 3),
        calls=metrics.usage.calls,
        tokens=metrics.usage.input_tokens + metrics.usage.output_tokens,
        cost=budget.cost if budget else 0,
        fell_back=bool(metrics.fallbacks),
        place_rank=next((at for at, place in enumerate(blind.places, 1) if _has_change(place, lines)), 0),
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


def _has_change(place: Place, lines: Sequence[Place]) -> bool:
    path, start, end = place
    return any(path == changed and first <= end and start <= last for changed, first, last in lines)


def _digest(*payload: str) -> str:
    return hashlib.sha256("\x00".join(payload).encode("utf-8", "surrogatepass")).hexdigest()[:16]
