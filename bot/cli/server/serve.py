"""A server's processes and databases: ``triage serve``, ``worker``, ``app``, ``migrate`` and ``backup``."""

import json
import shutil
from pathlib import Path

import click

from bot.cli.options import DRY_RUN
from bot.errors import UserError
from bot.observability.logs import log_to_stderr
from bot.settings.environment import load_settings
from bot.settings.server import NoAppError, load_server_settings
from bot.store.databases.database import StoreError
from bot.store.databases.sqlite import NO_DRIVER
from bot.store.databases.sqlite_file import copy_database

_CONCURRENCY = click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="The number of issues processed at the same time.",
)
DATABASES = ("store.db", "checkpoints.db")
"""The checkpoints come second: a run may be further there than in the store, as after a kill, and not the reverse."""
SECRETS = ("app.json", "session-secret")


@click.command("serve")
@click.option("--host", help="The address to listen on; default: HOST.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on, 0 for a free one; default: PORT.")
@_CONCURRENCY
@click.option(
    "--no-worker", is_flag=True, help="Only receive deliveries; `triage worker` runs the jobs. Needs DATABASE_URL."
)
def serve_command(*, host: str | None, port: int | None, concurrency: int, no_worker: bool) -> None:
    """Run the GitHub App: receive deliveries at /webhooks/github, triage the issues and post the results.

    If no App is configured, it serves a page that creates one on GitHub; the log has the address. Otherwise it needs
    GITHUB_APP_ID, GITHUB_PRIVATE_KEY (or _PATH) and GITHUB_WEBHOOK_SECRET. Stop it with SIGTERM or Ctrl-C; unfinished
    jobs resume at the next start.
    """
    from bot.server.first_start import wait_for_app
    from bot.server.process import listening, serve

    try:
        settings, has_app = load_server_settings().settings, True
    except NoAppError as error:
        settings, has_app = error.sound, False
    if no_worker and settings.database_url is None:
        raise UserError("--no-worker needs DATABASE_URL: no other process can run the jobs of a data directory")
    log_to_stderr()
    with listening(host or settings.host, settings.port if port is None else port) as listener:
        if has_app or wait_for_app(settings, listener):
            serve(load_server_settings(), listener, concurrency=None if no_worker else concurrency)


@click.command("worker")
@_CONCURRENCY
def worker_command(*, concurrency: int) -> None:
    """Process the jobs in DATABASE_URL's database, together with any number of other workers.

    Needs the settings of `triage serve`, and its own TRIAGE_DATA_DIR for mirrors and parsed files. It logs
    worker_ready once it accepts jobs. Stop it with SIGTERM or Ctrl-C: running jobs have five seconds to finish, and
    other workers continue the rest. After a kill, other workers take over its jobs within ten seconds.
    """
    from bot.worker.dispatch.worker_process import work

    settings = load_server_settings()
    if settings.settings.database_url is None:
        raise UserError("triage worker needs DATABASE_URL: with a data directory, triage serve runs the jobs")
    log_to_stderr()
    work(settings, concurrency=concurrency)


@click.group("app")
def app_command() -> None:
    """Register the App on GitHub."""


@app_command.command("create")
@click.option("--org", default="", help="The organisation that owns the App; default: your own account.")
@click.option(
    "--public-url", help="The address at which GitHub and browsers reach the server; default: TRIAGE_PUBLIC_URL."
)
@click.option("--webhook-url", help="The address for deliveries, if it differs, for example a channel of smee.io.")
@click.option("--server-url", help="The address of a GitHub Enterprise Server; default: GITHUB_SERVER_URL.")
@click.option("--name", help="The App's name; GitHub lets you change it.")
@click.option("--show", is_flag=True, help="Print the secrets for a secret store, instead of storing them.")
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening a browser.")
@DRY_RUN
def create(*, org: str, show: bool, no_browser: bool, dry_run: bool, **named: str | None) -> None:
    """Create the App on GitHub with two clicks in a browser on this machine.

    The App requests the permissions and events of app.yml, which --dry-run prints. Its secrets are stored in app.json
    in TRIAGE_DATA_DIR, readable only by you, unless --show prints them instead.
    """
    from bot.server.first_start import create_app
    from bot.server.registration import registration

    if dry_run:
        click.echo(json.dumps(registration(), indent=1))
        return
    create_app(owner=org, keep=not show, browse=not no_browser, **named)


@click.command("migrate")
@DRY_RUN
def migrate_command(*, dry_run: bool) -> None:
    """Create or update the tables in DATABASE_URL's database.

    Run it before the servers and workers of a new release start. Concurrent runs are safe. A data directory without a
    database is updated when it is opened and does not need this command.
    """
    address = load_settings().database_url
    if address is None:
        raise UserError("DATABASE_URL is not set: a data directory is migrated at start")
    try:
        from bot.store.databases.postgres import connect
        from bot.store.databases.postgres_schema import migrate, missing
    except ImportError as error:
        raise UserError(NO_DRIVER) from error
    with connect(address.get_secret_value()) as connection:
        steps = missing(connection) if dry_run else migrate(connection)
    done = "would be applied" if dry_run else "applied"
    click.echo(f"{steps} migration steps {done}" if steps else "the database is up to date")


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
@DRY_RUN
def backup_command(*, folder: Path, dry_run: bool) -> None:
    """Copy the data directory's databases and secrets to a new FOLDER.

    A server may run at the same time. The copy is a data directory: `TRIAGE_DATA_DIR` may name it, or a copy of it.
    Mirrors are left out, because they can be fetched again. For DATABASE_URL use `pg_dump`.
    """
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
