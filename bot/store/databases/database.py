"""The schema of a database, and its interface: transactions of SQL that SQLite and Postgres both accept."""

import asyncio
import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from importlib import resources
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from bot.errors import RetryableError
from nodes.context.ports import UnavailableError

_STEP = re.compile(r"^-- Step \d+: .*$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n?", re.MULTILINE)
_SCHEMA = resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
STEPS = tuple(_COMMENT.sub("", step).strip().removesuffix(";") for step in _STEP.split(_SCHEMA)[1:])
"""The migration steps. A file's ``user_version`` is the number of steps applied."""
T = TypeVar("T")
S = TypeVar("S", bound="TableGroup")
K = TypeVar("K", bound="Keyed")
P = ParamSpec("P")
# psycopg's cursor has the same attributes.
Rows = sqlite3.Cursor
"""The result of a statement."""
Value = str | bytes | int | float | None
Parameters = Sequence[Value] | Mapping[str, Value]


class StoreError(RetryableError, UnavailableError):
    """The disk is full, another process has locked the file, or the server is unavailable. No write is guaranteed."""


class ClosedError(StoreError):
    """This process has closed the store because it is shutting down."""


def upsert(table: str, keys: str, values: str) -> str:
    """Return a statement that inserts a row, or sets the values of the row with these keys; both are lists of names."""
    columns = f"{keys}, {values}"
    marks = ", ".join("?" * len(columns.split(", ")))
    changes = ", ".join(f"{name} = excluded.{name}" for name in values.split(", "))
    return f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT ({keys}) DO UPDATE SET {changes}"


class Connection(Protocol):
    """A connection to the database within one transaction.

    Statements are written once, for both databases. Parameters are ``?`` or ``:name``. ``ON CONFLICT … DO UPDATE``
    names its columns and qualifies each with its table or ``excluded``. Use ``CASE`` instead of ``iif`` and of ``max``
    with two arguments, ``count(*) FILTER`` instead of a sum of comparisons, and 0 and 1 as booleans.
    """

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Value]], /) -> Rows:
        """Run a statement once for each row."""

    def lock(self, keys: Iterable[str], /) -> None:
        """Lock these keys until the transaction ends, so that job ids of an issue grow in the order of commits."""


# A result must not be a cursor: sqlite3 refuses one outside the thread of its connection. Return rows or a count.
Work = Callable[[Connection], T]
"""The body of a transaction. It changes nothing but the database, since it runs again after a conflict."""


class Database(ABC):
    """A database that runs all its work in threads of its own, outside the event loop."""

    def __init__(self, threads: ThreadPoolExecutor) -> None:
        self._threads = threads
        self._closed = False

    async def do(self, work: Work[T]) -> T:
        """Run a serializable transaction, all of it or nothing; raises ``StoreError``."""
        return await self._run(self._commit, work)

    async def read(self, work: Work[T]) -> T:
        """Run a query that does not block writers; raises ``StoreError``."""
        return await self._run(self._query, work)

    async def _run(self, run: Callable[[Work[T]], T], work: Work[T]) -> T:
        if self._closed:
            raise ClosedError("the store is closed")
        return await asyncio.get_running_loop().run_in_executor(self._threads, run, work)

    @abstractmethod
    def _commit(self, work: Work[T]) -> T:
        """Run a transaction, in one of the threads."""

    @abstractmethod
    def _query(self, work: Work[T]) -> T:
        """Run a query, in one of the threads."""

    @abstractmethod
    def clock(self) -> float:
        """Return seconds since 1970, the same for all processes that use this database."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close all connections after the transactions that were submitted before."""


class TableGroup:
    """One use of the tables of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def _clock(self) -> float:
        return self._database.clock()

    async def _rows(self, statement: str, parameters: Parameters = ()) -> list[Any]:
        """Return the rows of a query."""
        return await self._database.read(lambda db: db.execute(statement, parameters).fetchall())

    async def _row(self, statement: str, parameters: Parameters = ()) -> Any:
        """Return the first row of a query; None if it has none."""
        return await self._database.read(lambda db: db.execute(statement, parameters).fetchone())

    async def _change(self, statement: str, parameters: Parameters = ()) -> int:
        """Run one statement in a transaction; return the number of rows that it wrote."""
        return await self._database.do(lambda db: db.execute(statement, parameters).rowcount)


class ForeignKeyError(RuntimeError):
    """A key of one repository was used under another."""


class Keyed(TableGroup):
    """The rows of one key: those of an issue, or of a repository."""

    def __init__(self, database: Database, key: str) -> None:
        super().__init__(database)
        self._key = key


def transaction(
    work: Callable[Concatenate[S, Connection, P], T],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Make a method of a table that callers await without the connection: it commits all of its changes or none."""

    @wraps(work)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.do(lambda db: work(self, db, *args, **kwargs))

    return run


def query(work: Callable[Concatenate[S, Connection, P], T]) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """Make a method of a table that callers await without the connection: it only reads, and blocks no writer."""

    @wraps(work)
    async def run(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda db: work(self, db, *args, **kwargs))

    return run


def of_key(read: Callable[Concatenate[Connection, str, P], T]) -> Callable[Concatenate[K, P], Coroutine[Any, Any, T]]:
    """Make a method of a function that reads the rows of one key: the key is the table's."""

    @wraps(read)
    async def run(self: K, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._database.read(lambda db: read(db, self._key, *args, **kwargs))

    return run
