"""The evidence engine as the graph's code port: one commit, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from nodes.search.engine import Engine
from nodes.search.fingerprint import Fingerprint
from nodes.search.forms import IssueForm
from nodes.search.history.log import Log
from nodes.search.history.types import History, Spot
from nodes.search.lookups import Lookups
from nodes.search.survey import Survey
from nodes.search.types import Lookup, Query, Ranking


class EngineCode:
    """A repository pinned at one commit."""

    def __init__(self, engine: Engine, sha: str, ignore: tuple[str, ...] = ()) -> None:
        self._engine = engine
        self._sha = sha
        self._ignore = ignore
        """Path globs that a repository's maintainers excluded."""
        self._forms: tuple[IssueForm, ...] | None = None
        self._surveyed: tuple[Query, Survey] | None = None

    @property
    def sha(self) -> str:
        """The full SHA that is read."""
        return self._sha

    async def find(self, query: Query) -> Ranking:
        """Rank files and places for a query."""
        return await asyncio.to_thread(self._engine.find, self._narrowed(query), self._sha)

    async def survey(self, query: Query) -> Survey:
        """Return the first files and the facts about them; the last answer is remembered, since every draft asks."""
        if self._surveyed is None or self._surveyed[0] != query:
            found = await asyncio.to_thread(self._engine.survey, self._narrowed(query), self._sha)
            self._surveyed = (query, found)
        return self._surveyed[1]

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:
        """Verbatim lines (1-based, inclusive), or None where they do not exist."""
        return await asyncio.to_thread(self._engine.read, self._sha, path, start_line, end_line)

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:
        """What the history behind the commit says of places: suspect changes, owners, how the crashes are named."""
        return await asyncio.to_thread(self._engine.history, query, spots, self._sha)

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:
        """How the crashes in a text are named, by the commit's files."""
        return await asyncio.to_thread(self._engine.fingerprints, text, self._sha)

    async def subject(self, change: str) -> str | None:
        """The first line of a commit's message, or None where the history behind the commit holds no such one."""
        return await asyncio.to_thread(self._engine.subject, self._sha, change)

    async def follows(self, sha: str) -> bool:
        """Whether the history behind the commit still holds another one, given by its full SHA."""
        return await asyncio.to_thread(Log(self._engine.repository, self._sha).is_ancestor, sha)

    def untold(self) -> tuple[str, ...]:
        """What was left unread because the repository is too large, by code; each is given once."""
        return self._engine.repository.shortfalls.untold()

    async def forms(self) -> tuple[IssueForm, ...]:
        """The issue forms of the commit, read once."""
        if self._forms is None:
            self._forms = await asyncio.to_thread(self._engine.forms, self._sha)
        return self._forms

    async def text(self, path: str) -> str | None:
        """A whole text file, or None where there is none, or none of a size to read."""
        return await asyncio.to_thread(self._engine.text, self._sha, path)

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:
        """As many of these lines as are short enough to quote, or None where there is no such text file."""
        return await asyncio.to_thread(lambda: self._lookups().lines(path, start_line, end_line))

    async def definitions(self, name: str) -> Lookup:
        """Where a name is defined."""
        return await asyncio.to_thread(lambda: self._lookups().definitions(name))

    async def references(self, name: str) -> Lookup:
        """Where a name is used."""
        return await asyncio.to_thread(lambda: self._lookups().references(name))

    async def words(self, text: str) -> Lookup:
        """What shares most words with a text."""
        return await asyncio.to_thread(lambda: self._lookups().words(text))

    def _narrowed(self, query: Query) -> Query:
        return replace(query, ignore=(*query.ignore, *self._ignore)) if self._ignore else query

    def _lookups(self) -> Lookups:
        return self._engine.lookups(self._sha, self._ignore)
