"""The options of a backtest, and the setup of everything it needs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.backtest.blind import open_triager
from bot.backtest.fixes import read_fixes
from bot.backtest.run import Found, Notes, Plan, ProgressCallback, backtest, digest
from bot.backtest.summary import Parameters
from bot.backtest.texts import FileTexts, GitHubTexts, MessageTexts, Texts, call_github
from bot.github.reader import IssueReader
from bot.runs.model import check_brain
from bot.settings import Settings
from nodes.search.engine import Engine


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


async def answer(
    engine: Engine, tip: str, settings: Settings, asked: Options, on_progress: ProgressCallback
) -> tuple[Found, Parameters]:
    """Run a backtest, or resume an earlier one of the same repository and texts where it stopped.

    Raises:
        UserError: texts, model or data directory are unusable; the message says what to do.
    """
    began = time.perf_counter()
    check_brain(settings)
    notes = Notes(_place(engine, settings, asked), fresh=asked.fresh)
    try:
        async with _texts(asked, settings, notes) as texts, open_triager(engine, settings) as triager:
            on_progress(0, 0, "reading the history")
            fixes = read_fixes(engine.repository, tip, asked.github or "", asked.since)
            judge = judge_of(settings)
            found = await backtest(
                engine, triager, texts, notes, plan=Plan(fixes, asked.limit, judge), on_progress=on_progress
            )
    finally:
        notes.close()
    repository = engine.repository.directory.name
    seconds = round(time.perf_counter() - began, 2)
    return found, Parameters(repository, tip, texts.description, judge, asked.target, seconds)


def judge_of(settings: Settings) -> str:
    """Return the name of the brain; for models, the names of all models that take part."""
    if settings.brain == "rules":
        return "rules"
    parts = (settings.triage_supervisor_model, settings.triage_critic_model, settings.triage_model)
    tiers = (settings.triage_model_simple, settings.triage_model_medium, settings.triage_model_complex)
    return "+".join(dict.fromkeys(filter(None, (*parts, *tiers))))


def _place(engine: Engine, settings: Settings, asked: Options) -> Path:
    """Return the notes file: one per repository and source of texts. The keys of cases cover the texts themselves."""
    name = digest(str(engine.repository.directory), settings.github_api_url, asked.github or "")
    return settings.triage_data_dir / "backtest" / f"{name}.jsonl"


@asynccontextmanager
async def _texts(asked: Options, settings: Settings, notes: Notes) -> AsyncIterator[Texts]:
    if asked.issues is not None:
        yield FileTexts(asked.issues)
    elif asked.github is None:
        yield MessageTexts()
    else:
        token = settings.github_token.get_secret_value() if settings.github_token else ""
        reader = IssueReader(asked.github, api_url=settings.github_api_url, token=token)
        try:
            await call_github(reader.check())
            yield GitHubTexts(reader, asked.github, notes.texts, notes.store_text)
        finally:
            await reader.aclose()
