"""Builds columns from batches: helper processes and this process read them and count their words.

tree-sitter runs in helpers only: it may need minutes for a small file, holds the interpreter's lock meanwhile, and
cannot be interrupted. This process reads files that need no parser: text, and plainly written Python.

Helpers are plain child processes: nothing is forked, and the parent's main module and standard input do not matter.
All processes claim the numbers of batches from shared files, so that none is idle while another is behind. A helper
writes its results to a file, so that no pipe can fill up. This process counts the words, so that each is learnt once,
and a helper starts without numpy, in a third of the time. Only where much text needs no parser, helpers count its words
too: counting takes as long as reading such text, and they would wait for one process that counted for all.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from nodes.search.index.columns import unpack
from nodes.search.index.records import ColumnBuilder
from nodes.search.parsers.pool import Pool, Progress
from nodes.search.parsers.protocol import Job, Parsed, claimed, claims_of, needs_parser, text_without_parser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nodes.search.git import Repository
    from nodes.search.index.columns import Columns

WORTH_A_PROCESS = 600_000
"""Minimum bytes to parse per process; with fewer bytes, starting another process costs more than it saves."""
WORTH_COUNTING = 10_000_000
"""Minimum bytes that need no parser for helpers to count words; below, loading numpy costs more than it saves."""
MAX_PROCESSES = 4
PAUSE = 0.005
"""Seconds between two checks of the helpers when this process is idle."""


def build(repository: Repository, progress: Progress) -> Iterator[tuple[Parsed, Columns]]:
    """Yield every batch, in no particular order, with a row of columns for each of its jobs."""
    builder = ColumnBuilder()
    for parsed in _parse(repository, progress):
        columns = unpack([parsed.columns]) if parsed.columns else builder.build(parsed.texts)
        yield parsed, columns


def _parse(repository: Repository, progress: Progress) -> Iterator[Parsed]:
    """Yield every batch parsed, each as soon as a process is free."""
    need_parser = [number for number, batch in enumerate(progress.batches) if needs_parser(batch)]
    # Helpers claim hard batches first, because this process can only take the easy ones.
    plain = sorted(set(range(len(progress.batches))).difference(need_parser))
    with ExitStack() as stack:
        claims = [stack.enter_context(_claims(numbers)) for numbers in (need_parser, plain)]
        sizes = [_size(progress.batches[n] for n in numbers) for numbers in (need_parser, plain)]
        descriptors = [file.fileno() for file in claims]
        pool = stack.enter_context(Pool(repository, progress, descriptors, counts=sizes[1] >= WORTH_COUNTING))
        for _ in range(helpers_for(*sizes)):
            pool.start()
        # This process claims easy batches only: it must not load a parser.
        for number in claimed(claims[1].fileno()):
            _read_in_process(pool, progress, number)
            pool.collect()
            yield from progress.finished()
        yield from _rest(pool, progress)


def _rest(pool: Pool, progress: Progress) -> Iterator[Parsed]:
    """Wait for the helpers, then start more for files that need a parser and for the files of a lost helper."""
    while True:
        while pool.busy:
            pool.collect()
            yield from progress.finished()
            time.sleep(PAUSE)
        left = list(progress.left())
        if not left or pool.is_over:
            break
        count = helpers_for(sum(progress.batches[batch][file].size for batch, files in left for file in files), 0)
        for part in range(count or 1):
            pool.start(left[part :: count or 1])
    pool.finish()
    yield from progress.finished()


def _read_in_process(pool: Pool, progress: Progress, number: int) -> None:
    """Read the files of a batch that need no parser."""
    batch = progress.batches[number]
    contents = pool.reader.read([job.blob for job in batch])
    for file, (job, content) in enumerate(zip(batch, contents, strict=True)):
        if content is None:
            progress.put(number, file, None)
        elif text := text_without_parser(job.path, content):
            progress.put(number, file, text)


def helpers_for(need_parser: int, plain: int) -> int:
    """Return the number of helpers for some bytes of files that need a parser and of files that rarely do."""
    available = min(MAX_PROCESSES, available_cores())
    total = need_parser + plain
    # One core is left to this process if it has its share of easy batches to read.
    available -= plain * available >= total > 0
    return max(1 if need_parser else 0, min(available, total // WORTH_A_PROCESS))


def available_cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(batches: Iterable[Sequence[Job]]) -> int:
    return sum(job.size for batch in batches for job in batch)


def _claims(numbers: Sequence[int]) -> IO[bytes]:
    """Create a file from which processes claim the numbers of batches."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - the caller closes it
    file.write(claims_of(numbers))
    file.seek(0)
    return file
