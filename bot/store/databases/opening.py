"""Open the store: a file in the data directory of one machine, or the database that ``DATABASE_URL`` names."""

from __future__ import annotations

from bot.errors import UserError
from bot.settings import Settings
from bot.store.databases.sqlite import SqliteStore
from bot.store.tables import Store

NO_DRIVER = (
    "DATABASE_URL needs the Postgres driver: install the extra `postgres` (in a clone: make install EXTRAS=postgres)"
)


def open_store(settings: Settings, *, tidy: bool = True) -> Store:
    """Open the store.

    Raises:
        UserError: it cannot be used, or its schema is of another release.
    """
    if settings.database_url is None:
        return SqliteStore(settings.triage_data_dir / "store.db", tidy=tidy)
    try:
        from bot.store.databases.postgres import PostgresStore  # noqa: PLC0415  an extra
    except ImportError as error:
        raise UserError(NO_DRIVER) from error
    return PostgresStore(settings.database_url.get_secret_value())


def open_existing_store(settings: Settings) -> Store:
    """Open a store that a server has created before.

    Raises:
        UserError: it does not exist.
    """
    path = settings.triage_data_dir / "store.db"
    if settings.database_url is None and not path.exists():
        raise UserError(f"there is no {path}: set TRIAGE_DATA_DIR to the server's")
    return open_store(settings)
