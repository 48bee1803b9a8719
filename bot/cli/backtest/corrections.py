"""Cases from people's corrections on a server: an issue, the commit of its report, and the files that they named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.cli.backtest.fixes import MAX_FILES, Fix, FixWithFiles, gold_of
from bot.cli.backtest.texts import Text, Texts
from bot.errors import UserError
from bot.settings import Settings
from bot.settings.repository import is_below, path_inside
from bot.store.databases.opening import open_existing_store
from bot.store.runs.feedback import Correction
from nodes.search.git import Repository
from nodes.search.history.mainline import MainlineCommit
from nodes.search.issue.mentions.places import find_places
from nodes.search.paths.suffixes import PathIndex

_SPAN = re.compile(r"`([^`]{1,300})`")


@dataclass(frozen=True, slots=True)
class Stored:
    """The corrections and texts that a server stored about one repository."""

    corrections: tuple[Correction, ...]
    """The latest ones first, one for each issue."""
    texts: Mapping[int, Text]
    """Texts of issues with a report, by number."""


async def read_stored(settings: Settings, name: str) -> Stored:
    """Read the corrections and issue texts of a repository, by its last known name.

    Raises:
        UserError: there is no store, or it has nothing under this name.
    """
    store = open_existing_store(settings)
    try:
        keys = await store.installations.keys_of(name)
        if not keys:
            raise UserError(f"no data is stored for {name}")
        found = [store.record_of(key) for key in keys]
        corrections = [one for record in found for one in await record.corrections()]
        texts = {number: Text(title, body) for record in found for number, title, body in await record.texts()}
    finally:
        await store.aclose()
    return Stored(tuple(corrections), texts)


def corrected(
    repository: Repository, corrections: Sequence[Correction], fixed: set[int], left_out: Counter[str]
) -> Iterator[FixWithFiles]:
    """Yield the corrections that name files, as fixes at the commit of the report itself.

    Args:
        repository: the clone.
        corrections: what people wrote.
        fixed: issues with a known fix, which decides for them.
        left_out: counts the reasons why others are not cases.
    """
    for one in corrections:
        if one.issue in fixed:
            continue
        if repository.output("cat-file", "-e", f"{one.sha}^{{commit}}") is None:
            left_out["the commit of a corrected report is not in this clone"] += 1
            continue
        gold = _named(repository, one)
        if not gold:
            left_out["a correction names no other source file of the report's commit"] += 1
            continue
        yield FixWithFiles(Fix(one.issue, MainlineCommit(one.sha, one.sha, int(one.at), ""), sure=True), gold)


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


class StoredTexts:
    """The texts of issues that a server stored; for other issues those of another source."""

    def __init__(self, stored: Mapping[int, Text], other: Texts) -> None:
        self.description = f"from the server, else {other.description}"
        self._stored = stored
        self._other = other

    async def of(self, fix: Fix) -> Text | None:
        """Return the text of the issue of a fix or of a correction."""
        stored = self._stored.get(fix.number)
        if stored is not None:
            return stored
        # A correction has no message from which a text could be made.
        return await self._other.of(fix) if fix.landed.message else None
