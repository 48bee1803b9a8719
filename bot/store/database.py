"""What the store asks of a database: SQL that SQLite and Postgres both understand, in transactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from bot.errors import RetryableError

T = TypeVar("T")
Value = str | bytes | int | float | None
Parameters = Sequence[Value] | Mapping[str, Value]


class StoreError(RetryableError):
    """The disk is full, somebody holds the file, or the server is away: nothing is known to be written."""


class ClosedError(StoreError):
    """This process has closed the store, because it ends."""


class Rows(Protocol):
    """What a statement came to."""

    @property
    def rowcount(self) -> int:
        """Rows that were written."""

    @property
    def description(self) -> Any:
        """For each column a tuple that begins with its name."""

    def fetchone(self) -> Any:
        """The next row; None if there is none."""

    def fetchall(self) -> list[Any]:
        """All rows."""

    def __iter__(self) -> Iterator[Any]:
        """Row by row."""


class Connection(Protocol):
    """One database, as a transaction sees it.

    Statements are written once, for both databases: parameters are ``?`` or ``:name``, ``ON CONFLICT … DO UPDATE``
    names its columns and says whose each one is, ``CASE`` stands for ``iif`` and for ``max`` of two,
    ``count(*) FILTER`` for a sum of comparisons, and 0 and 1 for truth.
    """

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Value]], /) -> Rows:
        """Run a statement for each row."""

    def lock(self, keys: Iterable[str], /) -> None:
        """Let nobody else store jobs under these keys before this transaction ends, so that ids grow with time."""


Work = Callable[[Connection], T]
"""May be run again from its start if it met another one: it changes nothing but the database."""


class Database(Protocol):
    """Where the tables are; none of its work is on the event loop."""

    async def do(self, work: Work[T]) -> T:
        """Commit what was done as if nobody else did anything meanwhile, or nothing.

        Raises:
            StoreError: the database does not answer, or is full.
        """

    async def read(self, work: Work[T]) -> T:
        """Look something up without keeping writers out.

        Raises:
            StoreError: the database does not answer.
        """

    def clock(self) -> float:
        """Seconds since 1970, the same for everybody who uses this database."""

    async def aclose(self) -> None:
        """Close what is open."""
