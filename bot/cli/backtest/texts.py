"""Sources of past issue texts: a file, GitHub, people's corrections on a server, or else the fixes' own messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bot.cli.backtest.case import Notes
from bot.errors import BotError, GoneError, RateLimitedError, UserError
from bot.github.repository import RepositoryClient
from bot.runs.fixes import MAX_FILES, Fix, FixWithFiles, gold_of
from bot.runs.past import read_lines
from bot.settings import Settings
from bot.settings.repository import is_below, path_inside
from bot.store.databases.opening import open_existing_store
from bot.store.runs.feedback import Correction
from nodes.search.git import Repository
from nodes.search.history.mainline import MainlineCommit
from nodes.search.issue.mentions.places import find_places
from nodes.search.paths.project import PathIndex
from nodes.trust.secrets import mask

MAX_TEXT = 131_072
"""Characters of one text."""
_MERGE = re.compile(r"^Merge (?:pull request|branch|remote)\b")
_NUMBERS = re.compile(
    r"(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?):?\s{1,3})?\(?(?<!\w)(?:#|GH-)\d{1,9}\)?(?:\s{0,2}(?:--|[:,-])\s)?",
    re.IGNORECASE,
)
_TRAILER = re.compile(r"^[A-Z][A-Za-z-]{2,30}-by:.*$", re.MULTILINE)
_SPAN = re.compile(r"`([^`]{1,300})`")


class Text(BaseModel):
    """The text of an issue; a pull request's has no title."""

    title: str
    body: str = ""
    created: int = 0
    """Seconds since 1970; 0 if unknown."""


_NONE = Text(title="")


@dataclass(frozen=True, slots=True)
class Texts:
    """A source of issue texts."""

    description: str
    """The source, for the reader of the figures."""
    of: Callable[[Fix], Awaitable[Text | None]]
    """Returns the issue that a fix closes; None if its number is not an issue's, or no text is known."""


def file_texts(path: Path) -> Texts:
    """Return the texts of JSON lines with number, title, body and optionally created_at.

    Raises:
        UserError: the file cannot be read; the message names the line.
    """
    texts = {
        row.number: Text(title=row.title[:1_024], body=(row.body or "")[:MAX_TEXT], created=_seconds(row.created_at))
        for row in read_lines(str(path), _Row)
    }

    async def of(fix: Fix) -> Text | None:
        return texts.get(fix.number)

    return Texts(f"from {path.name}", of)


def message_texts() -> Texts:
    """Return the fixes' own messages as texts, without issue numbers; for a merge the pull request's title."""
    used = set[str]()

    async def of(fix: Fix) -> Text | None:
        if fix.landed.sha in used:  # the commit closes a second issue, whose text would be the same
            return None
        used.add(fix.landed.sha)
        message = fix.landed.message.strip()
        if _MERGE.match(message):
            message = message.partition("\n")[2].strip() or next(iter(fix.landed.merged), "").strip()
        plain = _TRAILER.sub("", _NUMBERS.sub("", message)).strip()
        title, _, body = plain.partition("\n")
        return Text(title=title.strip()[:1_024], body=body.strip()[:MAX_TEXT]) if title.strip() else None

    return Texts("from commit messages; their authors knew the fix, so results differ from those on issue texts", of)


def github_texts(client: RepositoryClient, name: str, notes: Notes) -> Texts:
    """Return a repository's issues as they are now on GitHub, without pull requests; none is read twice."""

    async def of(fix: Fix) -> Text | None:
        key = f"{name.replace('/', '+')}+{fix.number}"
        known = notes.read(key, Text)
        if known is None:
            issue = await call_github(client.issue(fix.number))
            usable = issue is not None and not issue.is_pull_request
            known = Text(title=issue.title, body=issue.body, created=_since(issue.created_at)) if usable else _NONE
            notes.store(key, known)
        return known if known.title else None

    return Texts(f"from {name} on GitHub, as they are now", of)


