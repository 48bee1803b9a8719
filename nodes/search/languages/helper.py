"""A child process that parses its files one by one (``python -m nodes.search.languages.helper``).

Each file is written alone, so that nothing is lost if a parser ends the process. A parser may need minutes for a small
file, and nothing in this process can interrupt it. Therefore the kernel ends the process when a file has used its
processor time; the last frame says which file that was.
"""

import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path

from nodes.search.git import Repository
from nodes.search.git.objects import is_text
from nodes.search.languages import protocol
from nodes.search.languages.syntax import outline
from nodes.search.languages.table import language_of

MEMORY = 1 << 30
"""Bytes of address space; the largest file that parses without errors needs a third of it."""
PROCESSOR = 300
"""Seconds of processor time of one process, even if no file exceeds its own deadline."""


def work(task: protocol.Task, contents: Iterator[bytes | None], output: int) -> None:
    """Parse while files are left and the parent lives."""
    for job, content in zip(task.jobs, contents, strict=True):
        # The parent id changes when the parent ends; then no process reads the results.
        if os.getppid() != task.parent:
            return
        # Before the parser starts: after the kernel has ended the process, only this frame remains.
        _write(output, protocol.packed(job.number, time.process_time()))
        _write(output, protocol.packed(job.number, None if content is None else _text(task, job.path, content)))


def _text(task: protocol.Task, path: str, content: bytes) -> protocol.Outlined:
    if not content or not is_text(content):
        return protocol.Outlined(b"", protocol.PLAIN)
    if language_of(path) in task.gave_up:
        return protocol.plain_text(path, content)
    # SIGPROF has no handler, so the kernel ends the process. A handler in Python would only run after the parser
    # returns.
    signal.setitimer(signal.ITIMER_PROF, protocol.deadline(len(content)))
    text = protocol.Outlined(content, outline(path, content))
    signal.setitimer(signal.ITIMER_PROF, 0)
    return text


def _write(output: int, frame: bytes) -> None:
    rest = memoryview(frame)
    # A write to a file on a nearly full disk may be partial.
    while rest:
        rest = rest[os.write(output, rest) :]


def _limit() -> None:
    """Set the limits at which the kernel ends this process, without a core file."""
    for limit, maximum in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, PROCESSOR), (resource.RLIMIT_CORE, 0)):
        with suppress(ValueError, OSError):  # macOS does not limit address space; the operator's limit may be lower
            resource.setrlimit(limit, (maximum, maximum))


def main() -> None:
    """Run the task on standard input."""
    # A child process inherits ignored signals; the kernel must be able to end this process.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    task = protocol.load_task(sys.stdin)
    contents = Repository(Path(task.directory)).contents([job.blob for job in task.jobs])
    first = next(contents, None)
    _limit()  # not earlier: git maps packs, which may need more address space than a parser
    try:
        work(task, chain((first,), contents), sys.stdout.fileno())
    except MemoryError:
        os._exit(protocol.TOO_MUCH_MEMORY)


if __name__ == "__main__":
    main()
