"""The dependency that a stack trace leads into, by the repository's own manifests at the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from nodes.search.types import StackTrace
from nodes.sources import Dependency
from nodes.sources.manifests import files_of, find_in
from nodes.sources.packages import Package, own_folders, raised_in

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
    if package is None:
        return None
    found: Dependency | None = None
    names = files_of(package.ecosystem)
    places = [f"{folder}/{name}" if folder else name for folder in own_folders(traces) for name in names]
    for place in places[:_MOST_FILES]:
        declared = await _declared(place, package, code)
        found = _filled(found, declared)
        if found is not None and found.repository and found.version:
            break
    return found or _undeclared(package)


async def _declared(place: str, package: Package, code: Texts) -> Dependency | None:
    text = await code.text(place)
    return find_in(place.rpartition("/")[2], text, package) if text else None


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
