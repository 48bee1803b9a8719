"""``triage worker``: works on what servers took in."""

from __future__ import annotations

import click


@click.command("worker")
@click.option(
    "--concurrency", type=click.IntRange(1, 64), help="Issues worked on at the same time; TRIAGE_CONCURRENCY otherwise."
)
def command(*, concurrency: int | None) -> None:
    """Work on the jobs in DATABASE_URL's database, beside any number of others.

    Needs the settings of `triage serve`, and a TRIAGE_DATA_DIR of its own for mirrors and parsed files. It logs
    worker_ready once it takes jobs. Stop it with SIGTERM or Ctrl-C: what runs may end, ten seconds at the most, and
    the others go on with the rest; after a kill they do so within ten seconds.
    """
    from bot.dispatch.alone import work  # noqa: PLC0415  --help needs no server
    from bot.errors import UserError  # noqa: PLC0415
    from bot.logs import log_to_stderr  # noqa: PLC0415
    from bot.server_settings import load_server_settings  # noqa: PLC0415

    settings = load_server_settings()
    if settings.settings.database_url is None:
        raise UserError("triage worker needs DATABASE_URL: on a data directory, triage serve does the work")
    log_to_stderr()
    work(settings, concurrency=concurrency)
