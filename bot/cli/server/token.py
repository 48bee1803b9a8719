"""``triage token``: create, list and revoke tokens that read one repository's data over the HTTP API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

import click

from bot.cli.options import prints
from bot.errors import UserError

if TYPE_CHECKING:
    from bot.store.tables import Store

T = TypeVar("T")


@click.group("token")
def command() -> None:
    """Create, list and revoke tokens for the HTTP API; each reads the data of one repository and writes nothing."""


@command.command("create")
@click.argument("repository", metavar="OWNER/REPO")
@click.option("--label", default="", help="The token's purpose, up to 100 characters, for the list.")
def create(*, repository: str, label: str) -> None:
    """Create a token for a repository and print it; it cannot be shown again."""
    if len(label) > 100 or not label.isprintable():
        raise UserError("--label: at most 100 printable characters")
    click.echo(_with_store(lambda store: _create(store, repository, label)))


@command.command("list")
@prints("one object per line.")
def listed(*, as_json: bool) -> None:
    """List the tokens by id, without their texts."""
    for line in _with_store(lambda store: _listed(store, as_json=as_json)):
        click.echo(line)


@command.command("revoke")
@click.argument("token_id", metavar="ID")
def revoke(*, token_id: str) -> None:
    """Revoke a token by the id that `triage token list` prints; it stops working at once."""
    if not _with_store(lambda store: store.api_tokens.revoke(token_id)):
        raise UserError(f"no token has the id {token_id}; `triage token list` lists them")
    click.echo(f"token {token_id} is revoked")


def _with_store(use: Callable[[Store], Awaitable[T]]) -> T:
    from bot.settings import load_settings
    from bot.store.databases.opening import open_existing_store

    async def used() -> T:
        store = open_existing_store(load_settings())
        try:
            return await use(store)
        finally:
            await store.aclose()

    return asyncio.run(used())


async def _create(store: Store, repository: str, label: str) -> str:
    from bot.store.access import MAX_TOKENS, TooManyTokensError

    ref = await store.installations.named(repository)
    if ref is None:
        raise UserError(f"the App is not installed in {repository}, or has received no event of it yet")
    try:
        return await store.api_tokens.create(ref.key, label)
    except TooManyTokensError:
        raise UserError(f"{repository} has {MAX_TOKENS} tokens: revoke one first") from None


async def _listed(store: Store, *, as_json: bool) -> list[str]:
    lines = []
    for one in await store.api_tokens.all():
        created = datetime.fromtimestamp(one.created_at, UTC).isoformat(timespec="seconds")
        row = {"id": one.id, "repository": one.repository, "label": one.label, "created_at": created}
        lines.append(json.dumps(row) if as_json else f"{one.id}  {created}  {one.repository:<32} {one.label}".rstrip())
    return lines
