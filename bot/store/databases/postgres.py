"""Use one Postgres database from many processes: transactions are serializable and retried after a conflict."""

import asyncio
import functools
import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from typing import Any, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import DeadlockDetected, IdleInTransactionSessionTimeout, SerializationFailure
from psycopg.types.string import StrDumper

from bot.errors import UnreachableError, UserError
from bot.store.databases.database import Database, Parameters, Rows, StoreError, T, Value, Work
from bot.store.databases.postgres_schema import require_current
from bot.store.tables import Store
from bot.store.workers import Workers

CONNECTIONS = 4
"""Connections of one process at most."""
CLOCK_KEPT = 1.0
"""Seconds for which the last reading of the server's clock is used."""
SERVER_SECONDS = 8.0
"""Seconds to wait for an unavailable server or for conflicting transactions. GitHub waits ten for a response."""
_FIRST_NAP, _LONGEST_NAP = 0.002, 0.25
# TCP alone notices after hours that a server vanished without closing its connections; with these values it takes some
# ten seconds.
_CONNECTION_DEFAULTS = {
    "application_name": "tracehound",
    "connect_timeout": "5",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
# A process that freezes within a transaction must not block the others.
_SESSION = "SET idle_in_transaction_session_timeout = '5s'; SET lock_timeout = '10s'; SET statement_timeout = '60s'"
# Quoted strings are matched to skip parameters in them, ``::`` is a cast, and psycopg needs ``%`` doubled.
_TOKENS = re.compile(r"'[^']*'|\?|(?<!:):([a-z_]+)|%")
_UNSTORABLE = re.compile("[\\0\ud800-\udfff]")
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(key, 0)) FROM unnest(%s::text[]) AS key"

_Connection = psycopg.Connection[tuple[Any, ...]]
_CONFLICTS = (SerializationFailure, DeadlockDetected)


class PostgresDatabase(Database):
    """A few connections, each used by one thread at a time; a transaction that conflicts with another is retried."""

    def __init__(self, url: str) -> None:
        """Connect; raises ``UserError`` if no server answers, or its schema is another release's."""
        super().__init__(ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="store"))
        self._url = url
        self._clock_offset, self._clock_read_at = 0.0, 0.0
        self._idle: SimpleQueue[_Connection] = SimpleQueue()
        connection = connect(url)
        try:
            require_current(connection)
            self._set_clock(connection)
        except BaseException:
            connection.close()
            raise
        self._idle.put(connection)

    def _commit(self, work: Work[T]) -> T:
        # If the response to COMMIT is lost, the commit may have succeeded.
        return self._with_retries(_commit, work)

    def _query(self, work: Work[T]) -> T:
        return self._with_retries(_query, work)

    def clock(self) -> float:
        """Return the server's time, independent of this machine's clock; a later transaction refreshes it."""
        return time.monotonic() + self._clock_offset

    async def aclose(self) -> None:
        """Close the connections."""
        self._closed = True
        # Waits for transactions in progress, whose threads return their connections before these are closed.
        await asyncio.to_thread(self._threads.shutdown)
        while not self._idle.empty():
            self._idle.get().close()

    def _with_retries(self, run: Callable[[_Connection, Work[T]], T], work: Work[T]) -> T:
        until, nap = time.monotonic() + SERVER_SECONDS, _FIRST_NAP
        while True:
            # The clock is read in a call that is made anyway, at most once a second.
            connection = None
            try:
                connection = self._connection()
                if time.monotonic() - self._clock_read_at > CLOCK_KEPT:
                    self._set_clock(connection)
                return run(connection, work)
            except (psycopg.OperationalError, IdleInTransactionSessionTimeout) as error:
                # A lost connection or a conflict is retried; other errors, such as a full disk, are raised at once.
                is_transient = connection is None or connection.closed or isinstance(error, _CONFLICTS)
                if not is_transient or time.monotonic() + nap > until:
                    raise StoreError(driver_message(error)) from error
            finally:
                if connection is not None and not connection.closed:
                    self._idle.put(connection)
            time.sleep(nap * random.uniform(0.5, 1.0))  # noqa: S311  two conflicting transactions must not retry at the same time
            nap = min(2 * nap, _LONGEST_NAP)

    def _set_clock(self, connection: _Connection) -> None:
        (seconds,) = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float8").fetchone() or (0.0,)
        # Read after the response, so that the clock is late by its transit but never ahead of the server's.
        self._clock_read_at = time.monotonic()
        self._clock_offset = seconds - self._clock_read_at

    def _connection(self) -> _Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            return _connect(self._url)


