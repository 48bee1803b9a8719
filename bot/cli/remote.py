"""Implement ``--issue owner/repo#n``: read an issue on GitHub, and fetch its repository unless a clone is given."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.issue_text import IssueText
from bot.cli.progress import Progress

if TYPE_CHECKING:
    from bot.no_code import NoCode
    from bot.report.markdown import MarkdownRenderer
    from bot.settings import Settings

_LOOKS_LIKE = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+#\d+")


@dataclass(frozen=True, slots=True)
class Located:
    """An issue's text and its repository."""

    text: IssueText
    repository: str
    renderer: MarkdownRenderer | None = None
    """Renders links to GitHub if the repository is there; None otherwise."""
    no_code: NoCode | None = None
    """Set if the repository could not be fetched."""


def is_remote(issue: str | None) -> bool:
    """Return whether the option names an issue on GitHub; an existing file with that name takes precedence."""
    return issue is not None and _LOOKS_LIKE.fullmatch(issue) is not None and not Path(issue).exists()


def fetch(issue: str, repo: str | None, settings: Settings, progress: Progress) -> Located:
    """Read the issue, and fetch its repository unless ``repo`` is given.

    Raises:
        UserError: the issue or its repository does not exist or cannot be read.
    """
    from bot.errors import UserError  # noqa: PLC0415  --help needs no GitHub
    from bot.remote import Reference, read_remote  # noqa: PLC0415
    from bot.report.markdown import MarkdownRenderer  # noqa: PLC0415

    reference = Reference.read(issue)
    if reference is None:
        raise UserError(f"--issue {issue}: write owner/repo#n")
    progress.phase(f"reading {reference}", 0, 0)
    found = asyncio.run(read_remote(reference, settings, clone=repo is None))
    renderer = MarkdownRenderer(server_url=found.server_url, repository=reference.full_name)
    text = IssueText(found.title, found.body)
    if found.no_code is not None:
        return Located(text, reference.full_name, renderer, found.no_code)
    return Located(text, repo or str(found.repository), renderer)
