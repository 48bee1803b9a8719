"""Builds columns from files: helper processes and this process read them, and this process counts words.

tree-sitter runs in helpers only: it may need minutes for a small file, holds the interpreter's lock meanwhile, and
cannot be interrupted. This process reads files that need no parser: text, and plainly written Python. Helpers are plain
child processes with equal shares of the files, because files are dealt out by size. Only this process counts words, so
that each is learnt once, and a helper starts without numpy, in a third of the time.
"""

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from nodes.search.git import Repository
from nodes.search.index.columns import Columns
from nodes.search.index.records import ColumnBuilder
from nodes.search.languages import protocol
from nodes.search.languages.table import always_needs_parser, language_of

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
_TURNS = 64
"""Files that this process reads between two checks of the helpers."""
PAUSE = 0.005
"""Seconds between two checks of the helpers when this process is idle."""
_MISSING = protocol.Outlined(b"", protocol.PLAIN)


class Pool:
    """Reads files with helpers and this process: replaces a helper that a file ended, and stops at the total time."""

    def __init__(self, repository: Repository, jobs: Sequence[protocol.BlobToParse]) -> None:
        """Create a pool without helpers; each job has its position as its number."""
        self._repository = repository
        self._jobs = jobs
        self._left = dict.fromkeys(range(len(jobs)))
        """The numbers of the files that are not read."""
        self._helpers: list[protocol.Helper] = []
        self._missed: Counter[str | None] = Counter()
        self._suspects: set[int] = set()
        """Files at which a helper ended for an unknown reason."""
        self._processor = 0.0
        """Seconds of processor time of the helpers that ended."""
        self._failures = 0
        self.complete = True
        """Whether every blob was read as usual; if not, another run may give a better result."""
        self.unparsed = 0
        """Number of files of a known language that stay plain text, because their parser took too long."""

    def build(self) -> Iterator[tuple[list[str], Columns]]:
        """Yield the keys of all files in batches, in no particular order, with a row of columns for each."""
        builder, batch, size = ColumnBuilder(), list[tuple[str, protocol.Outlined]](), 0
        try:
            for number, text in self._read():
                self._left.pop(number)
                self.complete &= text is not None
                if text and text.content and text.outline.language == protocol.PLAIN.language:
                    # A NUL means that the file is not of that language.
                    self.unparsed += language_of(self._jobs[number].path) is not None and b"\0" not in text.content
                batch.append((self._jobs[number].key, text or _MISSING))
                size += self._jobs[number].size
                if size >= BATCH_BYTES or not self._left:
                    yield [key for key, _ in batch], builder.build([text for _, text in batch])
                    batch, size = [], 0
        finally:
            self._stop()

    def _read(self) -> Iterator[tuple[int, protocol.Outlined | None]]:
        """Yield the text of every file when it is read; None for a missing blob."""
        hard = [job for job in self._jobs if always_needs_parser(job.path)]
        easy = [job for job in self._jobs if not always_needs_parser(job.path)]
        count = helpers_for(sum(job.size for job in hard), sum(job.size for job in easy))
        for part in range(count):
            self._start([*hard[part::count], *easy[part :: count + 1]])
        # This process must not load a parser, so it has a share of the easy files only.
        own = easy[count :: count + 1]
        contents = self._repository.contents([job.blob for job in own])
        for turn, (job, content) in enumerate(zip(own, contents, strict=True)):
            if content is None or (text := protocol.text_without_parser(job.path, content)):
                yield job.number, None if content is None else text
            if turn % _TURNS == 0:
                yield from self._collect()
        while self._left and not self.is_over:
            if not self._helpers:
                # For files that need a parser, and for those of a helper that ended before it began one.
                left = [self._jobs[number] for number in self._left]
                count = helpers_for(sum(job.size for job in left), 0) or 1
                for part in range(count):
                    self._start(left[part::count])
            time.sleep(PAUSE)
            yield from self._collect()
        self._stop()
        self.complete &= self._failures < MAX_FAILURES
        yield from self._read_without_parser([self._jobs[number] for number in self._left])

    @property
    def is_over(self) -> bool:
        """Whether helpers ended too often or took too long, so that no more are started."""
        # A hostile repository may have many files that each stay below their own deadline.
        if self._failures >= MAX_FAILURES or self._missed.total() >= MAX_MISSED:
            return True
        running = sum(at.processor for helper in self._helpers if (at := helper.last))
        return self._processor + running > MAX_PROCESSOR

    def _start(self, jobs: list[protocol.BlobToParse]) -> None:
        """Start a helper for some files, unless there are none or the pool is over."""
        if self.is_over or not jobs:
            return
        gave_up = [name for name, count in self._missed.items() if name and count >= MAX_MISSED_OF_A_LANGUAGE]
        try:
            task = protocol.Task(os.fspath(self._repository.directory), jobs, os.getpid(), gave_up)
            self._helpers.append(protocol.Helper(task))
        except OSError:  # no process can be started, or no file written
            # Trying again would fail the same way: the limit of processes or the disk stays as it is.
            self._failures = MAX_FAILURES

    def _collect(self) -> Iterator[tuple[int, protocol.Outlined | None]]:
        """Yield the texts since the last call, and replace helpers that ended at a file."""
        for helper in list(self._helpers):
            code = helper.ended()  # before reading its output, so that the read includes everything it wrote
            yield from ((number, text) for number, text in helper.new() if number in self._left)
            if code is not None:
                self._helpers.remove(helper)
                helper.close()
            if code:
                yield from self._replace(helper, code)

    def _replace(self, helper: protocol.Helper, code: int) -> Iterator[tuple[int, protocol.Outlined | None]]:
        at = helper.last
        if at is None:
            self._failures += 1
        else:
            job = self._jobs[at.number]
            self._processor += protocol.used(at, job.size, code)
            # A helper may also be killed from outside. Only the second such end at the same file is the file's fault.
            if code in protocol.FAULTS or at.number in self._suspects:
                self._missed[language_of(job.path)] += 1
                yield from self._read_without_parser([job] if at.number in self._left else [])
            else:
                self._failures += 1
                self._suspects.add(at.number)
        self._start([job for job in helper.jobs if job.number in self._left])

    def _read_without_parser(
        self, jobs: Sequence[protocol.BlobToParse]
    ) -> Iterator[tuple[int, protocol.Outlined | None]]:
        """Read files as far as no parser is needed."""
        for job, content in zip(jobs, self._repository.contents([job.blob for job in jobs]), strict=True):
            yield job.number, None if content is None else protocol.plain_text(job.path, content)

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
