"""Read the issue of a command from a file, standard input or text; report bad input in one line."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from bot.errors import UserError

MAX_ISSUE = 1_000_000
"""Maximum size in bytes. GitHub's limit is 65,536 characters; the surplus leaves room for pasted logs."""


@dataclass(frozen=True, slots=True)
class IssueText:
    """An issue's title and body."""

    title: str
    body: str


def read_issue(file: str | None, text: str | None, title: str | None) -> IssueText:
    """Read an issue from the source that the options name.

    Raises:
        UserError: the issue is missing, empty, binary, too large or unreadable, or named twice.
    """
    if (file is None) == (text is None):
        raise UserError("give the issue either as --issue FILE (or - for standard input) or as --text TEXT")
    whole = text if text is not None else _read(str(file))
    if not whole.strip():
        raise UserError("the issue is empty: write at least a title")
    if len(whole) > MAX_ISSUE:
        raise UserError(_TOO_LARGE)
    return _titled(whole, title)


_TOO_LARGE = f"the issue is larger than {MAX_ISSUE // 1_000_000} MB: keep the part that describes the bug"


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
    if b"\0" in raw:
        raise UserError(f"{name} is binary: the issue must be text")
    if len(raw) > MAX_ISSUE:
        raise UserError(_TOO_LARGE)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:  # Latin-1 decodes any bytes, so this cannot fail
        return raw.decode("latin-1")


def _titled(whole: str, title: str | None) -> IssueText:
    """Split a text into title and body; without a given title, the first non-empty line is the title."""
    whole = whole.replace("\r\n", "\n")
    if title is not None:
        return IssueText(title.strip(), whole)
    first, _, rest = whole.lstrip("\n").partition("\n")
    return IssueText(first.lstrip("# ").strip() or first.strip(), rest.strip("\n"))
