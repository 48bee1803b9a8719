"""``triage migrate``: update the database schema before a release starts."""

from __future__ import annotations

import click


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Print how many steps are missing, and apply none.")
def command(*, dry_run: bool) -> None:
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
        from bot.store.databases.postgres import connect
        from bot.store.databases.postgres.migrate import migrate, missing
    except ImportError as error:
        raise UserError(NO_DRIVER) from error
    with connect(address.get_secret_value()) as connection:
        steps = missing(connection) if dry_run else migrate(connection)
    done = "would be applied" if dry_run else "applied"
    click.echo(f"{steps} migration steps {done}" if steps else "the database is up to date")
