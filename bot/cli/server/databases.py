"""``triage migrate`` and ``triage backup``: the databases of a server."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from bot.errors import UserError

DATABASES = ("store.db", "checkpoints.db")
"""The checkpoints come second: a run may be further there than in the store, as after a kill, and not the reverse."""
SECRETS = ("app.json", "session-secret")


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Print how many steps are missing, and apply none.")
def migrate_command(*, dry_run: bool) -> None:
    """Create or update the tables in DATABASE_URL's database.

    Run it before the servers and workers of a new release start. Concurrent runs are safe. A data directory without a
    database is updated when it is opened and does not need this command.
    """
    from bot.errors import UserError
    from bot.settings import load_settings
    from bot.store.databases.opening import NO_DRIVER

    address = load_settings().database_url
    if address is None:
        raise UserError("DATABASE_URL is not set: a data directory is migrated at start")
    try:
        from bot.store.databases.postgres.migrate import migrate, missing
        from bot.store.databases.postgres.store import connect
    except ImportError as error:
        raise UserError(NO_DRIVER) from error
    with connect(address.get_secret_value()) as connection:
        steps = missing(connection) if dry_run else migrate(connection)
    done = "would be applied" if dry_run else "applied"
    click.echo(f"{steps} migration steps {done}" if steps else "the database is up to date")


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Print what would be copied, and copy nothing.")
def backup_command(*, folder: Path, dry_run: bool) -> None:
    """Copy the data directory's databases and secrets to a new FOLDER.

    A server may run at the same time. The copy is a data directory: `TRIAGE_DATA_DIR` may name it, or a copy of it.
    Mirrors are left out, because they can be fetched again. For DATABASE_URL use `pg_dump`.
    """
    from bot.settings import load_settings
    from bot.store.databases.database import StoreError
    from bot.store.databases.sqlite import copy_database

    settings = load_settings()
    if settings.database_url is not None:
        raise UserError("the data is in DATABASE_URL's database: back it up with pg_dump --format=custom")
    data = settings.triage_data_dir
    if not (data / DATABASES[0]).exists():
        raise UserError(f"there is no {data / DATABASES[0]}: set TRIAGE_DATA_DIR to the server's")
    found = [name for name in (*DATABASES, *SECRETS) if (data / name).exists()]
    try:
        if not dry_run:
            folder.mkdir(mode=0o700)
        for name in found if not dry_run else ():
            (copy_database if name in DATABASES else shutil.copy2)(data / name, folder / name)
    except (OSError, StoreError) as error:
        raise UserError(f"no complete backup in {folder}: {getattr(error, 'strerror', None) or error}") from error
    click.echo(f"{folder}: {', '.join(found)}{' would be copied' if dry_run else ''}")
