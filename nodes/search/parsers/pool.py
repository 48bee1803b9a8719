"""Run helper processes that parse batches: replace one that a file ended, track batches, stop at the total time."""

from __future__ import annotations

from collections import Counter, deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from nodes.search.git.objects import BlobReader
from nodes.search.languages import language_of
from nodes.search.parsers.child import Helper, is_fault_of_file, used
from nodes.search.parsers.protocol import PLAIN, Counted, Parsed, Text, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.git import Repository
    from nodes.search.parsers.child import FilePosition
    from nodes.search.parsers.protocol import Job

_MISSING = Text(b"", PLAIN)
MAX_PROCESSOR = 120.0
"""Maximum seconds of processor time of all helpers for one index; a megabyte of code takes a third of one."""
MAX_MISSED = 16
"""Number of files that may miss their deadline before all parsing stops."""
MAX_MISSED_OF_A_LANGUAGE = 4
"""The same for one language."""
MAX_FAILURES = 3
"""Number of helpers that may end for a reason other than a file, such as a full disk, before no more are started."""


class Progress:
    """Assembles the texts of files into batches, in any order of arrival."""

    def __init__(self, batches: Sequence[Sequence[Job]]) -> None:
        """Start with no file done."""
        self.batches = batches
        self.unparsed = 0
        """Number of files of a known language that stay plain text, because their parser took too long."""
        self._texts: list[dict[int, Text]] = [{} for _ in batches]
        self._finished: deque[Parsed] = deque()
        self._done: set[int] = set()
        self._incomplete: set[int] = set()
        self._missed: set[int] = set()

    def put(self, batch: int, file: int, text: Text | None) -> None:
        """Add the text of a file; None if its blob is missing."""
        if self.has(batch, file):
            return
        if text is None:
            self._incomplete.add(batch)
        elif _is_unparsed(self.batches[batch][file], text):
            self.unparsed += 1
            self._missed.add(batch)
        self._texts[batch][file] = text or _MISSING
        if len(self._texts[batch]) == len(self.batches[batch]):
            self._finish(batch)

    def put_counted(self, counted: Counted) -> None:
        """Add the columns of a whole batch."""
        if counted.batch not in self._done:
            self._texts[counted.batch] = {}
            self._done.add(counted.batch)
            self._finished.append(Parsed(counted.batch, [], counted.complete, columns=counted.columns))

    def has(self, batch: int, file: int) -> bool:
        """Return whether a file is done."""
        return batch in self._done or file in self._texts[batch]

    def left_of(self, batch: int) -> list[int]:
        """Return the files of a batch that are not done."""
        return [file for file in range(len(self.batches[batch])) if not self.has(batch, file)]

    def left(self) -> Iterator[tuple[int, list[int]]]:
        """Yield every unfinished batch with its files that are not done."""
        yield from ((batch, self.left_of(batch)) for batch in range(len(self.batches)) if batch not in self._done)

    def mark_incomplete(self, batch: int) -> None:
        """Mark a batch as incomplete, so that it is not stored: another run may give a better result."""
        self._incomplete.add(batch)

    def finished(self) -> Iterator[Parsed]:
        """Yield the batches finished since the last call."""
        while self._finished:
            yield self._finished.popleft()

    def _finish(self, batch: int) -> None:
        texts = [self._texts[batch][file] for file in range(len(self.batches[batch]))]
        # The texts leave with the batch, so that only those of unfinished batches stay in memory.
        self._texts[batch] = {}
        self._done.add(batch)
        self._finished.append(Parsed(batch, texts, batch not in self._incomplete, batch in self._missed))


