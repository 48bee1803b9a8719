"""Find the dependency that a stack trace leads into, by the folder in which it is installed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

from nodes.search.paths.project import package_of, simplified
from nodes.search.types import StackTrace
from nodes.sources import Dependency

_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
_OF_THE_LANGUAGE = ("/usr/local/go/src/", "/rustc/", "node:", "internal/", "<", "/lib/python")
TextOf = Callable[[str], Awaitable[str | None]]
"""Returns the text of a whole file, or None if it does not exist or is too large to read."""


async def find_dependency(traces: Sequence[StackTrace], repository: str, text_of: TextOf) -> Dependency | None:
    """Return the dependency whose code raised the error; None if it is the repository's own code or unknown.

    Args:
        traces: those of the issue.
        repository: owner and name.
        text_of: reads a file of the repository.
    """
    name = raising_package(traces)
    if name is None or await _is_own(traces, name, repository, text_of):
        return None
    host, _, place = name.partition("/")
    # Go names its packages by their address.
    return Dependency(name, "/".join(place.split("/")[:2]) if host == "github.com" else "")


def raising_package(traces: Iterable[StackTrace]) -> str | None:
    """Return the package whose code raised the final error; None if its folder names none.

    Frames of the language's standard library are skipped.
    """
    with_frames = [trace for trace in traces if trace.frames]
    # The last trace is the final error of a chain.
    for frame in with_frames[-1].frames[:5] if with_frames else ():
        if name := package_of(frame.path):
            # Go's module cache writes a capital letter as ! and the lower-case letter.
            return re.sub(r"!([a-z])", lambda found: found[1].upper(), name)
        if not any(part in frame.path for part in _OF_THE_LANGUAGE):
            return None
    return None


async def _is_own(traces: Sequence[StackTrace], name: str, repository: str, text_of: TextOf) -> bool:
    """Return whether a package was installed from this repository: it has its name, or its files (in Python)."""
    if simplified(name.rpartition("/")[2]) == simplified(repository.rpartition("/")[2]):
        return True
    installed = [frame.path for frame in traces[-1].frames if f"-packages/{name}/" in frame.path]
    file = installed[0].rpartition("-packages/")[2] if installed else ""
    return bool(file) and any([await text_of(f"{folder}{file}") is not None for folder in _SOURCE_FOLDERS])
