"""The graph's code port: one commit, or why it cannot be read."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self, TypeVar

from bot.errors import BotError, GoneError
from bot.runs.fetching import ForbiddenError, TooLargeToFetchError
from nodes.search.engine import Engine
from nodes.search.git.errors import CodeNotReadable
from nodes.search.history.log import Log
from nodes.search.history.mainline import naming
from nodes.search.history.reading import subject_of
from nodes.search.history.types import History, Spot, spots_of
from nodes.search.index.index import Index
from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.forms import IssueForm, read_forms
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.ranking.pipeline import Measured
from nodes.search.reading.tools import ReadingTools
from nodes.search.types import Lookup, Query, Ranking, Scope, Survey, ToolAnswer

T = TypeVar("T")
Method = Callable[..., Coroutine[Any, Any, T]]


def _always(value: T) -> Method[T]:
    """Return a method that returns a value, whatever it is asked."""

    async def answer(*_asked: object) -> T:
        return value

    return answer


def _in_thread(ask: Callable[..., T]) -> Method[T]:
    """Return a method that reads in a thread."""

    async def answer(*asked: object) -> T:
        return await asyncio.to_thread(ask, *asked)

    return answer


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
        self._measured: tuple[Query, Measured] | None = None

    def close(self) -> None:
        """Release the engine; nothing can be read any more.

        Whatever a run opened and keeps open, such as a connection, holds the run's context variables, and through them
        this object, for as long as it lives.
        """
        del self._engine
        self._surveyed, self._found, self._measured = None, None, None

    @property
    def sha(self) -> str:
        """The full SHA of the commit."""
        return self._sha

    async def find(self, query: Query) -> Ranking:
        """Rank files and locations for a query; the last ranking is kept, since a survey often follows it."""
        asked = self._narrowed(query)
        if self._found is None or self._found[0] != asked:
            self._found = (asked, await asyncio.to_thread(self._find, asked))
        return self._found[1]

    def _find(self, asked: Query) -> Ranking:
        alone = replace(asked, limit=0)
        # The first search is for the issue's text, and a retry asks for more places.
        if self._measured is None:
            self._measured = (alone, self._engine.measure(asked, self._sha))
        known, measured = self._measured
        return self._engine.find(asked, self._sha, measured if alone == known else None)

    async def survey(self, query: Query) -> Survey:
        """Return the top files and facts about them; the last result is cached, since every draft requests it."""
        if self._surveyed is None or self._surveyed[0] != query:
            asked, (found, ranking) = self._narrowed(query), self._found or (None, None)
            known = ranking if found == asked else None
            self._surveyed = (query, await asyncio.to_thread(self._engine.survey, asked, self._sha, known))
        return self._surveyed[1]

    async def prepare_history(self, query: Query) -> None:
        """Begin to read the history of the first places; ``history`` uses what git answered for the same lines."""
        spots = spots_of((await self.survey(query)).leads)
        ThreadPoolExecutor(1).submit(self._read_ahead, query, spots)

    def _read_ahead(self, query: Query, spots: Sequence[Spot]) -> None:
        found = self._engine.history(query, spots, self._sha).suspicion
        for change in (*found.changes, *found.recent):
            subject_of(self._log(), change.commit.sha)

    # What ``CodePort`` describes, from the engine, the tools of a reader, or the history of the commit.
    sketches = _in_thread(lambda code, query, paths: code._engine.sketches(code._narrowed(query), paths, code._sha))
    read = _in_thread(lambda code, path, first, last: code._engine.repository.lines(code._sha, path, first, last))
    text = _in_thread(lambda code, path: code._engine.repository.text(code._sha, path))
    history = _in_thread(lambda code, query, spots: code._engine.history(query, spots, code._sha))
    fingerprints = _in_thread(lambda code, text: fingerprints(find_traces(text), code._index("source").names))
    invalid_facts = _in_thread(lambda code, facts, text: code._engine.invalid_facts(facts, text, code._sha))
    """Returns the positions of the facts that fail a second verification."""
    lines = _in_thread(lambda code, path, first, last: code._tools().lines(path, first, last))
    definitions = _in_thread(lambda code, name: code._tools().definitions(name))
    references = _in_thread(lambda code, name: code._tools().references(name))
    use_tool = _in_thread(lambda code, call: code._tools().answer(call))
    naming = _in_thread(lambda code, number, project, since: naming(code._log(), number, project, since))
    subject = _in_thread(lambda code, change: subject_of(code._log(), change))
    follows = _in_thread(lambda code, sha: code._log().is_ancestor(sha))
    """Returns whether another commit, given by its full SHA, is an ancestor of this one."""

    def unreported_limits(self) -> tuple[str, ...]:
        """Return the codes of what was not read because the repository is too large; each code is returned once."""
        return self._engine.repository.shortfalls.unreported_limits()

    async def forms(self) -> tuple[IssueForm, ...]:
        """Return the commit's issue forms, read once and cached."""
        if self._forms is None:
            self._forms = await asyncio.to_thread(read_forms, self._engine.repository, self._sha)
        return self._forms

    def _narrowed(self, query: Query) -> Query:
        return replace(query, ignore=(*query.ignore, *self._ignore)) if self._ignore else query

    def _tools(self) -> ReadingTools:
        return ReadingTools(self._engine.repository, self._sha, self._index("all"), self._ignore)

    def _index(self, scope: Scope) -> Index:
        return self._engine.index(self._sha, scope)

    def _log(self) -> Log:
        return Log(self._engine.repository, self._sha)


class NoCode:
    """Return empty results, and refuse to search so that no report claims that code was searched."""

    sha = ""

    def __init__(self, reason: str = "it does not exist") -> None:
        """Represent code that cannot be read."""
        self._reason = reason

    @classmethod
    def because(cls, error: BotError) -> Self:
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
        """Refuse to search: raise CodeNotReadable."""
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
