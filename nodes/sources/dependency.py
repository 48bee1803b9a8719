"""The dependency that a stack trace leads into, by the repository's own manifests at the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from nodes.search.types import StackTrace
from nodes.sources import Dependency
from nodes.sources.manifests import files_of, find_in, is_itself
from nodes.sources.packages import Package, own_folders, package_of, raised_in

_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
_MOST_FILES = 40
"""Files that are looked for, over all folders."""


class Texts(Protocol):
    """The files of the commit that is read."""

    async def text(self, path: str) -> str | None:
        """A whole text file, or None where there is none, or none of a size to read."""


async def find_dependency(traces: Sequence[StackTrace], code: Texts) -> Dependency | None:
    """The dependency whose code raised the error; None where it was the repository's own, or nobody's that is known.

    Lock files know versions and manifests addresses, so what one leaves open the next may fill.
    """
    package = raised_in(traces)
    if package is None or await _is_own(traces, package, code):
        return None
    found: Dependency | None = None
    names = files_of(package.ecosystem)
    places = [f"{folder}/{name}" if folder else name for folder in own_folders(traces) for name in names]
    for place in places[:_MOST_FILES]:
        text = await code.text(place) or ""
        name = place.rpartition("/")[2]
        if is_itself(name, text, package):
            return None
        found = _filled(found, find_in(name, text, package))
        if found is not None and found.repository and found.version:
            break
    return found or _undeclared(package)


async def _is_own(traces: Sequence[StackTrace], package: Package, code: Texts) -> bool:
    """Whether the repository holds the file that the error was raised in: then it was installed from here."""
    inside = [frame.path for trace in traces[-1:] for frame in trace.frames if package_of(frame) == package]
    if not inside or package.ecosystem != "python":
        return False
    file = inside[0].rpartition("-packages/")[2]
    return any([await code.text(f"{folder}{file}") is not None for folder in _SOURCE_FOLDERS])


def _filled(known: Dependency | None, more: Dependency | None) -> Dependency | None:
    if known is None or more is None:
        return known or more
    return replace(known, version=known.version or more.version, repository=known.repository or more.repository)


def _undeclared(package: Package) -> Dependency | None:
    """A package that was unpacked is there, whatever the manifests say; of a class nobody knows whose it is."""
    if package.ecosystem == "jvm":
        return None
    parts = package.name.split("/")
    on_github = package.ecosystem == "go" and parts[0] == "github.com" and len(parts) >= 3
    return Dependency(package.name, package.ecosystem, package.version, "/".join(parts[1:3]) if on_github else "")
