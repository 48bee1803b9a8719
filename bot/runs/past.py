"""Earlier issues: stored as hashes of their words, listed from a file, and read again before one is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bot.errors import BotError, UserError
from bot.ports import Issue, IssueRef
from bot.store.issues.past_issues import PastIssues, ReadingProgress, StoredIssue
from nodes.context.ports import Nearby, PastIssue, PastUnreadableError
from nodes.search.issue.similar import PastIndex, words_of

if TYPE_CHECKING:
    from bot.github.repository import RepositoryClient

ISSUES, PAGES = 1_000, 20
"""Limits of automatic reading. Pages are limited too, because most entries of a page may be pull requests."""
MAX_FILE_BYTES = 512_000_000
"""Bytes of a file."""
_TEXT = 131_072
M = TypeVar("M", bound=BaseModel)
Text = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
_LOOKED_AT = 40
"""Nearest issues to choose from. Most reports of a known crash are closed, but a report should name the open one."""


class ListedPast:
    """Issues that were read from a file."""

    def __init__(self, issues: Mapping[int, PastIssue]) -> None:
        self._issues = issues

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        """Return the issues most similar to a text."""

        def nearby() -> Nearby:
            past = PastIndex([(number, words_of(one.title, one.body)) for number, one in self._issues.items()])
            return Nearby(tuple(past.nearest(words_of(title, body), limit)), past)

        return await asyncio.to_thread(nearby)

    async def read(self, number: int) -> PastIssue | None:
        """Return an issue from the file; None if it does not exist."""
        return self._issues.get(number)


class StoredPast:
    """Issues older than the given one, in its repository."""

    def __init__(self, past: PastIssues, github: RepositoryClient, ref: IssueRef) -> None:
        self._past = past
        self._github = github
        self._ref = ref
        self._read: dict[int, PastIssue | None] = {}
        self._seen: dict[int, tuple[bool, str]] = {}
        """Whether each issue was open, and when it last changed, according to the store."""

    async def similar(self, title: str, body: str, limit: int) -> Nearby:
        """Return the issues most similar to a text, without those that a person marked as a different problem."""
        try:
            kept = await self._past.before(self._ref.number)
            denied = await self._past.confirmed_distinct(self._ref.number)
        except BotError as error:
            raise PastUnreadableError(str(error)) from error
        self._seen = {issue.number: (issue.is_open, issue.updated_at) for issue in kept}
        return await asyncio.to_thread(_nearby, kept, denied, title, body, limit)

    async def read(self, number: int) -> PastIssue | None:
        """Return an issue in its current state; None if it is gone or no longer an issue of this repository."""
        if number not in self._read:
            self._read[number] = await self._now(number)
        return self._read[number]

    async def _now(self, number: int) -> PastIssue | None:
        try:
            issue = await self._github.issue(number)
            # GitHub answers for a transferred issue with its new repository.
            current = issue if issue is None or issue.ref.repository.key == self._ref.repository.key else None
            if current is None or (current.state == "open", current.updated_at) != self._seen.get(number):
                await update_stored_issue(self._past, number, current)
        except BotError as error:
            raise PastUnreadableError(str(error)) from error
        return _past_issue(current) if current is not None and not current.is_pull_request else None


class _Line(BaseModel):
    """An issue as GitHub's API and ``gh issue list --json`` write it. Other fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    number: int = Field(gt=0, lt=1_000_000_000)
    title: Text = ""
    body: Text = ""
    state: Annotated[Literal["open", "closed"], BeforeValidator(lambda value: str(value).lower())] = "open"
    reason: Annotated[Text, BeforeValidator(lambda value: str(value or "").lower())] = Field(
        "", validation_alias=AliasChoices("state_reason", "stateReason")
    )
    html_url: Text = ""
    url: Text = ""


async def learn_page(past: PastIssues, github: RepositoryClient) -> ReadingProgress:
    """Read and store the next page. After a crash it is read again, and no issue is stored twice."""
    walk = await past.progress() or ReadingProgress()
    if walk.finished:
        return walk
    issues, more = await github.issues_page(walk.page)
    # Splitting and hashing the words takes processor time, which would block the event loop.
    kept = await asyncio.to_thread(lambda: [to_stored(issue) for issue in issues])
    after = ReadingProgress(walk.page + 1, walk.seen + len(kept), finished=not more)
    await past.store_page(kept, after)
    return after


def is_enough(walk: ReadingProgress) -> bool:
    """Return whether automatic reading is complete."""
    return walk.finished or walk.seen >= ISSUES or walk.page > PAGES


def to_stored(issue: Issue) -> StoredIssue:
    """Return the stored form of an issue."""
    return StoredIssue(issue.ref.number, issue.state == "open", issue.updated_at, words_of(issue.title, issue.body))


async def update_stored_issue(past: PastIssues, number: int, issue: Issue | None) -> None:
    """Store an issue as just read under its number, or delete it if it is not an issue or has another number now."""
    if issue is not None and not issue.is_pull_request and issue.ref.number == number:
        await past.keep([await asyncio.to_thread(to_stored, issue)])
    else:
        await past.forget(number)


def read_listed(file: str) -> ListedPast:
    """Read JSON lines with ``number``, ``title``, ``body``, ``state`` and ``url``. The last line of a number wins."""
    return ListedPast({line.number: _listed(line) for line in read_lines(file, _Line)})


def read_lines(file: str, model: type[M]) -> list[M]:
    """Read JSON lines, each an issue; UserError if the file is unreadable or too large, or a line is not an issue."""
    try:
        if Path(file).stat().st_size > MAX_FILE_BYTES:
            raise UserError(f"{file} is larger than {MAX_FILE_BYTES // 1_000_000} MB: keep the newest issues")
        with Path(file).open("rb") as lines:
            return [_parsed(file, number, line, model) for number, line in enumerate(lines, 1) if line.strip()]
    except OSError as error:
        raise UserError(f"cannot read the issues from {file}: {error.strerror}") from error


def _parsed(file: str, number: int, line: bytes, model: type[M]) -> M:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{file}, line {number}: {f'{where}: ' if where else ''}{first['msg']}") from None


def _listed(parsed: _Line) -> PastIssue:
    address = parsed.html_url or parsed.url
    shown = address if address.startswith(("https://", "http://")) and len(address) <= 500 else ""
    closed = parsed.reason == "not_planned"
    return PastIssue(parsed.number, parsed.title[:1_024], parsed.body[:_TEXT], parsed.state, shown, closed)


def _nearby(kept: Sequence[StoredIssue], denied: Collection[int], title: str, body: str, limit: int) -> Nearby:
    past = PastIndex([(issue.number, issue.words) for issue in kept])
    is_open = {issue.number: issue.is_open for issue in kept}
    near = [number for number in past.nearest(words_of(title, body), _LOOKED_AT) if number not in denied]
    chosen = _some_open(near, is_open, limit)
    return Nearby(tuple(number for number in near if number in chosen), past)


def _some_open(near: Sequence[int], is_open: dict[int, bool], limit: int) -> set[int]:
    """Choose up to ``limit`` of the nearest issues; open ones fill up to two thirds of the places first."""
    first = [number for number in near if is_open[number]][: 2 * limit // 3]
    rest = [number for number in near if number not in first]
    return {*first, *rest[: limit - len(first)]}


def _past_issue(issue: Issue) -> PastIssue:
    state = "open" if issue.state == "open" else "closed"
    return PastIssue(issue.ref.number, issue.title, issue.body, state, issue.url, issue.not_planned)  # type: ignore[arg-type]
