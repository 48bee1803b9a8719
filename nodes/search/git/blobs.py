"""Reads the contents of many blobs in batches from one git process."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from nodes.search.git.objects import parse_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.git import Repository
    from nodes.search.git.running import Running

MAX_AT_ONCE = 300
"""Maximum number of ids per request. They fit in a pipe, so git and this process never block on each other."""


# Each restart costs a process; a repository with more such objects is hostile or broken.
_MAX_RESTARTS = 50
"""Maximum number of objects that may end git, because they are damaged or too large, before the rest stays unread."""


class BlobReader:
    """Reads blobs from one ``git cat-file`` process that stays open."""

    def __init__(self, repository: Repository) -> None:
        """Start the git process."""
        self._repository = repository
        self._restarts = 0
        self._git = self._start()

    def read(self, blobs: Sequence[str]) -> list[bytes | None]:
        """Return the contents of at most ``MAX_AT_ONCE`` blobs in order, None for a missing blob."""
        found = self._read(blobs)
        while len(found) < len(blobs) and self._restarts < _MAX_RESTARTS:
            self._restarts += 1
            self._git.__exit__()
            self._git = self._start()
            found += self._read(blobs[len(found) :])
        return [*found, *[None] * (len(blobs) - len(found))]

    def _start(self) -> Running:
        return self._repository.start("cat-file", "--batch", stdin=subprocess.PIPE)

    def _read(self, blobs: Sequence[str]) -> list[bytes | None]:
        """Return the contents up to the first object at which git exits; that object is None."""
        requests, responses = self._git.stdin, self._git.out
        assert requests is not None  # noqa: S101 - the process was started with a pipe
        # The time limit is for one request: the process itself stays open while others parse.
        self._git.reset_timeout()
        # git may have exited at an earlier object; the answers below then end early, and ``read`` restarts it.
        with suppress(BrokenPipeError):
            requests.write(b"".join(blob.encode() + b"\n" for blob in blobs))
            requests.flush()
        found: list[bytes | None] = []
        for _ in blobs:
            header = responses.readline()
            found.append(parse_content(responses, header))
            # A missing object has a header, and git continues. Without a header, git has exited.
            if not header or (found[-1] is None and not header.endswith(b" missing\n")):
                break
        return found

    def __enter__(self) -> Self:
        """Return the reader; its process already runs."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._git.__exit__()
