"""``triage digest``: what the reports on a repository's open issues state, as one page of Markdown."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bot.cli.options import prints
from bot.errors import UserError
from bot.report.languages.catalogue import ENGLISH, LANGUAGES

if TYPE_CHECKING:
    from bot.report.digest import Digest
    from bot.settings import Settings


@click.command("digest")
@click.argument("repository", metavar="OWNER/REPO")
@click.option(
    "--days",
    type=click.IntRange(1, 365),
    default=7,
    show_default=True,
    help="The length of the period in which a report counts as new.",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default=ENGLISH,
    show_default=True,
    help="The language of the fixed sentences; titles and questions stay as they are.",
)
@prints("all entries of each list.")
def command(*, repository: str, days: int, output: Path | None, language: str, as_json: bool) -> None:
    """Summarize the open issues of a repository: bugs by place, suspect changes, questions, duplicates.

    It is built from the server's store, which a server may use at the same time; it sends no request to GitHub. With
    `digest` in .github/triage.yml the server posts it each week.
    """
    from bot.report.comment.digest import BY_DELIVERIES, render_digest
    from bot.settings import load_settings

    settings = load_settings()
    digest = asyncio.run(_read(settings, repository, days))
    document = json.dumps(asdict(digest), indent=1) + "\n" if as_json else ""
    text = document or render_digest(digest, settings.github_server_url, BY_DELIVERIES, language)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{output} cannot be written: {error.strerror}") from error


async def _read(settings: Settings, name: str, days: int) -> Digest:
    from bot.report.digest import DAY, build_digest
    from bot.store.databases.opening import open_existing_store

    store = open_existing_store(settings)
    try:
        ref = await store.installations.named(name)
        if ref is None:
            raise UserError(f"the App is not installed in {name}: install it there, or check the name")
        now = store.clock()
        found = await store.for_repository(ref).open_issues.read(now - days * DAY)
        return build_digest(f"{ref.owner}/{ref.name}", found, now, days)
    finally:
        await store.aclose()
