"""Open the store, which every server and worker uses, in one SQLite file or in Postgres."""

from pathlib import Path

from bot.errors import UserError
from bot.settings.environment import Settings
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.tables import Store

NO_DRIVER = (
    "DATABASE_URL needs the Postgres driver: install the extra `postgres` (in a clone: make install EXTRAS=postgres)"
)


class SqliteStore(Store):
    """The tables in one file, which is created or migrated when it is opened."""

    def __init__(self, path: Path, *, tidy: bool = True) -> None:
        super().__init__(SqliteDatabase(path, tidy=tidy))


def open_store(settings: Settings, *, tidy: bool = True) -> Store:
    """Open the store; raises ``UserError`` if it cannot be used, or its schema is of another release."""
    if settings.database_url is None:
        return SqliteStore(settings.triage_data_dir / "store.db", tidy=tidy)
    try:
        from bot.store.databases.postgres import PostgresStore  # noqa: PLC0415  an extra
    except ImportError as error:
        raise UserError(NO_DRIVER) from error
    return PostgresStore(settings.database_url.get_secret_value())


def open_existing_store(settings: Settings) -> Store:
    """Open a store that a server has created before; raises ``UserError`` if it does not exist."""
    path = settings.triage_data_dir / "store.db"
    if settings.database_url is None and not path.exists():
        raise UserError(f"there is no {path}: set TRIAGE_DATA_DIR to the server's")
    return open_store(settings)
