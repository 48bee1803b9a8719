"""``triage app`` and ``triage token``: register the GitHub App, and manage the tokens of the HTTP API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import click

from bot.cli.options import DRY_RUN, prints
from bot.errors import UserError

if TYPE_CHECKING:
    from bot.store.tables import Store

T = TypeVar("T")


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


@click.group("token")
def token_command() -> None:
    """Create, list and revoke tokens for the HTTP API; each reads the data of one repository and writes nothing."""


@token_command.command("create")
@click.argument("repository", metavar="OWNER/REPO")
@click.option("--label", default="", help="The token's purpose, up to 100 characters, for the list.")
@DRY_RUN
def create_token(*, repository: str, label: str, dry_run: bool) -> None:
    """Create a token for a repository and print it; it cannot be shown again."""
    if len(label) > 100 or not label.isprintable():
        raise UserError("--label: at most 100 printable characters")
    click.echo(_with_store(lambda store: _create(store, repository, label, dry_run=dry_run)))


@token_command.command("list")
@prints("one object per line.")
def listed(*, as_json: bool) -> None:
    """List the tokens by id, without their texts."""
    for line in _with_store(lambda store: _listed(store, as_json=as_json)):
        click.echo(line)


@token_command.command("revoke")
@click.argument("token_id", metavar="ID")
@DRY_RUN
def revoke(*, token_id: str, dry_run: bool) -> None:
    """Revoke a token by the id that `triage token list` prints; it stops working at once."""
    if not _with_store(lambda store: _revoke(store, token_id, dry_run=dry_run)):
        raise UserError(f"no token has the id {token_id}; `triage token list` lists them")
    click.echo(f"token {token_id} {'would be' if dry_run else 'is'} revoked")


def _with_store(use: Callable[[Store], Awaitable[T]]) -> T:
    from bot.settings import load_settings
    from bot.store.databases.opening import open_existing_store

    async def used() -> T:
        async with aclosing(open_existing_store(load_settings())) as store:
            return await use(store)

    return asyncio.run(used())


async def _create(store: Store, repository: str, label: str, *, dry_run: bool) -> str:
    from bot.store.access import MAX_TOKENS, TooManyTokensError

    ref = await store.installations.named(repository)
    if ref is None:
        raise UserError(f"the App is not installed in {repository}, or has received no event of it yet")
    if dry_run:
        return f"a token for {ref.owner}/{ref.name} would be created"
    try:
        return await store.api_tokens.create(ref.key, label)
    except TooManyTokensError:
        raise UserError(f"{repository} has {MAX_TOKENS} tokens: revoke one first") from None


async def _revoke(store: Store, token_id: str, *, dry_run: bool) -> bool:
    if dry_run:
        return token_id in {token.id for token in await store.api_tokens.all()}
    return await store.api_tokens.revoke(token_id)


async def _listed(store: Store, *, as_json: bool) -> list[str]:
    lines = []
    for token in await store.api_tokens.all():
        created = datetime.fromtimestamp(token.created_at, UTC).isoformat(timespec="seconds")
        row = {"id": token.id, "repository": token.repository, "label": token.label, "created_at": created}
        lines.append(
            json.dumps(row) if as_json else f"{token.id}  {created}  {token.repository:<32} {token.label}".rstrip()
        )
    return lines
