"""The work of ``bot.triage``, imported when it is first called."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Literal

from bot.cli.local.issue_text import read_issue
from bot.cli.local.repository import Storage, open_engine
from bot.errors import UserError
from bot.observability.tracing_switch import keep_text_private
from bot.report.document import Result
from bot.report.languages.catalogue import LANGUAGES
from bot.runs.code import EngineCode
from bot.runs.local import open_outside
from bot.runs.local import triage as run_triage
from bot.runs.model import check_brain
from bot.runs.past import read_listed
from bot.runs.pictures import PictureFetcher
from bot.settings import Settings, load_settings
from bot.settings.operator import load_operator_config
from nodes.context import PastPort, ignore_progress
from nodes.state import Answer, HumanExchange


def run(
    path: str,
    issue: str,
    *,
    title: str | None,
    rev: str,
    brain: Literal["rules", "llm", "auto"] | None,
    data_dir: str | os.PathLike[str] | None,
    language: str,
    issues: str | os.PathLike[str] | None,
) -> Result:
    """Triage an issue, as ``bot.cli.library.triage`` describes."""
    keep_text_private()
    _refuse_inside_a_loop()
    if language not in LANGUAGES:
        raise UserError(f"unknown language {language!r}: use {', '.join(LANGUAGES)}")
    settings = _settings(path, brain, data_dir)
    given = read_issue(None, issue, title)
    past = None if issues is None else read_listed(os.fspath(issues))
    return asyncio.run(_run(path, rev, settings, title=given.title, body=given.body, language=language, past=past))


def _refuse_inside_a_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("an event loop is running in this thread: await asyncio.to_thread(triage, …)")


def _settings(
    repository: str, brain: Literal["rules", "llm", "auto"] | None, data_dir: str | os.PathLike[str] | None
) -> Settings:
    given: dict[str, object] = {} if brain is None else {"triage_brain": brain}
    if data_dir is not None:
        given["triage_data_dir"] = Path(data_dir).expanduser()
    settings = load_settings(repository, **given)
    if settings.brain == "llm":
        check_brain(settings)
    try:
        # The files contain code of the repository, and the umask belongs to the program that calls this.
        settings.triage_data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write to {settings.triage_data_dir}: {error.strerror}; set data_dir") from error
    return settings


async def _run(
    repository: str, rev: str, settings: Settings, *, title: str, body: str, language: str, past: PastPort | None
) -> Result:
    operator = load_operator_config(settings.triage_config, repository)
    engine, sha = await asyncio.to_thread(open_engine, repository, rev, Storage.of(settings))
    async with open_outside(settings, operator) as outside:
        account = await run_triage(
            EngineCode(engine, sha),
            repository,
            title=title,
            body=body,
            settings=settings,
            ask=_withdraw,
            listener=ignore_progress,
            outside=outside,
            language=language,
            past=past,
            pictures=PictureFetcher(operator.pictures) if operator.pictures.enabled else None,
        )
    return account.result.model_copy(update={"gathered": account.evidence})


async def _withdraw(_question: HumanExchange) -> Answer:
    """Return no answer, so the question remains in the result."""
    return Answer()
