"""Find the dependency that a stack trace leads into, by package folders and by the manifests and lock files."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nodes.search.types import Frame, StackTrace
from nodes.sources import Dependency, Ecosystem

_TABLE = tomllib.loads(Path(__file__).with_name("ecosystems.toml").read_text(encoding="utf-8"))
_FOLDERS: list[tuple[Ecosystem, re.Pattern[str]]] = [
    (ecosystem, re.compile(pattern)) for ecosystem, patterns in _TABLE["folders"].items() for pattern in patterns
]
_FILES: dict[Ecosystem, list[str]] = _TABLE["files"]
_IMPORTED_AS: dict[str, str] = _TABLE["imported_as"]
_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
_MAX_FILES = 40
"""The maximum number of files to try, over all folders."""
_CLASS = re.compile(r"[a-z][\w]{0,60}(?:\.[a-z_][\w]{0,60}){1,8}(?=\.[A-Z])")
_OF_THE_LANGUAGE = re.compile(r"(?:java|javax|jdk|sun|kotlin|kotlinx|scala|android|dalvik|com\.sun)\.")
_GITHUB = re.compile(r"github\.com[/:]([\w.-]{1,100})/([\w.-]{1,100}?)(?:\.git)?(?=[/@#?\s\"']|$)")
_SHORT = re.compile(r"(?:github:)?([\w-]{1,100})/([\w.-]{1,100})(?:#.*)?")
_REQUIREMENT = re.compile(
    r"^\s{0,8}([A-Za-z0-9][\w.-]{0,99})(?:\[[^\]\n]{0,100}\])?\s{0,8}([=<>~!@][^\n;#]{0,300})?", re.MULTILINE
)
_GO = re.compile(
    r"^\s{0,8}(?:require\s{1,8})?([\w.-]{1,60}\.[a-z]{2,6}/[\w./-]{1,150})\s{1,8}v[\w.+-]{1,60}", re.MULTILINE
)
_MAVEN = re.compile(
    r"<groupId>\s{0,40}([\w.-]{1,100})\s{0,40}</groupId>\s{0,40}<artifactId>\s{0,40}([\w.-]{1,100})\s{0,40}</artifactId>"
)
_GRADLE = re.compile(r"[\"']([\w.-]{1,100}):([\w.-]{1,100})(?::[\w.+-]{1,60})?[\"']")
_GEM = re.compile(r"^ {4}([\w.-]{1,100}) \([\w.-]{1,60}\)$", re.MULTILINE)
_GEM_REMOTE = re.compile(r"^GIT\n {2}remote: (\S{1,300})\n", re.MULTILINE)
_ADDRESSES = ("source", "git", "resolved", "url")
"""Keys of the value that says where a package comes from."""
TextOf = Callable[[str], Awaitable[str | None]]
"""Returns the text of a whole file, or None if it does not exist or is too large to read."""
Declared = Iterator[tuple[str, str]]
"""The name and the GitHub repository of each declared package."""
_OWN_NAMES: dict[str, Callable[[str], object]] = {
    "pyproject.toml": lambda text: (
        (document := tomllib.loads(text)).get("project", {}).get("name")
        or document.get("tool", {}).get("poetry", {}).get("name")
    ),
    "package.json": lambda text: json.loads(text).get("name"),
    "go.mod": lambda text: next((line.split()[1] for line in text.splitlines() if line.startswith("module ")), ""),
    "Cargo.toml": lambda text: tomllib.loads(text).get("package", {}).get("name"),
}


async def find_dependency(traces: Sequence[StackTrace], text_of: TextOf) -> Dependency | None:
    """Return the dependency whose code raised the error; None if it is the repository's own code or unknown."""
    package = raising_package(traces)
    if package is None or await _is_own(traces, package, text_of):
        return None
    found: Dependency | None = None
    names = _FILES[package.ecosystem]
    places = [f"{folder}/{name}" if folder else name for folder in own_folders(traces) for name in names]
    for place in places[:_MAX_FILES]:
        text = await text_of(place) or ""
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


async def _is_own(traces: Sequence[StackTrace], package: Dependency, text_of: TextOf) -> bool:
    """Return whether the repository contains the file that raised the error: then the package was built from it."""
    inside = [frame.path for trace in traces[-1:] for frame in trace.frames if package_of(frame) == package]
    if not inside or package.ecosystem != "python":
        return False
    # Python only: other ecosystems install built files, whose paths differ from the source's.
    file = inside[0].rpartition("-packages/")[2]
    return any([await text_of(f"{folder}{file}") is not None for folder in _SOURCE_FOLDERS])


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