class Pool:
    """Runs helpers until no batch is left for them."""

    def __init__(
        self, repository: Repository, progress: Progress, claims: Sequence[int], *, counts: bool = False
    ) -> None:
        """Create a pool without helpers.

        Args:
            repository: the repository that the blobs are read from.
            progress: receives the texts.
            claims: descriptors of the files from which helpers claim the numbers of batches.
            counts: whether helpers count the words of batches that need no parser.
        """
        self._repository, self._progress, self._claims, self._counts = repository, progress, claims, counts
        self._helpers: list[Helper] = []
        self._missed: Counter[str | None] = Counter()
        self._suspects: set[tuple[int, int]] = set()
        """Files at which a helper ended for an unknown reason."""
        self._processor = 0.0
        """Seconds of processor time of the helpers that ended."""
        self._failures = 0
        self._stack = ExitStack()
        self.reader = self._stack.enter_context(BlobReader(repository))
        """Reads the files that this process handles."""

    def __enter__(self) -> Self:
        """Return the pool."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all helpers and the blob reader."""
        self._stop()
        self._stack.close()

    @property
    def busy(self) -> bool:
        """Whether any helper is running."""
        return bool(self._helpers)

    @property
    def is_over(self) -> bool:
        """Whether helpers ended too often or took too long, so that no more are started."""
        # A hostile repository may have many files that each stay below their own deadline.
        if self._failures >= MAX_FAILURES or self._missed.total() >= MAX_MISSED:
            return True
        running = sum(at.processor for helper in self._helpers if (at := helper.last))
        return self._processor + running > MAX_PROCESSOR

    def start(self, first: Sequence[tuple[int, list[int]]] = ()) -> None:
        """Start a helper, which first parses some given files, unless the pool is over."""
        if self.is_over:
            return
        gave_up = [name for name, count in self._missed.items() if name and count >= MAX_MISSED_OF_A_LANGUAGE]
        try:
            helper = Helper(
                self._repository,
                self._progress.batches,
                self._claims,
                first=first,
                gave_up=gave_up,
                counts=self._counts,
            )
        except OSError:  # no process can be started, or no file written
            # Trying again would fail the same way: the limit of processes or the disk stays as it is.
            self._failures = MAX_FAILURES
        else:
            self._helpers.append(helper)

    def collect(self) -> None:
        """Collect the results since the last call, and replace helpers that ended at a file."""
        for helper in list(self._helpers):
            code = helper.ended()  # before reading its output, so that the read includes everything it wrote
            for frame in helper.new():
                if isinstance(frame, Counted):
                    self._progress.put_counted(frame)
                else:
                    self._progress.put(*frame)
            if code is not None:
                self._helpers.remove(helper)
                helper.close()
            if code:
                self._replace(helper, code)
        if self.is_over:
            self._stop()

    def finish(self) -> None:
        """Read every file that no helper finished, without a parser."""
        for batch, files in self._progress.left():
            if self._failures >= MAX_FAILURES:
                self._progress.mark_incomplete(batch)
            self._read_without_parser(batch, files)

    def _replace(self, helper: Helper, code: int) -> None:
        at = helper.last
        if at is None:
            self._failures += 1
            self.start(helper.first)
            return
        size = self._progress.batches[at.batch][at.file].size
        self._processor += used(at, size, code)
        # A helper may also be killed from outside. Only the second such end at the same file is the file's fault.
        if is_fault_of_file(code) or at[:2] in self._suspects:
            self._miss(at)
        else:
            self._failures += 1
            self._suspects.add(at[:2])
        self.start(self._left_of(helper, at))

    def _miss(self, at: FilePosition) -> None:
        self._missed[language_of(self._progress.batches[at.batch][at.file].path)] += 1
        self._read_without_parser(at.batch, [at.file])

    def _left_of(self, helper: Helper, at: FilePosition) -> list[tuple[int, list[int]]]:
        """Return the files that a helper had claimed and did not finish."""
        assigned = dict(helper.first)
        taken = helper.first if at.batch in assigned else [(at.batch, self._progress.left_of(at.batch))]
        left = ((batch, [file for file in files if not self._progress.has(batch, file)]) for batch, files in taken)
        return [(batch, files) for batch, files in left if files]

    def _read_without_parser(self, batch: int, files: Sequence[int]) -> None:
        jobs = [self._progress.batches[batch][file] for file in files]
        contents = self.reader.read([job.blob for job in jobs])
        for file, job, content in zip(files, jobs, contents, strict=True):
            self._progress.put(batch, file, None if content is None else plain_text(job.path, content))

    def _stop(self) -> None:
        for helper in self._helpers:
            self._processor += helper.last.processor if helper.last else 0.0
            helper.close()
        self._helpers.clear()


def _is_unparsed(job: Job, text: Text) -> bool:
    if text.outline.language != PLAIN.language or not text.content or language_of(job.path) is None:
        return False
    return b"\0" not in text.content  # a NUL means that the file is not of that language
