"""Sources of past issue texts: a file, GitHub, people's corrections on a server, or else the fixes' own messages."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from bot.errors import BotError, GoneError, RateLimitedError, UserError
from bot.github.repository import RepositoryClient
from bot.runs.fixes import Fix
from bot.runs.past import read_lines
from bot.runs.remote import opened
from bot.settings.environment import Settings
from bot.store.databases.sqlite import open_existing_store
from bot.store.runs.outcomes import Correction
from nodes.trust.secrets import mask

M = TypeVar("M", bound=BaseModel)
_MERGE = re.compile(r"^Merge (?:pull request|branch|remote)\b")
_NUMBERS = re.compile(
    r"(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s{1,3})?\(?(?<!\w)(?:#|GH-)\d{1,9}\)?(?:\s{0,2}(?:--|[:,-])\s)?",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]{2,30}-by:.*$", re.MULTILINE)


class Notes:
    """A folder with a file for each result, so that a backtest resumes where it stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, model: type[M]) -> M | None:
        """Return what is stored under a name; None if nothing is, or if it was cut off or is of another release."""
        try:
            return model.model_validate_json((self._folder / f"{name}.json").read_bytes())
        except (OSError, ValidationError):
            return None

    def store(self, name: str, value: M) -> M:
        """Store a result, and return it; UserError if the folder cannot be written."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f"{name}.json").write_text(value.model_dump_json(), encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write to {self._folder}: {error.strerror}; set TRIAGE_DATA_DIR") from error
        return value


class PastText(BaseModel):
    """The text of an issue; a pull request's has no title."""

    title: str
    body: Annotated[str, BeforeValidator(lambda body: "" if body is None else body)] = ""
    created_at: datetime | None = None

    def is_younger(self, moment: int) -> bool:
        """Return whether the issue was opened after a moment, in seconds since 1970; a time without a zone is UTC."""
        at = self.created_at
        return at is not None and at.replace(tzinfo=at.tzinfo or UTC).timestamp() > moment


class _Row(PastText):
    number: int


@dataclass(frozen=True, slots=True)
class Texts:
    """A source of issue texts."""

    description: str
    """The source, for the reader of the figures."""
    of: Callable[[Fix], Awaitable[PastText | None]]
    """Returns the issue that a fix closes; None if its number is not an issue's, or no text is known."""


@asynccontextmanager
async def open_texts(settings: Settings, notes: Notes, file: Path | None, github: str | None) -> AsyncIterator[Texts]:
    """Open the source of texts: JSON lines with number, title, body and created_at, a repository on GitHub, or none.

    Raises:
        UserError: the file cannot be read, and the message names the line; or GitHub does not answer, or refuses.
    """
    if file is not None:
        rows = {row.number: row for row in read_lines(str(file), _Row)}

        async def listed(fix: Fix) -> PastText | None:
            return rows.get(fix.number)

        yield Texts(f"from {file.name}", listed)
    elif github is None:
        yield _messages()
    else:
        token = settings.github_token.get_secret_value() if settings.github_token else ""
        async with opened(github, settings, token) as client:
            await _answered(client.id())
            yield _on_github(client, github, notes)


def _messages() -> Texts:
    """Return the fixes' own messages as texts, without issue numbers; for a merge the pull request's title."""
    used = set[str]()

    async def of(fix: Fix) -> PastText | None:
        message = fix.landed.message.strip()  # a correction has none
        if not message or fix.landed.sha in used:  # the commit closes a second issue, whose text would be the same
            return None
        used.add(fix.landed.sha)
        if _MERGE.match(message):
            message = message.partition("\n")[2].strip() or next(iter(fix.landed.merged), "").strip()
        plain = _TRAILER.sub("", _NUMBERS.sub("", message)).strip()
        title, _, body = plain.partition("\n")
        return PastText(title=title.strip(), body=body.strip()) if title.strip() else None

    return Texts("from commit messages; their authors knew the fix, so results differ from those on issue texts", of)


def _on_github(client: RepositoryClient, name: str, notes: Notes) -> Texts:
    """Return a repository's issues as they are now on GitHub, without pull requests; none is read twice."""

    async def of(fix: Fix) -> PastText | None:
        key = f"{name.replace('/', '+')}+{fix.number}"
        known = notes.read(key, PastText)
        if known is None:
            issue = await _answered(client.issue(fix.number))
            known = PastText(title="")
            if issue is not None and not issue.is_pull_request:
                row = {"title": issue.title, "body": issue.body, "created_at": issue.created_at or None}
                known = PastText.model_validate(row)
            notes.store(key, known)
        return known if known.title else None

    return Texts(f"from {name} on GitHub, as they are now", of)


async def _answered(asking: Any) -> Any:
    try:
        return await asking
    except BotError as error:
        says = f"issues cannot be read from GitHub ({mask(str(error))}); give them with --issues FILE"
        if isinstance(error, RateLimitedError):
            wait = f" in {error.after / 60:.0f} minutes" if error.after else " later"
            says = f"GitHub's rate limit is used up: set GITHUB_TOKEN, or repeat the same command{wait}; it continues"
        elif isinstance(error, GoneError):
            says = "GitHub does not find the repository: check owner/name, or set GITHUB_TOKEN for a private one"
        raise UserError(says) from error


async def read_stored(settings: Settings, name: str) -> tuple[Sequence[Correction], Mapping[int, PastText]]:
    """Read a repository's corrections, latest first, and its reports' texts; UserError if the server has none."""
    async with aclosing(open_existing_store(settings)) as store:
        keys = await store.installations.keys_of(name)
        if not keys:
            raise UserError(f"no data is stored for {name}")
        found = [store.of_repository(key).outcomes for key in keys]
        corrections = [correction for record in found for correction in await record.corrections()]
        texts = [text for record in found for text in await record.texts()]
    return corrections, {number: PastText(title=title, body=body) for number, title, body in texts}
