"""Builds columns from batches of files: helper processes and this process read them, and this process counts words.

tree-sitter runs in helpers only: it may need minutes for a small file, holds the interpreter's lock meanwhile, and
cannot be interrupted. This process reads files that need no parser: text, and plainly written Python.

Helpers are plain child processes: nothing is forked, and the parent's main module and standard input do not matter.
All processes claim the numbers of batches from shared files, so that none is idle while another is behind. Only this
process counts words, so that each is learnt once, and a helper starts without numpy, in a third of the time.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Self

from nodes.search.git.objects import MAX_AT_ONCE, BlobReader
from nodes.search.index.records import ColumnBuilder
from nodes.search.languages.table import always_needs_parser, language_of
from nodes.search.parsers.protocol import (
    PLAIN,
    Helper,
    Job,
    Task,
    Text,
    claimed,
    claims_of,
    is_fault_of_file,
    plain_text,
    text_without_parser,
    used,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.git import Repository
    from nodes.search.index.columns import Columns
    from nodes.search.parsers.protocol import FilePosition

BATCH_BYTES = 250_000
"""Bytes of text per batch: enough for array operations to pay off, few enough for a short wait at the end."""
MAX_PROCESSOR = 120.0
"""Maximum seconds of processor time of all helpers for one index; a megabyte of code takes a third of one."""
MAX_MISSED = 16
"""Number of files that may miss their deadline before all parsing stops."""
MAX_MISSED_OF_A_LANGUAGE = 4
"""The same for one language."""
MAX_FAILURES = 3
"""Number of helpers that may end for a reason other than a file, such as a full disk, before no more are started."""
WORTH_A_PROCESS = 600_000
"""Minimum bytes to parse per process; with fewer bytes, starting another process costs more than it saves."""
MAX_PROCESSES = 4
PAUSE = 0.005
"""Seconds between two checks of the helpers when this process is idle."""
_MISSING = Text(b"", PLAIN)


@dataclass(slots=True)
class Batch:
    """Some files, and the texts of those that are read, which may arrive in any order."""

    jobs: list[Job]
    texts: dict[int, Text] = field(default_factory=dict)
    """The texts by the number of the file."""
    complete: bool = True
    """Whether every blob was read as usual; if not, another run may give a better result."""
    unparsed: int = 0
    """Number of files of a known language that stay plain text, because their parser took too long."""

    @property
    def left(self) -> list[int]:
        """The numbers of the files that are not read."""
        return [file for file in range(len(self.jobs)) if file not in self.texts]

    def put(self, file: int, text: Text | None) -> None:
        """Add the text of a file; None if its blob is missing."""
        if file in self.texts:
            return
        self.complete &= text is not None
        self.texts[file] = text or _MISSING
        self.unparsed += text is not None and _is_unparsed(self.jobs[file], text)


def cut_batches(jobs: Sequence[Job]) -> list[Batch]:
    """Cut jobs into batches: first the files whose name requires a parser, then the others, each in their order."""
    batches: list[Batch] = []
    for wanted in (True, False):
        room = -1
        for job in jobs:
            if always_needs_parser(job.path) is not wanted:
                continue
            if room < job.size or len(batches[-1].jobs) >= MAX_AT_ONCE:
                batches.append(Batch([]))
                # A file larger than a batch gets a batch of its own.
                room = max(BATCH_BYTES, job.size)
            batches[-1].jobs.append(job)
            room -= job.size
    return batches


def build(repository: Repository, batches: Sequence[Batch]) -> Iterator[tuple[Batch, Columns]]:
    """Yield every batch, in no particular order, with a row of columns for each of its files."""
    builder = ColumnBuilder()
    with Pool(repository, batches) as pool:
        for batch in pool.read():
            texts = [batch.texts[file] for file in range(len(batch.jobs))]
            # Only the texts of unfinished batches stay in memory.
            batch.texts.clear()
            yield batch, builder.build(texts)


class Pool:
    """Runs helpers until no batch is left for them: replaces one that a file ended, and stops at the total time."""

    def __init__(self, repository: Repository, batches: Sequence[Batch]) -> None:
        """Create a pool without helpers."""
        self._repository, self._batches = repository, batches
        self._open = dict(enumerate(batches))
        """The batches that are not finished."""
        self._helpers: list[Helper] = []
        self._missed: Counter[str | None] = Counter()
        self._suspects: set[tuple[int, int]] = set()
        """Files at which a helper ended for an unknown reason."""
        self._processor = 0.0
        """Seconds of processor time of the helpers that ended."""
        self._failures = 0
        hard = [number for number, batch in enumerate(batches) if always_needs_parser(batch.jobs[0].path)]
        easy = range(len(hard), len(batches))
        # Helpers claim hard batches first, because this process can only take the easy ones.
        self._claims = [_claims(hard), _claims(easy)]
        self._bytes = [sum(job.size for number in numbers for job in batches[number].jobs) for numbers in (hard, easy)]
        self._reader = BlobReader(repository)

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all helpers and the blob reader."""
        self._stop()
        self._reader.__exit__()
        for claims in self._claims:
            claims.close()

    def read(self) -> Iterator[Batch]:
        """Yield every batch when it is read."""
        for _ in range(helpers_for(*self._bytes)):
            self._start()
        # This process claims easy batches only: it must not load a parser.
        for number in claimed(self._claims[1].fileno()):
            self._read_in_process(self._batches[number])
            yield from self._collect()
        while self._open and not self.is_over:
            if not self._helpers:
                self._start_for_rest()
            time.sleep(PAUSE)
            yield from self._collect()
        self._stop()
        for batch in self._open.values():
            if self._failures >= MAX_FAILURES:
                batch.complete = False
            self._read_without_parser(batch, batch.left)
            yield batch

    @property
    def is_over(self) -> bool:
        """Whether helpers ended too often or took too long, so that no more are started."""
        # A hostile repository may have many files that each stay below their own deadline.
        if self._failures >= MAX_FAILURES or self._missed.total() >= MAX_MISSED:
            return True
        running = sum(at.processor for helper in self._helpers if (at := helper.last))
        return self._processor + running > MAX_PROCESSOR

    def _start(self, first: Sequence[tuple[int, list[int]]] = ()) -> None:
        """Start a helper, which first parses some given files, unless the pool is over."""
        if self.is_over:
            return
        task = Task(
            directory=os.fspath(self._repository.directory),
            batches=[batch.jobs for batch in self._batches],
            first=list(first),
            claims=[claims.fileno() for claims in self._claims],
            parent=os.getpid(),
            gave_up=[name for name, count in self._missed.items() if name and count >= MAX_MISSED_OF_A_LANGUAGE],
        )
        try:
            self._helpers.append(Helper(task))
        except OSError:  # no process can be started, or no file written
            # Trying again would fail the same way: the limit of processes or the disk stays as it is.
            self._failures = MAX_FAILURES

    def _start_for_rest(self) -> None:
        """Start helpers for files that this process could not read, and for those of a helper that began none."""
        left = [(number, batch.left) for number, batch in self._open.items()]
        count = helpers_for(sum(self._batches[number].jobs[file].size for number, files in left for file in files), 0)
        for part in range(count or 1):
            self._start(left[part :: count or 1])

    def _collect(self) -> Iterator[Batch]:
        """Yield the batches finished since the last call, and replace helpers that ended at a file."""
        for helper in list(self._helpers):
            code = helper.ended()  # before reading its output, so that the read includes everything it wrote
            for number, file, text in helper.new():
                if number in self._open:
                    self._open[number].put(file, text)
            if code is not None:
                self._helpers.remove(helper)
                helper.close()
            if code:
                self._replace(helper, code)
        for number in [number for number, batch in self._open.items() if len(batch.texts) == len(batch.jobs)]:
            yield self._open.pop(number)

    def _replace(self, helper: Helper, code: int) -> None:
        at = helper.last
        if at is None:
            self._failures += 1
            self._start(helper.first)
            return
        self._processor += used(at, self._batches[at.batch].jobs[at.file].size, code)
        # A helper may also be killed from outside. Only the second such end at the same file is the file's fault.
        if is_fault_of_file(code) or at[:2] in self._suspects:
            batch = self._batches[at.batch]
            self._missed[language_of(batch.jobs[at.file].path)] += 1
            self._read_without_parser(batch, [at.file])
        else:
            self._failures += 1
            self._suspects.add(at[:2])
        self._start(self._left_of(helper, at))

    def _left_of(self, helper: Helper, at: FilePosition) -> list[tuple[int, list[int]]]:
        """Return the files that a helper had claimed and did not finish."""
        taken = dict(helper.first)
        taken.setdefault(at.batch, list(range(len(self._batches[at.batch].jobs))))
        left = {number: set(self._open[number].left) for number in taken if number in self._open}
        rest = [(number, [file for file in files if file in left.get(number, ())]) for number, files in taken.items()]
        return [(number, files) for number, files in rest if files]

    def _read_in_process(self, batch: Batch) -> None:
        """Read the files of a batch that need no parser."""
        contents = self._reader.read([job.blob for job in batch.jobs])
        for file, (job, content) in enumerate(zip(batch.jobs, contents, strict=True)):
            if content is None:
                batch.put(file, None)
            elif text := text_without_parser(job.path, content):
                batch.put(file, text)

    def _read_without_parser(self, batch: Batch, files: Sequence[int]) -> None:
        """Read files as far as no parser is needed."""
        contents = self._reader.read([batch.jobs[file].blob for file in files])
        for file, content in zip(files, contents, strict=True):
            batch.put(file, None if content is None else plain_text(batch.jobs[file].path, content))

    def _stop(self) -> None:
        for helper in self._helpers:
            self._processor += helper.last.processor if helper.last else 0.0
            helper.close()
        self._helpers.clear()


def helpers_for(need_parser: int, plain: int) -> int:
    """Return the number of helpers for some bytes of files that need a parser and of files that rarely do."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    available, total = min(MAX_PROCESSES, cores), need_parser + plain
    # One core is left to this process if it has its share of easy batches to read.
    available -= plain * available >= total > 0
    return max(1 if need_parser else 0, min(available, total // WORTH_A_PROCESS))


def _claims(numbers: Sequence[int]) -> IO[bytes]:
    """Create a file from which processes claim the numbers of batches."""
    file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - the caller closes it
    file.write(claims_of(numbers))
    file.seek(0)
    return file


def _is_unparsed(job: Job, text: Text) -> bool:
    if text.outline.language != PLAIN.language or not text.content or language_of(job.path) is None:
        return False
    return b"\0" not in text.content  # a NUL means that the file is not of that language
