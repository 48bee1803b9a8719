"""``triage serve``: the GitHub App."""

from __future__ import annotations

import click


@click.command("serve")
@click.option("--host", help="The address to listen on; HOST says it otherwise.")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on, 0 for a free one; PORT otherwise.")
@click.option(
    "--no-worker", is_flag=True, help="Only take deliveries; `triage worker` works on them. With DATABASE_URL."
)
def command(*, host: str | None, port: int | None, no_worker: bool) -> None:
    """Run the GitHub App: deliveries come in at /webhooks/github, everything else follows by itself.

    Needs GITHUB_APP_ID, GITHUB_PRIVATE_KEY (or _PATH) and GITHUB_WEBHOOK_SECRET. Stop it with SIGTERM or Ctrl-C:
    what was under way goes on at the next start.
    """
    from bot.errors import UserError  # noqa: PLC0415  --help needs no server
    from bot.logs import log_to_stderr  # noqa: PLC0415
    from bot.server import serve  # noqa: PLC0415
    from bot.server_settings import load_server_settings  # noqa: PLC0415

    settings = load_server_settings()
    if no_worker and settings.settings.database_url is None:
        raise UserError("--no-worker needs DATABASE_URL: nobody else can work on what is in a data directory")
    log_to_stderr()
    port = settings.settings.port if port is None else port
    serve(settings, host=host or settings.settings.host, port=port, work=not no_worker)
