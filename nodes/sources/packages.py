"""Find the package that a stack trace leads into, by the folders that package managers install into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nodes.search.types import Frame, StackTrace
from nodes.sources import Ecosystem


@dataclass(frozen=True, slots=True)
class Package:
    """A package as an installation names it: a folder, a module path or a class."""

    name: str
    ecosystem: Ecosystem
    version: str = ""


_NAME = r"[A-Za-z0-9@_][\w.@+-]{0,99}"
_FOLDERS: tuple[tuple[Ecosystem, re.Pattern[str]], ...] = (
    ("python", re.compile(rf"/(?:site|dist)-packages/(?P<name>{_NAME})")),
    ("javascript", re.compile(r"(?:^|/)node_modules/(?P<name>(?:@[\w.-]{1,100}/)?[\w.-]{1,100})(?=/)")),
    ("go", re.compile(r"/pkg/mod/(?P<name>[\w.!/-]{1,200})@(?P<version>v[\w.+-]{1,60})/")),
    ("go", re.compile(r"(?:^|/)vendor/(?P<name>[\w-]{1,40}\.[a-z]{2,6}/[\w.-]{1,100}/[\w.-]{1,100})/[^:]{0,300}\.go$")),
    ("rust", re.compile(rf"/registry/src/[^/]{{1,80}}/(?P<name>{_NAME}?)-(?P<version>\d[\w.+-]{{0,40}})/")),
    ("ruby", re.compile(rf"/gems/(?P<name>{_NAME}?)-(?P<version>\d[\w.]{{0,40}})/")),
    ("php", re.compile(r"(?:^|/)vendor/(?P<name>[a-z0-9_.-]{1,100}/[a-z0-9_.-]{1,100})/[^:]{0,300}\.php$")),
)
_CLASS = re.compile(r"[a-z][\w]{0,60}(?:\.[a-z_][\w]{0,60}){1,8}(?=\.[A-Z])")
_OF_THE_LANGUAGE = re.compile(r"(?:java|javax|jdk|sun|kotlin|kotlinx|scala|android|dalvik|com\.sun)\.")


def raising_package(traces: Iterable[StackTrace]) -> Package | None:
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


def package_of(frame: Frame) -> Package | None:
    """Return the package that contains a frame's file."""
    for ecosystem, pattern in _FOLDERS:
        found = _last(pattern, frame.path)
        if found is not None:
            named = found.groupdict()
            return Package(_plain(named["name"], ecosystem), ecosystem, named.get("version") or "")
    if frame.module and not frame.path.endswith((".py", ".go", ".php")) and not _is_of_the_language(frame):
        found = _CLASS.match(frame.module)
        return Package(found[0], "jvm") if found else None
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
