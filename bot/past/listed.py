"""Earlier issues from a file, for the command line. No network is used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bot.errors import UserError
from nodes.context import Nearby, PastIssue
from nodes.search.similar import PastIndex, words_of

LARGEST = 512_000_000
"""Bytes of a file."""
_TEXT = 131_072

Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]


class _Line(BaseModel):
    """An issue as GitHub's API and ``gh issue list --json`` write it. Other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    number: int = Field(gt=0, lt=1_000_000_000)
    title: Text = ""
    body: Text = ""
    state: Annotated[Literal["open", "closed"], BeforeValidator(lambda value: str(value).lower())] = "open"
    html_url: Text = ""
    url: Text = ""


class ListedPast:
    """Issues that were read from a file."""

    def __init__(self, issues: Mapping[int, PastIssue]) -> None:
        self._issues = issues

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        """Return the issues most similar to a text."""
        return await asyncio.to_thread(self._similar, title, body, limit)

    async def read(self, number: int) -> PastIssue | None:
        """Return an issue from the file; None if it does not exist."""
        return self._issues.get(number)

    def _similar(self, title: str, body: str, limit: int) -> Nearby:
        past = PastIndex([(number, words_of(one.title, one.body)) for number, one in self._issues.items()])
        return Nearby(tuple(near.number for near in past.nearest(words_of(title, body), limit)), past)


def read_listed(file: str) -> ListedPast:
    """Read JSON lines with ``number``, ``title``, ``body``, ``state`` and ``url``. The last line of a number wins.

    Raises:
        UserError: the file cannot be read, is larger than ``LARGEST``, or a line is not an issue.
    """
    try:
        if Path(file).stat().st_size > LARGEST:
            raise UserError(f"{file} is larger than {LARGEST // 1_000_000} MB: keep the newest issues")
        with Path(file).open("rb") as lines:
            found = [_issue(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    except OSError as error:
        raise UserError(f"cannot read the issues from {file}: {error.strerror}") from error
    return ListedPast({issue.number: issue for issue in found})


def _issue(file: str, number: int, line: bytes) -> PastIssue:
    try:
        parsed = _Line.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{file}, line {number}: {f'{where}: ' if where else ''}{first['msg']}") from None
    address = parsed.html_url or parsed.url
    shown = address if address.startswith(("https://", "http://")) and len(address) <= 500 else ""
    return PastIssue(parsed.number, parsed.title[:1_024], parsed.body[:_TEXT], parsed.state, shown)
