"""``triage app``: register the GitHub App."""

from __future__ import annotations

import json

import click

from bot.cli.options import DRY_RUN


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
def create(
    *,
    org: str,
    public_url: str | None,
    webhook_url: str | None,
    server_url: str | None,
    name: str | None,
    show: bool,
    no_browser: bool,
    dry_run: bool,
) -> None:
    """Create the App on GitHub with two clicks in a browser on this machine.

    The App requests the permissions and events of app.yml and no others. Its secrets are stored in app.json in
    TRIAGE_DATA_DIR, readable only by you and used by `triage serve`, unless --show prints them instead. With --dry-run
    the requested permissions and events are printed.
    """
    from bot.server.first_start import create_app
    from bot.server.registration import registration

    if dry_run:
        click.echo(json.dumps(registration(), indent=1))
        return
    create_app(
        owner=org,
        public_url=public_url,
        webhook_url=webhook_url,
        server_url=server_url,
        name=name,
        keep=not show,
        browse=not no_browser,
    )
