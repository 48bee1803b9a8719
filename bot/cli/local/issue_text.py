"""Read the issue of a command from a file, standard input, text or GitHub; report bad input in one line."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cli.local.repository import ProgressLine
from bot.cli.options import NamedIssue
from bot.errors import UserError
from bot.files import origin_of

if TYPE_CHECKING:
    from bot.report.comment.markdown import MarkdownRenderer
    from bot.runs.code import NoCode
    from bot.settings.environment import Settings
    from nodes.context.brain import IssueOrigin

MAX_ISSUE = 1_000_000
"""Maximum size in bytes. GitHub's limit is 65,536 characters; the surplus leaves room for pasted logs."""
_TOO_LARGE = f"the issue is larger than {MAX_ISSUE // 1_000_000} MB: keep the part that describes the bug"
_NAMED = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+#\d+|https?://\S+|#?[1-9]\d{0,8}")
"""An issue on GitHub, or the number of one."""
_REMOTE = re.compile(
    r"(?:(https?://)|\w{1,9}://)?(?:[^@/\s]{1,99}@)?([A-Za-z0-9][\w.-]{0,252})(:\d{1,5})?[/:]([\w.-]{1,99}/[\w.-]{1,99}?)(?:\.git)?/?"
)
"""A remote: ``https://host/owner/name``, ``ssh://git@host/owner/name.git`` or ``git@host:owner/name``."""


@dataclass(frozen=True, slots=True)
class IssueText:
    """An issue's title and body."""

    title: str
    body: str


def read_issue(file: str | None, text: str | None, title: str | None) -> IssueText:
    """Read an issue from the source that the options name; without a title, the first line of the text is one.

    Raises:
        UserError: the issue is missing, empty, binary, too large or unreadable, or named twice.
    """
    if (not file) == (text is None):
        raise UserError("give one issue: a FILE, - for standard input, or --text TEXT")
    whole = text if text is not None else _read(str(file))
    if not whole.strip():
        raise UserError("the issue is empty: write at least a title")
    if len(whole) > MAX_ISSUE:
        raise UserError(_TOO_LARGE)
    whole = whole.replace("\r\n", "\n")
    if title is not None:
        return IssueText(title.strip(), whole)
    first, _, rest = whole.lstrip("\n").partition("\n")
    return IssueText(first.lstrip("# ").strip() or first.strip(), rest.strip("\n"))


def _read(file: str) -> str:
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            raw = sys.stdin.buffer.read(MAX_ISSUE + 1)
        else:
            with Path(file).open("rb") as stream:
                raw = stream.read(MAX_ISSUE + 1)
    except OSError as error:
        raise UserError(f"cannot read the issue from {name}: {error.strerror}") from error
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and len(raw) <= MAX_ISSUE:
        raw = raw.decode("utf-16", "replace").encode()  # as ``>`` of PowerShell writes it
    if b"\0" in raw:
        raise UserError(f"{name} is binary: the issue must be text")
    if len(raw) > MAX_ISSUE:
        raise UserError(_TOO_LARGE)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:  # Latin-1 decodes any bytes, so this cannot fail
        return raw.decode("latin-1")


def issue_of(named: NamedIssue, here: Callable[[], str]) -> tuple[IssueText | str, str | None]:
    """Return the text of the issue that a command names, or its name if it is on GitHub; and its repository, if known.

    ``here`` returns the repository around the folder. An existing file takes precedence over an issue of its name.

    Raises:
        UserError: the issue cannot be read.
    """
    issue, repo = named.issue, named.repo
    if named.text is None and issue is not None and _NAMED.fullmatch(issue) and not Path(issue).exists():
        if named.title is not None:
            raise UserError(f"{issue} has a title of its own: --title is for a text or a file")
        digits = issue.removeprefix("#")
        if not digits.isdecimal():
            return issue, repo
        repo = here() if repo is None else repo
        project = project_of(repo)
        if project is None:
            says = f"the remote origin of {repo} names no project on GitHub: write owner/repo#{digits}"
            raise UserError(f"{issue}: {says}")
        return f"{project[0]}/{project[1]}/issues/{digits}", repo
    return read_issue(issue, named.text, named.title), here() if repo is None else repo


def project_of(repo: str) -> tuple[str, str] | None:
    """Return the server's address and ``owner/name`` of the project that a clone's remote ``origin`` names, if any."""
    named = _REMOTE.fullmatch(origin_of(repo) or "")
    if named is None:
        return None
    scheme, host, port, project = named.groups()
    return f"{scheme}{host}{port or ''}" if scheme else f"https://{host}", project


@dataclass(frozen=True, slots=True)
class LocatedIssue:
    """An issue's text and its repository."""

    text: IssueText
    repository: str
    renderer: MarkdownRenderer | None = None
    """Renders links to GitHub if the repository is there; None otherwise."""
    no_code: NoCode | None = None
    """Set if the repository could not be fetched."""
    origin: IssueOrigin | None = None
    """The issue's number and project on GitHub; None if the text comes from elsewhere."""


def fetch(issue: str, repo: str | None, settings: Settings, progress: ProgressLine) -> LocatedIssue:
    """Read the issue, and fetch its repository unless ``repo`` is given; UserError if either cannot be read."""
    import asyncio

    from bot.report.comment.markdown import MarkdownRenderer
    from bot.runs.code import NoCode
    from bot.runs.remote import Reference, read_remote
    from nodes.context.brain import IssueOrigin

    reference = Reference.read(issue)
    if reference is None:
        raise UserError(
            f"{issue}: write owner/repo#n, or the address of an issue: https://github.com/owner/repo/issues/n"
        )
    progress.phase(f"reading {reference}", 0, 0)
    found, code = asyncio.run(read_remote(reference, settings, clone=repo is None))
    name, server = reference.full_name, settings.github_server_url.rstrip("/")
    renderer = MarkdownRenderer(server_url=server, repository=name)
    origin = IssueOrigin.of(found.ref.number, name, found.created_at, reopened=found.reopened)
    no_code = code if isinstance(code, NoCode) else None
    where = name if no_code is not None else repo or str(code)
    return LocatedIssue(IssueText(found.title, found.body), where, renderer, no_code, origin)