async def call_github(asking: Any) -> Any:
    """Return GitHub's response.

    Raises:
        UserError: GitHub does not answer, or refuses.
    """
    try:
        return await asking
    except RateLimitedError as error:
        wait = f" in {error.after / 60:.0f} minutes" if error.after else " later"
        raise UserError(
            "GitHub's rate limit is used up: set GITHUB_TOKEN, or repeat the same "
            f"command{wait}; it continues from there"
        ) from error
    except GoneError as error:
        raise UserError(
            "GitHub does not find the repository: check owner/name, or set GITHUB_TOKEN for a private one"
        ) from error
    except BotError as error:
        raise UserError(
            f"issues cannot be read from GitHub ({mask(str(error))}); give them with --issues FILE"
        ) from error


def _since(written: str) -> int:
    try:
        return _seconds(datetime.fromisoformat(written))
    except ValueError:
        return 0


class _Row(BaseModel):
    """A line of the file. Other fields are ignored."""

    number: int
    title: str
    body: str | None = None
    created_at: datetime | None = None


def _seconds(when: datetime | None) -> int:
    return int(when.replace(tzinfo=when.tzinfo or UTC).timestamp()) if when else 0


@dataclass(frozen=True, slots=True)
class Stored:
    """The corrections and texts that a server stored about one repository."""

    corrections: tuple[Correction, ...]
    """The latest ones first, one for each issue."""
    texts: Mapping[int, Text]
    """Texts of issues with a report, by number."""

    def before(self, other: Texts) -> Texts:
        """Return these texts, and for other issues those of another source."""

        async def of(fix: Fix) -> Text | None:
            # A correction has no message from which a text could be made.
            return self.texts.get(fix.number) or (await other.of(fix) if fix.landed.message else None)

        return Texts(f"from the server, else {other.description}", of)


async def read_stored(settings: Settings, name: str) -> Stored:
    """Read the corrections and issue texts of a repository, by its last known name.

    Raises:
        UserError: there is no store, or it has nothing under this name.
    """
    async with aclosing(open_existing_store(settings)) as store:
        keys = await store.installations.keys_of(name)
        if not keys:
            raise UserError(f"no data is stored for {name}")
        found = [store.of_repository(key).outcomes for key in keys]
        corrections = [correction for record in found for correction in await record.corrections()]
        texts = {
            number: Text(title=title, body=body) for record in found for number, title, body in await record.texts()
        }
    return Stored(tuple(corrections), texts)


def corrected(
    repository: Repository, corrections: Sequence[Correction], fixed: set[int], left_out: Counter[str]
) -> Iterator[FixWithFiles]:
    """Yield the corrections that name files, as fixes at the commit of the report itself.

    An issue in ``fixed`` has a known fix, which decides for it; ``left_out`` counts why others are not cases.
    """
    for correction in corrections:
        if correction.issue in fixed:
            continue
        if repository.output("cat-file", "-e", f"{correction.sha}^{{commit}}") is None:
            left_out["the commit of a corrected report is not in this clone"] += 1
            continue
        gold = _named(repository, correction)
        if not gold:
            left_out["a correction names no other source file of the report's commit"] += 1
            continue
        yield FixWithFiles(
            Fix(correction.issue, MainlineCommit(correction.sha, correction.sha, int(correction.at), ""), sure=True),
            gold,
        )


def _named(repository: Repository, correction: Correction) -> tuple[str, ...]:
    """Return the files that a correction names, without the file that it calls wrong."""
    index = PathIndex([entry.path for entry in repository.tree(correction.sha)])
    found = (index.with_suffix(path) for path, _, _ in find_places(correction.why))
    # A suffix that several files share names none of them.
    paths = [index.paths[files[0][0]] for files in found if len(files) == 1] or _below(index, correction.why)
    return gold_of(repository, [path for path in paths if path != correction.claimed], correction.sha)


def _below(index: PathIndex, why: str) -> list[str]:
    """Return the files of the folders that a command or a label names, if they are few enough to be a place."""
    folders = [path for span in _SPAN.findall(why)[:MAX_FILES] if (path := path_inside(span)) is not None]
    found = [path for path in index.paths if any(is_below(path, folder) for folder in folders)]
    return found if len(found) <= MAX_FILES else []
