"""``triage index``: parse ahead of time."""

from __future__ import annotations

import time

import click

from bot.cli.progress import Progress
from bot.cli.repository import data_dir, open_engine


@click.command("index")
@click.option("--repo", required=True, help="A git repository, bare or not; it is only read.")
@click.option("--rev", default="HEAD", show_default=True, help="The commit, branch or tag to read.")
def command(*, repo: str, rev: str) -> None:
    """Parse every file of a commit that is not in the cache yet, so that the next question is quick."""
    progress = Progress()
    began = time.perf_counter()
    engine, sha = open_engine(repo, rev, data_dir(repo), progress.phase)
    engine.warm(sha)
    progress.clear()
    click.echo(f"{sha[:12]} is indexed ({time.perf_counter() - began:.1f} s)")
