"""Find the dependency that a stack trace leads into, using the repository's own manifests at the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from nodes.search.types import StackTrace
from nodes.sources import Dependency
from nodes.sources.manifests import declares_package, files_of, find_in
from nodes.sources.packages import Package, own_folders, package_of, raising_package

_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
_MAX_FILES = 40
"""The maximum number of files to try, over all folders."""


class Texts(Protocol):
    """Reads the files of the run's commit."""

    async def text(self, path: str) -> str | None:
        """Return the text of a whole file, or None if it does not exist or is too large to read."""


async def find_dependency(traces: Sequence[StackTrace], code: Texts) -> Dependency | None:
    """Return the dependency whose code raised the error; None if it is the repository's own code or unknown.

    Lock files give versions and manifests give addresses, so later files fill what earlier ones leave open.
    """
    package = raising_package(traces)
    if package is None or await _is_own(traces, package, code):
        return None
    found: Dependency | None = None
    names = files_of(package.ecosystem)
    places = [f"{folder}/{name}" if folder else name for folder in own_folders(traces) for name in names]
    for place in places[:_MAX_FILES]:
        text = await code.text(place) or ""
        name = place.rpartition("/")[2]
        if declares_package(name, text, package):
            return None
        found = _filled(found, find_in(name, text, package))
        if found is not None and found.repository and found.version:
            break
    return found or _undeclared(package)


async def _is_own(traces: Sequence[StackTrace], package: Package, code: Texts) -> bool:
    """Return whether the repository contains the file that raised the error: then the package was built from it."""
    inside = [frame.path for trace in traces[-1:] for frame in trace.frames if package_of(frame) == package]
    if not inside or package.ecosystem != "python":
        return False
    # Python only: other ecosystems install built files, whose paths differ from the source's.
    file = inside[0].rpartition("-packages/")[2]
    return any([await code.text(f"{folder}{file}") is not None for folder in _SOURCE_FOLDERS])


def _filled(known: Dependency | None, more: Dependency | None) -> Dependency | None:
    if known is None or more is None:
        return known or more
    return replace(known, version=known.version or more.version, repository=known.repository or more.repository)


def _undeclared(package: Package) -> Dependency | None:
    """Return a package that no manifest declares. It was installed anyway; for a JVM class, the package is unknown."""
    if package.ecosystem == "jvm":
        return None
    parts = package.name.split("/")
    on_github = package.ecosystem == "go" and parts[0] == "github.com" and len(parts) >= 3
    return Dependency(package.name, package.ecosystem, package.version, "/".join(parts[1:3]) if on_github else "")
