"""``triage index``: parse a commit ahead of time."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import click

from bot.cli.local.progress import Progress
from bot.cli.local.repository import open_engine, storage
from bot.cli.options import REPO, REV, prints
from bot.errors import UserError

if TYPE_CHECKING:
    from nodes.search.cache import Cache


@click.command("index")
@REPO
@REV
@prints("commit, files, texts, parsed, seconds, cache.")
def command(*, repo: str, rev: str, as_json: bool) -> None:
    """Parse every file of a commit that is not in the cache yet, so that the next query is fast.

    The cache is keyed by content, so a new commit needs parsing only of its changed files. TRIAGE_CACHE_MB limits its
    size.
    """
    progress = Progress()
    started = time.perf_counter()
    engine, sha = open_engine(repo, rev, storage(repo), progress.phase)
    loaded = engine.warm(sha)
    progress.clear()
    assert engine.cache is not None  # noqa: S101 - open_engine names one
    size = cache_size(engine.cache)
    counts = {"files": len(loaded.index.paths), "texts": loaded.texts, "parsed": loaded.parsed}
    seconds = round(time.perf_counter() - started, 3)
    if as_json:
        cache = {"path": str(engine.cache.path), "bytes": size, "limit": engine.cache.largest}
        click.echo(json.dumps({"commit": sha, **counts, "seconds": seconds, "cache": cache}))
    else:
        files = "{files} files, {texts} of them text; {parsed} parsed".format(**counts)
        click.echo(f"{sha[:12]} is indexed: {files} ({seconds:.1f} s); {size / 1e6:.1f} MB stored")


def cache_size(cache: Cache) -> int:
    """Return the size of the cache in bytes.

    Raises:
        UserError: the cache is empty because it could not be written; an earlier warning has the reason.
    """
    size = cache.size()
    if not size:
        raise UserError(f"nothing could be stored in {cache.path}; set TRIAGE_DATA_DIR")
    return size
