"""Read dependencies from manifests and lock files: name and GitHub repository."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nodes.sources import Dependency, Ecosystem

_GITHUB = re.compile(r"github\.com[/:]([\w.-]{1,100})/([\w.-]{1,100}?)(?:\.git)?(?=[/@#?\s\"']|$)")
_SHORT = re.compile(r"(?:github:)?([\w-]{1,100})/([\w.-]{1,100})(?:#.*)?")
_IMPORTED_AS = {
    "yaml": "pyyaml",
    "pil": "pillow",
    "sklearn": "scikit-learn",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "attr": "attrs",
    "jwt": "pyjwt",
    "openssl": "pyopenssl",
    "crypto": "pycryptodome",
    "dotenv": "python-dotenv",
    "markdown-it": "markdown-it-py",
    "google": "protobuf",
}
"""Python modules whose name differs from that of the package that provides them."""
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
_FILES: dict[Ecosystem, tuple[str, ...]] = {
    "python": ("uv.lock", "poetry.lock", "Pipfile.lock", "requirements.txt", "pyproject.toml"),
    "javascript": ("package-lock.json", "package.json"),
    "go": ("go.mod",),
    "rust": ("Cargo.lock", "Cargo.toml"),
    "jvm": ("pom.xml", "build.gradle", "build.gradle.kts"),
    "ruby": ("Gemfile.lock",),
    "php": ("composer.lock",),
}


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


def files_of(ecosystem: Ecosystem) -> tuple[str, ...]:
    """Return the files that may declare a dependency; lock files come first because they have addresses."""
    return _FILES[ecosystem]


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
