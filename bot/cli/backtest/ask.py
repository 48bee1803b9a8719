"""The options of a backtest, and the setup of everything it needs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bot.cli.backtest.agreement import fit
from bot.cli.backtest.blind import BlindTriager
from bot.cli.backtest.corrections import StoredTexts, read_stored
from bot.cli.backtest.fixes import read_fixes
from bot.cli.backtest.judges import Judge, RecordedModel, ReplayedModel, Rules, settings_key, stored_settings
from bot.cli.backtest.recording import Recording, digest
from bot.cli.backtest.run import Found, Notes, Plan, ProgressCallback, backtest
from bot.cli.backtest.summary import Parameters
from bot.cli.backtest.texts import FileTexts, GitHubTexts, MessageTexts, Texts, call_github
from bot.github.reader import IssueReader
from bot.runs.model import check_brain, model_settings
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
    both: bool = False
    """Whether rules judge each issue too, to compare the model with them."""
    replay: Path | None = None
    """A recording that answers instead of a model."""
    corrections: str | None = None
    """owner/name of the repository whose corrections on a server are cases too."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a backtest."""

    found: tuple[Found, ...]
    """By judge: with two, the rules first."""
    about: Parameters
    recording: Path | None = None
    """The file with the model's requests, if a model was asked."""


async def answer(
    engine: Engine, tip: str, settings: Settings, asked: Options, on_progress: ProgressCallback
) -> Outcome:
    """Run a backtest, or resume an earlier one of the same repository and texts where it stopped.

    Raises:
        UserError: texts, model, recording or data directory are unusable; the message says what to do.
    """
    started = time.perf_counter()
    if asked.replay is None:
        check_brain(settings)
    stored = await read_stored(settings, asked.corrections) if asked.corrections else None
    place = _notes_path(engine, settings, asked)
    notes = Notes(place, fresh=asked.fresh)
    try:
        async with _texts(asked, settings, notes) as texts, _model(settings, asked, place) as (model, recording):
            judges: list[Judge] = [Rules()] if model is None or asked.both else []
            judges += [model] if model is not None else []
            on_progress(0, 0, "reading the history")
            fixes = read_fixes(engine.repository, tip, asked.github or asked.corrections or "", asked.since)
            plan = Plan(fixes, asked.limit, judges, stored.corrections if stored else ())
            source = StoredTexts(stored.texts, texts) if stored else texts
            found = await backtest(engine, BlindTriager(engine), source, notes, plan=plan, on_progress=on_progress)
    finally:
        notes.close()
    prices = settings.triage_prices or (str(recording.settings["prices"]) if recording else "")
    about = Parameters(
        repository=engine.repository.directory.name,
        tip=tip,
        texts=source.description,
        judge=judges[-1].name,
        target=asked.target,
        seconds=round(time.perf_counter() - started, 2),
        prices=prices,
        agreement=fit(found[-1].cases, model.reads_code) if model is not None else None,
    )
    return Outcome(tuple(found), about, recording.path if recording else None)


@asynccontextmanager
async def _model(
    settings: Settings, asked: Options, notes: Path
) -> AsyncIterator[tuple[RecordedModel | ReplayedModel | None, Recording | None]]:
    """Open the model, or the recording that stands for it; None if rules judge."""
    if asked.replay is not None:
        recording = Recording.load(asked.replay)
        yield ReplayedModel(recording), recording
        return
    if settings.brain == "rules":
        yield None, None
        return
    stored = stored_settings(settings)
    file = notes.with_name(f"{notes.stem}-{settings_key(stored)}.requests.gz")
    recording = Recording.open(file, stored, fresh=asked.fresh)
    model = RecordedModel(model_settings(settings), recording)
    try:
        yield model, recording
    finally:
        await model.aclose()


def _notes_path(engine: Engine, settings: Settings, asked: Options) -> Path:
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