class PostgresStore(Store):
    """The tables in one Postgres database, which ``triage migrate`` created."""

    def __init__(self, url: str) -> None:
        database = PostgresDatabase(url)
        super().__init__(database)
        self.url = url
        self.workers = Workers(database)


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """Connect in autocommit mode; raises ``UserError`` if the address is invalid, or no server answers there."""
    try:
        return _connect(url)
    except psycopg.OperationalError as error:
        raise UnreachableError(f"DATABASE_URL: the database cannot be reached: {driver_message(error)}") from error
    except psycopg.ProgrammingError as error:  # its message may contain the password
        raise UserError("DATABASE_URL is not an address such as postgresql://user:password@host/name") from error


def _connect(url: str) -> _Connection:
    connection = psycopg.connect(address(url), autocommit=True)
    # For every parameter, so that no statement can forget to replace what Postgres cannot store.
    connection.adapters.register_dumper(str, _Text)
    connection.execute(_SESSION)
    return connection


def address(url: str) -> str:
    """Return the connection string, with defaults for timeouts and keepalives that detect a lost server."""
    parameters = conninfo_to_dict(url)
    return make_conninfo(url, **{name: value for name, value in _CONNECTION_DEFAULTS.items() if name not in parameters})


def _commit(connection: _Connection, work: Work[T]) -> T:
    try:
        connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE", prepare=False)
        result = work(_Statements(connection))
    except BaseException:
        _roll_back(connection)
        raise
    try:
        connection.execute("COMMIT", prepare=False)
    except (psycopg.OperationalError, IdleInTransactionSessionTimeout) as error:
        if connection.closed:  # the commit may have succeeded, so the transaction must not be retried
            raise StoreError(driver_message(error)) from error
        raise
    return result


def _query(connection: _Connection, work: Work[T]) -> T:
    # In autocommit mode: without a transaction a query neither conflicts nor holds locks.
    return work(_Statements(connection))


# A connection whose state is unknown is closed, so that it is not used again.
def _roll_back(connection: _Connection) -> None:
    try:
        connection.execute("ROLLBACK", prepare=False)
    except psycopg.Error:
        connection.close()


def driver_message(error: psycopg.Error) -> str:
    """Return the driver's message in one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__


class _Statements:
    """Translates the store's statements to Postgres."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def execute(self, statement: str, parameters: Parameters = (), /) -> Rows:
        """Run a statement."""
        return cast("Rows", self._connection.execute(_translated(statement), parameters))

    def executemany(self, statement: str, rows: Iterable[Sequence[Value]], /) -> Rows:
        """Run a statement once for each row."""
        cursor = self._connection.cursor()
        cursor.executemany(_translated(statement), rows)
        return cast("Rows", cursor)

    def lock(self, keys: Iterable[str], /) -> None:
        """Lock these keys until the transaction ends, so that no other transaction stores jobs under them."""
        self._connection.execute(_LOCK, (sorted(set(keys)),))  # in sorted order, to prevent deadlocks


@functools.lru_cache(maxsize=512)
def _translated(statement: str) -> bytes:
    return _TOKENS.sub(_token, statement).encode()


def _token(found: re.Match[str]) -> str:
    text, name = found.group(), found.group(1)
    if text == "?":
        return "%s"
    return f"%({name})s" if name else text.replace("%", "%%")


def storable(text: str) -> str:
    """Replace the characters that Postgres cannot store: NUL and lone surrogates."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class _Text(StrDumper):
    def dump(self, obj: str) -> Any:
        return super().dump(storable(obj))
