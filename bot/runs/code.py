"""The graph's code port: one commit, or why it cannot be read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from bot.errors import BotError, GoneError
from bot.runs.fetching import ForbiddenError, TooLargeToFetchError
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.git.errors import CodeNotReadable
from nodes.search.history.log import Log
from nodes.search.history.mainline import NamingCommit, naming
from nodes.search.history.reading import subject_of
from nodes.search.history.types import History, Spot
from nodes.search.issue.fingerprint import Fingerprint
from nodes.search.issue.forms import IssueForm
from nodes.search.reading.tools import Tools
from nodes.search.types import FileSketch, Lookup, Query, Ranking, Survey, ToolAnswer, ToolCall

T = TypeVar("T")


class EngineCode:
    """A repository at one commit."""

    def __init__(self, engine: Engine, sha: str, ignore: tuple[str, ...] = ()) -> None:
        self._engine = engine
        self._sha = sha
        self._ignore = ignore
        """Path globs that the repository's maintainers excluded."""
        self._forms: tuple[IssueForm, ...] | None = None
        self._surveyed: tuple[Query, Survey] | None = None
        self._found: tuple[Query, Ranking] | None = None

    def close(self) -> None:
        """Release the engine; nothing can be read any more.

        Whatever a run opened and keeps open, such as a connection, holds the run's context variables, and through them
        this object, for as long as it lives.
        """
        del self._engine
        self._surveyed, self._found = None, None

    @property
    def sha(self) -> str:
        """The full SHA of the commit."""
        return self._sha

    async def find(self, query: Query) -> Ranking:
        """Rank files and locations for a query; the last ranking is kept, since a survey often follows it."""
        asked = self._narrowed(query)
        if self._found is None or self._found[0] != asked:
            self._found = (asked, await asyncio.to_thread(self._engine.find, asked, self._sha))
        return self._found[1]

    async def survey(self, query: Query) -> Survey:
        """Return the top files and facts about them; the last result is cached, since every draft requests it."""
        if self._surveyed is None or self._surveyed[0] != query:
            asked, (found, ranking) = self._narrowed(query), self._found or (None, None)
            survey = await asyncio.to_thread(self._engine.survey, asked, self._sha, ranking if found == asked else None)
            self._surveyed = (query, survey)
        return self._surveyed[1]

    async def sketches(self, query: Query, paths: Sequence[str]) -> tuple[FileSketch, ...]:
        """Return files in few words, in the order given."""
        return await asyncio.to_thread(self._engine.sketches, self._narrowed(query), paths, self._sha)

    async def invalid_facts(self, facts: Sequence[Fact], text: str) -> frozenset[int]:
        """Return the positions of the facts that fail a second verification."""
        return await asyncio.to_thread(self._engine.invalid_facts, facts, text, self._sha)

    async def read(self, path: str, start_line: int, end_line: int) -> str | None:
        """Return verbatim lines (1-based, inclusive), or None if they do not exist."""
        return await asyncio.to_thread(self._engine.read, self._sha, path, start_line, end_line)

    async def history(self, query: Query, spots: Sequence[Spot]) -> History:
        """Return what the commit's history says about locations: suspect changes, owners and crash fingerprints."""
        return await asyncio.to_thread(self._engine.history, query, spots, self._sha)

    async def naming(self, number: int, project: str, since: int) -> tuple[NamingCommit, ...]:
        """Return the latest commits that name an issue, without reverted ones."""
        return await asyncio.to_thread(naming, self._log(), number, project, since)

    async def fingerprints(self, text: str) -> tuple[Fingerprint, ...]:
        """Return the fingerprints of the crashes in a text, computed with the commit's files."""
        return await asyncio.to_thread(self._engine.fingerprints, text, self._sha)

    async def subject(self, change: str) -> str | None:
        """Return the first line of a commit's message, or None if the commit is not in this one's history."""
        return await asyncio.to_thread(subject_of, self._log(), change)

    async def follows(self, sha: str) -> bool:
        """Return whether another commit, given by its full SHA, is an ancestor of this one."""
        return await asyncio.to_thread(self._log().is_ancestor, sha)

    def unreported_limits(self) -> tuple[str, ...]:
        """Return the codes of what was not read because the repository is too large; each code is returned once."""
        return self._engine.repository.shortfalls.unreported_limits()

    async def forms(self) -> tuple[IssueForm, ...]:
        """Return the commit's issue forms, read once and cached."""
        if self._forms is None:
            self._forms = await asyncio.to_thread(self._engine.forms, self._sha)
        return self._forms

    async def text(self, path: str) -> str | None:
        """Return a whole text file, or None if it does not exist or is too large."""
        return await asyncio.to_thread(self._engine.text, self._sha, path)

    async def lines(self, path: str, start_line: int, end_line: int) -> Lookup | None:
        """Return as many of these lines as are short enough to quote, or None if no such text file exists."""
        return await asyncio.to_thread(lambda: self._tools().lines(path, start_line, end_line))

    async def definitions(self, name: str) -> Lookup:
        """Return the definitions of a name."""
        return await asyncio.to_thread(lambda: self._tools().definitions(name))

    async def references(self, name: str) -> Lookup:
        """Return the uses of a name."""
        return await asyncio.to_thread(lambda: self._tools().references(name))

    async def use_tool(self, call: ToolCall) -> ToolAnswer:
        """Answer the query of a reader."""
        return await asyncio.to_thread(lambda: self._tools().answer(call))

    def _narrowed(self, query: Query) -> Query:
        return replace(query, ignore=(*query.ignore, *self._ignore)) if self._ignore else query

    def _tools(self) -> Tools:
        return self._engine.tools(self._sha, self._ignore)

    def _log(self) -> Log:
        return Log(self._engine.repository, self._sha)


def _always(value: T) -> Callable[..., Coroutine[Any, Any, T]]:
    """Return a method that returns a value, whatever it is asked."""

    async def answer(*_asked: object) -> T:
        return value

    return answer


class NoCode:
    """Return empty results, and refuse to search so that no report claims that code was searched."""

    sha = ""

    def __init__(self, reason: str = "it does not exist") -> None:
        """Represent code that cannot be read."""
        self._reason = reason

    @classmethod
    def because(cls, error: BotError) -> NoCode:
        """Represent code that a mirror could not fetch."""
        if isinstance(error, GoneError):
            return cls("the repository has no commit yet")
        if isinstance(error, TooLargeToFetchError):
            return cls(str(error))
        if isinstance(error, ForbiddenError):
            return cls("the server does not allow it")
        return cls("the server says that it does not exist")

    @property
    def reason(self) -> str:
        """The reason why there is no code, as a clause for the report."""
        return self._reason

    async def find(self, query: Query) -> Ranking:  # noqa: ARG002  the port's signature
        """Refuse to search.

        Raises:
            CodeNotReadable: always.
        """
        raise CodeNotReadable(self._reason)

    # Without code nothing is found, and the owner of a frame is unknown.
    survey = _always(Survey())
    sketches = _always(())
    read = _always(None)
    history = _always(History())
    naming = _always(())
    fingerprints = _always(())
    subject = _always(None)
    forms = _always(())
    text = _always(None)
    lines = _always(None)
    definitions = references = _always(Lookup())
    use_tool = _always(ToolAnswer("The code cannot be read."))
