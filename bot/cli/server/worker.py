"""``triage worker``: process the jobs that servers stored."""

from __future__ import annotations

import click


@click.command("worker")
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    help="The number of issues processed at the same time; default: TRIAGE_CONCURRENCY.",
)
def command(*, concurrency: int | None) -> None:
    """Process the jobs in DATABASE_URL's database, together with any number of other workers.

    Needs the settings of `triage serve`, and its own TRIAGE_DATA_DIR for mirrors and parsed files. It logs
    worker_ready once it accepts jobs. Stop it with SIGTERM or Ctrl-C: running jobs have five seconds to finish, and
    other workers continue the rest. After a kill, other workers take over its jobs within ten seconds.
    """
    from bot.errors import UserError
    from bot.observability.logs import log_to_stderr
    from bot.settings.server import load_server_settings
    from bot.worker.dispatch.worker_process import work

    settings = load_server_settings()
    if settings.settings.database_url is None:
        raise UserError("triage worker needs DATABASE_URL: with a data directory, triage serve runs the jobs")
    log_to_stderr()
    work(settings, concurrency=concurrency)
