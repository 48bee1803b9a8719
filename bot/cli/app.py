"""``triage app``: the App at GitHub."""

from __future__ import annotations

import click


@click.group("app")
def command() -> None:
    """Register the App at GitHub."""


@command.command("create")
@click.option("--org", default="", help="The organisation it belongs to; your own account otherwise.")
@click.option("--public-url", help="Where GitHub and browsers will reach the server; TRIAGE_PUBLIC_URL otherwise.")
@click.option("--webhook-url", help="Where deliveries go, if elsewhere: a channel of smee.io, say.")
@click.option("--server-url", help="The address of a GitHub Enterprise Server; GITHUB_SERVER_URL otherwise.")
@click.option("--name", help="The App's name; GitHub lets you change it.")
@click.option("--show", is_flag=True, help="Print its secrets for a secret store, instead of keeping them.")
@click.option("--no-browser", is_flag=True, help="Print the address to open, and open nothing.")
def create(
    *,
    org: str,
    public_url: str | None,
    webhook_url: str | None,
    server_url: str | None,
    name: str | None,
    show: bool,
    no_browser: bool,
) -> None:
    """Have GitHub make the App: two clicks in a browser on this machine.

    It is asked for the permissions and events of app.yml, and nothing else. Its secrets go to app.json in
    TRIAGE_DATA_DIR, which nobody else can read and `triage serve` reads, unless --show prints them.
    """
    from bot.app_create import Answers, create_app  # noqa: PLC0415  --help needs no server

    create_app(Answers(org, public_url, webhook_url, server_url, name, keep=not show), browse=not no_browser)
