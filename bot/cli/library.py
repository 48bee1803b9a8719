"""The Python interface: ``from bot import triage``. It does what ``triage run`` does, and prints nothing."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bot.errors import UserError

if TYPE_CHECKING:
    from bot.cli.local.issue_text import IssueText
    from bot.report.document import Result
    from bot.settings.environment import Settings
    from nodes.context.ports import PastPort

Language = Literal["en", "de", "zh", "es", "ja"]


def triage(
    repository: str | os.PathLike[str],
    issue: str,
    *,
    title: str | None = None,
    rev: str = "HEAD",
    brain: Literal["rules", "llm", "auto"] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    language: Language = "en",
    issues: str | os.PathLike[str] | None = None,
) -> Result:
    """Triage an issue's text against a local git repository and return the result; nothing is posted or asked.

    Call it from a thread if an event loop is running: ``await asyncio.to_thread(triage, …)``.

    Args:
        repository: a clone, bare or not; it is read and never changed.
        issue: the issue's text.
        title: its title; without one, the first line of the text is the title.
        rev: the commit, branch or tag to read.
        brain: the brain; without one, TRIAGE_BRAIN decides.
        data_dir: the directory for parsed files and the run; without one, TRIAGE_DATA_DIR decides.
        language: of the comment, and of the text that a model writes.
        issues: a file with earlier issues to compare with, as ``triage run --issues`` reads it.

    Returns:
        The result; its ``model_dump_json()`` is what ``triage run --format json`` prints.

    Raises:
        UserError: an argument or a setting is invalid; the message says what to change.
        RuntimeError: an event loop is running in this thread.
    """
    # Here, because importing a run takes a second, and importing this function must not.
    from bot.cli.local.issue_text import read_issue
    from bot.observability.tracing_switch import keep_text_private
    from bot.report.languages.codes import LANGUAGES
    from bot.runs.past import read_listed

    keep_text_private()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("an event loop is running in this thread: await asyncio.to_thread(triage, …)")
    if language not in LANGUAGES:
        raise UserError(f"unknown language {language!r}: use {', '.join(LANGUAGES)}")
    given, path = read_issue(None, issue, title), os.fspath(repository)
    past = None if issues is None else read_listed(os.fspath(issues))
    return asyncio.run(_run(path, rev, _settings(path, brain, data_dir), given, language=language, past=past))


def _settings(
    repository: str, brain: Literal["rules", "llm", "auto"] | None, data_dir: str | os.PathLike[str] | None
) -> Settings:
    from bot.runs.model import check_brain
    from bot.settings.environment import load_settings

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
    repository: str, rev: str, settings: Settings, given: IssueText, *, language: str, past: PastPort | None
) -> Result:
    from bot.cli.local.repository import open_engine
    from bot.report.comment.markdown import MarkdownRenderer
    from bot.runs import local
    from bot.runs.code import EngineCode
    from bot.settings.operator import load_operator_config

    code = EngineCode(*await asyncio.to_thread(open_engine, repository, rev, settings.triage_data_dir))
    account = await local.triage(
        code,
        repository,
        title=given.title,
        body=given.body,
        settings=settings,
        operator=load_operator_config(settings, repository),
        language=language,
        renderer=MarkdownRenderer(),
        past=past,
    )
    return account.result.model_copy(update={"gathered": account.evidence})
