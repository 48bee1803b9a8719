"""The Python interface: ``from bot import triage``. It does what ``triage run`` does, and prints nothing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from bot.report.document import Result

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
        The result, whose ``model_dump_json()`` is the document that ``triage run --format json`` prints.

    Raises:
        UserError: the repository, the revision, the text, the language or a setting is invalid; the message says what
            to change.
        RuntimeError: an event loop is running in this thread.
    """
    from bot.cli.library_run import run

    return run(
        os.fspath(repository),
        issue,
        title=title,
        rev=rev,
        brain=brain,
        data_dir=data_dir,
        language=language,
        issues=issues,
    )