def find_in(name: str, text: str, package: Dependency) -> Dependency | None:
    """Return the dependency that a file declares for a package, or None; an unreadable file declares nothing.

    Args:
        name: the file's name without folders.
        text: the file's text.
        package: the package as a stack trace names it.
    """
    try:
        fits = [found for found in _READERS[name](text) if _is_it(found[0], package)] if name in _READERS else []
    except (ValueError, RecursionError):
        return None
    # A JVM package may match several groups, and the longest is the most specific; elsewhere only one matches.
    best = max(fits, key=lambda found: (len(found[0]), bool(found[1])), default=None)
    return Dependency(best[0], package.ecosystem, best[1]) if best else None


def declares_package(name: str, text: str, package: Dependency) -> bool:
    """Return whether a manifest declares the package itself: then the repository is the package."""
    try:
        own = _OWN_NAMES[name](text) if name in _OWN_NAMES else ""
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        # A manifest is untrusted and may have any structure.
        return False
    return bool(own) and _is_it(str(own), package)


def _repository_in(text: object) -> str:
    """Return ``owner/name`` of the first GitHub address in a text, or an empty string."""
    found = _GITHUB.search(text) if isinstance(text, str) else None
    return f"{found[1]}/{found[2]}" if found else ""


def _is_it(declared: str, package: Dependency) -> bool:
    if package.ecosystem == "jvm":
        group = declared.partition(":")[0]
        return package.name == group or package.name.startswith(f"{group}.") or group.startswith(f"{package.name}.")
    if package.ecosystem == "go":
        return package.name == declared or package.name.startswith(f"{declared}/")
    # PEP 503: names are compared without case, and with runs of ``-``, ``_`` and ``.`` as one dash.
    name = _normal(package.name)
    names = {name, _IMPORTED_AS.get(name, name)} if package.ecosystem == "python" else {name}
    return _normal(declared) in names


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _declared(document: Any) -> Declared:
    """Yield what a parsed manifest or lock file declares: as tables with a name, as keys, and as lines of lists."""
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            yield from _requirements("\n".join(line for line in item if isinstance(line, str)))
            waiting += item
        elif isinstance(item, Mapping):
            for key, value in item.items():
                renamed = value.get("package") if isinstance(value, Mapping) else value if key == "name" else None
                short = _SHORT.fullmatch(value) if isinstance(value, str) else None
                address = _address(item if key == "name" else value) or (f"{short[1]}/{short[2]}" if short else "")
                yield renamed if isinstance(renamed, str) else key.rpartition("node_modules/")[2], address
            waiting += item.values()


def _address(value: Any) -> str:
    if isinstance(value, Mapping):
        return next(filter(None, (_address(value[key]) for key in _ADDRESSES if key in value)), "")
    return _repository_in(value)


def _requirements(text: str) -> Declared:
    return ((found[1], _repository_in(found[2])) for found in _REQUIREMENT.finditer(text))


def _coordinates(pattern: re.Pattern[str], text: str) -> Declared:
    for group, artifact in pattern.findall(text):
        # JitPack uses GitHub owners as groups.
        owner = group.removeprefix("com.github.") if group.startswith("com.github.") else ""
        yield f"{group}:{artifact}", f"{owner}/{artifact}" if owner and "." not in owner else ""


def _gemfile_lock(text: str) -> Declared:
    for part in text.split("\n\n"):
        remote = _GEM_REMOTE.match(part.lstrip("\n"))
        yield from ((name, _repository_in(remote[1] if remote else "")) for name in _GEM.findall(part))


_READERS: dict[str, Callable[[str], Declared]] = {
    **dict.fromkeys(
        ("Pipfile.lock", "package-lock.json", "package.json", "composer.lock"), lambda text: _declared(json.loads(text))
    ),
    **dict.fromkeys(
        ("uv.lock", "poetry.lock", "pyproject.toml", "Cargo.lock", "Cargo.toml"),
        lambda text: _declared(tomllib.loads(text)),
    ),
    "requirements.txt": _requirements,
    "go.mod": lambda text: ((name, _repository_in(name)) for name in _GO.findall(text)),
    "pom.xml": lambda text: _coordinates(_MAVEN, text),
    **dict.fromkeys(("build.gradle", "build.gradle.kts"), lambda text: _coordinates(_GRADLE, text)),
    "Gemfile.lock": _gemfile_lock,
}
