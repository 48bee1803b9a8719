"""Blobs become records, on several cores where there is enough to parse.

Helpers are plain child processes (``python -m nodes.search.parsing``) that take their share from a file and leave
records in another: nothing is forked, no pipe can fill up, and it makes no difference what the parent's main module or
standard input is.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from nodes.search.git import Repository
from nodes.search.records import build_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

WORTH_A_PROCESS = 1_500_000
"""Bytes to parse from which starting a second process pays."""
MOST_PROCESSES = 4
REPORT_EVERY = 50  # files between two calls of progress
_LENGTHS = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Job:
    """One blob to parse, as the language that its path says."""

    key: str
    path: str
    blob: str
    size: int


def parse(repository: Repository, jobs: Sequence[Job], progress: Callable[[int], None]) -> Iterator[tuple[str, bytes]]:
    """Yield (key, record) for every job; ``progress`` gets the number of files done so far."""
    shares = split(jobs, processes_for(sum(job.size for job in jobs)))
    helpers = [Helper(repository, share) for share in shares[1:]]
    done = 0
    try:
        for key, record in parse_here(repository, shares[0]):
            yield key, record
            done += 1
            if done % REPORT_EVERY == 0:
                progress(done * len(shares))
        for helper in helpers:
            yield from helper.records()
    finally:
        for helper in helpers:
            helper.close()
    progress(len(jobs))


def parse_here(repository: Repository, jobs: Sequence[Job]) -> Iterator[tuple[str, bytes]]:
    """Parse in this process."""
    by_blob: dict[str, list[Job]] = {}
    for job in jobs:
        by_blob.setdefault(job.blob, []).append(job)
    for blob, content in repository.read(by_blob):
        for job in by_blob[blob]:
            yield job.key, build_record(job.path, content)


def processes_for(size: int) -> int:
    """How many processes so many bytes are worth, this one included."""
    return max(1, min(MOST_PROCESSES, available_cores(), size // WORTH_A_PROCESS + 1))


def available_cores() -> int:
    """Count the cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split(jobs: Sequence[Job], count: int) -> list[list[Job]]:
    """Deal the jobs out, large ones first, so that each share has about the same size."""
    dealt = sorted(jobs, key=lambda job: (-job.size, job.key))
    return [dealt[number::count] for number in range(count)]


class Helper:
    """A child process that parses one share."""

    def __init__(self, repository: Repository, jobs: Sequence[Job]) -> None:
        self.repository = repository
        self.jobs = jobs
        self.output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        order = {"repository": os.fspath(repository.directory), "jobs": [[j.key, j.path, j.blob, j.size] for j in jobs]}
        with tempfile.TemporaryFile() as task:
            task.write(json.dumps(order).encode())
            task.seek(0)
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "nodes.search.parsing"],  # -P: the current directory may be anybody's
                stdin=task,
                stdout=self.output,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            )

    def records(self) -> Iterator[tuple[str, bytes]]:
        """Wait for the child and yield what it made; what a killed child left undone is parsed here."""
        self.process.wait()
        self.output.seek(0)
        made = set()
        for key, record in unframe(self.output):
            made.add(key)
            yield key, record
        yield from parse_here(self.repository, [job for job in self.jobs if job.key not in made])

    def close(self) -> None:
        """End the child, if it still runs."""
        self.process.kill()
        self.process.wait()
        self.output.close()


def unframe(stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
    """Read (key, record) pairs up to the end, or up to where writing stopped."""
    while len(head := stream.read(_LENGTHS.size)) == _LENGTHS.size:
        key_length, record_length = _LENGTHS.unpack(head)
        key, record = stream.read(key_length), stream.read(record_length)
        if len(record) < record_length:
            return
        yield key.decode(), record


def main() -> None:
    """Parse the share on standard input, in a child process."""
    order = json.load(sys.stdin)
    jobs = [Job(*fields) for fields in order["jobs"]]
    for key, record in parse_here(Repository(Path(order["repository"])), jobs):
        name = key.encode()
        sys.stdout.buffer.write(_LENGTHS.pack(len(name), len(record)) + name + record)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
