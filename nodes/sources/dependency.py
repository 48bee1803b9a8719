"""Find the dependency that a stack trace leads into: by the folders of package managers, and by the manifests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from nodes.search.types import Frame, StackTrace
from nodes.sources import Dependency, Ecosystem
from nodes.sources.manifests import declares_package, files_of, find_in

_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
_MAX_FILES = 40
"""The maximum number of files to try, over all folders."""
_NAME = r"[A-Za-z0-9@_][\w.@+-]{0,99}"
_FOLDERS: tuple[tuple[Ecosystem, re.Pattern[str]], ...] = (
    ("python", re.compile(rf"/(?:site|dist)-packages/({_NAME})")),
    ("javascript", re.compile(r"(?:^|/)node_modules/((?:@[\w.-]{1,100}/)?[\w.-]{1,100})(?=/)")),
    ("go", re.compile(r"/pkg/mod/([\w.!/-]{1,200})@(?:v[\w.+-]{1,60})/")),
    ("go", re.compile(r"(?:^|/)vendor/([\w-]{1,40}\.[a-z]{2,6}/[\w.-]{1,100}/[\w.-]{1,100})/[^:]{0,300}\.go$")),
    ("rust", re.compile(rf"/registry/src/[^/]{{1,80}}/({_NAME}?)-(?:\d[\w.+-]{{0,40}})/")),
    ("ruby", re.compile(rf"/gems/({_NAME}?)-(?:\d[\w.]{{0,40}})/")),
    ("php", re.compile(r"(?:^|/)vendor/([a-z0-9_.-]{1,100}/[a-z0-9_.-]{1,100})/[^:]{0,300}\.php$")),
)
_CLASS = re.compile(r"[a-z][\w]{0,60}(?:\.[a-z_][\w]{0,60}){1,8}(?=\.[A-Z])")
_OF_THE_LANGUAGE = re.compile(r"(?:java|javax|jdk|sun|kotlin|kotlinx|scala|android|dalvik|com\.sun)\.")


class Texts(Protocol):
    """Reads the files of the run's commit."""

    async def text(self, path: str) -> str | None:
        """Return the text of a whole file, or None if it does not exist or is too large to read."""


async def find_dependency(traces: Sequence[StackTrace], code: Texts) -> Dependency | None:
    """Return the dependency whose code raised the error; None if it is the repository's own code or unknown."""
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
        # A later file may have the address that an earlier one leaves open.
        more = find_in(name, text, package)
        found = more if found is None or (more and more.repository) else found
        if found is not None and found.repository:
            break
    return found or _undeclared(package)


def raising_package(traces: Iterable[StackTrace]) -> Dependency | None:
    """Return the package whose code raised the final error; None if it was the repository's own code.

    Frames of the language's standard library are skipped. A JVM frame only gives the class, so only the manifests can
    tell which package it belongs to.
    """
    with_frames = [trace for trace in traces if trace.frames]
    if not with_frames:
        return None
    # The last trace is the final error of a chain.
    for frame in with_frames[-1].frames[:5]:
        if (package := package_of(frame)) is not None:
            return package
        if not _is_of_the_language(frame):
            return None
    return None


def package_of(frame: Frame) -> Dependency | None:
    """Return the package that contains a frame's file."""
    for ecosystem, pattern in _FOLDERS:
        found = _last(pattern, frame.path)
        if found is not None:
            return Dependency(_plain(found[1], ecosystem), ecosystem)
    if frame.module and not frame.path.endswith((".py", ".go", ".php")) and not _is_of_the_language(frame):
        found = _CLASS.match(frame.module)
        return Dependency(found[0], "jvm") if found else None
    return None


def own_folders(traces: Sequence[StackTrace]) -> tuple[str, ...]:
    """Return folders that may contain a manifest of the failing part, relative to possible repository roots."""
    folders: dict[str, None] = {"": None}
    paths = [frame.path for trace in traces for frame in trace.frames if frame.path and package_of(frame) is None]
    for path in paths[:3]:
        parts = path.split("/")[:-1][-6:]
        for start in range(len(parts)):
            folders.update({"/".join(parts[start:end]): None for end in range(start + 1, len(parts) + 1)})
    return tuple(folder for folder in folders if not folder.startswith((".", "/")))[:20]


async def _is_own(traces: Sequence[StackTrace], package: Dependency, code: Texts) -> bool:
    """Return whether the repository contains the file that raised the error: then the package was built from it."""
    inside = [frame.path for trace in traces[-1:] for frame in trace.frames if package_of(frame) == package]
    if not inside or package.ecosystem != "python":
        return False
    # Python only: other ecosystems install built files, whose paths differ from the source's.
    file = inside[0].rpartition("-packages/")[2]
    return any([await code.text(f"{folder}{file}") is not None for folder in _SOURCE_FOLDERS])


def _undeclared(package: Dependency) -> Dependency | None:
    """Return a package that no manifest declares. It was installed anyway; for a JVM class, the package is unknown."""
    if package.ecosystem == "jvm":
        return None
    parts = package.name.split("/")
    on_github = package.ecosystem == "go" and parts[0] == "github.com" and len(parts) >= 3
    return replace(package, repository="/".join(parts[1:3])) if on_github else package


def _last(pattern: re.Pattern[str], path: str) -> re.Match[str] | None:
    """Return the innermost match, because packages may be installed inside packages."""
    return max(pattern.finditer(path[-600:]), key=lambda found: found.start(), default=None)


def _plain(name: str, ecosystem: Ecosystem) -> str:
    if ecosystem == "python":
        return name.removesuffix(".py")
    # Go's module cache writes a capital letter as ! and the lower-case letter.
    return re.sub(r"!([a-z])", lambda found: found[1].upper(), name) if ecosystem == "go" else name


def _is_of_the_language(frame: Frame) -> bool:
    standard = ("/usr/local/go/src/", "/rustc/", "node:", "internal/", "<", "/lib/python")
    return bool(frame.module and _OF_THE_LANGUAGE.match(frame.module)) or any(part in frame.path for part in standard)
