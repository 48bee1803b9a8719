"""Read dependencies from manifests and lock files: name, version and GitHub repository."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from nodes.sources import Dependency, Ecosystem
from nodes.sources.packages import Package

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
    r"^\s{0,8}(?:require\s{1,8})?([\w.-]{1,60}\.[a-z]{2,6}/[\w./-]{1,150})\s{1,8}(v[\w.+-]{1,60})", re.MULTILINE
)
_MAVEN = re.compile(
    r"<groupId>\s{0,40}([\w.-]{1,100})\s{0,40}</groupId>\s{0,40}<artifactId>\s{0,40}([\w.-]{1,100})\s{0,40}</artifactId>"
    r"(?:\s{0,40}<version>\s{0,40}([\w.-]{1,60})\s{0,40}</version>)?"
)
_GRADLE = re.compile(r"[\"']([\w.-]{1,100}):([\w.-]{1,100})(?::([\w.+-]{1,60}))?[\"']")
_GEM = re.compile(r"^ {4}([\w.-]{1,100}) \(([\w.-]{1,60})\)$", re.MULTILINE)
_GEM_REMOTE = re.compile(r"^GIT\n {2}remote: (\S{1,300})\n", re.MULTILINE)
Declared = Iterator[Dependency]
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


def find_in(name: str, text: str, package: Package) -> Dependency | None:
    """Return the dependency that a file declares for a package, or None; an unreadable file declares nothing.

    Args:
        name: the file's name without folders.
        text: the file's text.
        package: the package as a stack trace names it.
    """
    reader = _READERS.get(name)
    if reader is None:
        return None
    try:
        fits = [one for one in reader(text) if one.ecosystem == package.ecosystem and _is_it(one, package)]
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        # A manifest is untrusted and may have any structure.
        return None
    # A JVM package may match several groups, and the longest is the most specific; elsewhere only one matches.
    return max(fits, key=lambda one: len(one.name), default=None)


def declares_package(name: str, text: str, package: Package) -> bool:
    """Return whether a manifest declares the package itself: then the repository is the package."""
    try:
        own = _OWN_NAMES[name](text) if name in _OWN_NAMES else ""
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return False
    return bool(own) and _is_it(Dependency(str(own), package.ecosystem), package)


def files_of(ecosystem: Ecosystem) -> tuple[str, ...]:
    """Return the files that may declare a dependency; lock files come first because they give versions."""
    return _FILES[ecosystem]


def repository_in(text: object) -> str:
    """Return ``owner/name`` of the first GitHub address in a text, or an empty string."""
    found = _GITHUB.search(text) if isinstance(text, str) else None
    return f"{found[1]}/{found[2]}" if found else ""


def _is_it(declared: Dependency, package: Package) -> bool:
    if package.ecosystem == "jvm":
        group = declared.name.partition(":")[0]
        return package.name == group or package.name.startswith(f"{group}.") or group.startswith(f"{package.name}.")
    if package.ecosystem == "go":
        return package.name == declared.name or package.name.startswith(f"{declared.name}/")
    # PEP 503: names are compared without case, and with runs of ``-``, ``_`` and ``.`` as one dash.
    name = _normal(package.name)
    names = {name, _IMPORTED_AS.get(name, name)} if package.ecosystem == "python" else {name}
    return _normal(declared.name) in names


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _python_lock(text: str) -> Declared:
    for item in _tables(tomllib.loads(text), "package"):
        source = item.get("source")
        where = " ".join(map(str, source.values())) if isinstance(source, Mapping) else ""
        yield Dependency(str(item["name"]), "python", str(item.get("version", "")), repository_in(where))


def _pipfile_lock(text: str) -> Declared:
    document = json.loads(text)
    for part in ("default", "develop"):
        for name, item in document.get(part, {}).items():
            yield Dependency(name, "python", str(item.get("version", "")).lstrip("="), repository_in(item.get("git")))


def _pyproject(text: str) -> Declared:
    document = tomllib.loads(text)
    project = document.get("project", {})
    optional = project.get("optional-dependencies", {})
    groups = document.get("dependency-groups", {})
    lists = [project.get("dependencies", []), *optional.values(), *groups.values()]
    yield from _requirements("\n".join(line for lines in lists for line in lines if isinstance(line, str)))
    sources = document.get("tool", {}).get("uv", {}).get("sources", {})
    for name, value in {**document.get("tool", {}).get("poetry", {}).get("dependencies", {}), **sources}.items():
        yield Dependency(name, "python", "", repository_in(value.get("git") if isinstance(value, Mapping) else ""))


def _requirements(text: str) -> Declared:
    for found in _REQUIREMENT.finditer(text):
        content = (found[2] or "").strip()
        version = content.removeprefix("==").strip() if content.startswith("==") else ""
        yield Dependency(found[1], "python", version.split(" ")[0], repository_in(content))


def _package_lock(text: str) -> Declared:
    document = json.loads(text)
    for path, item in {**document.get("dependencies", {}), **document.get("packages", {})}.items():
        name = path.rpartition("node_modules/")[2]
        if name:
            yield Dependency(name, "javascript", str(item.get("version", "")), repository_in(item.get("resolved")))


def _package_json(text: str) -> Declared:
    document = json.loads(text)
    for part in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        for name, version in document.get(part, {}).items():
            short = _SHORT.fullmatch(str(version))
            repository = repository_in(version) or (f"{short[1]}/{short[2]}" if short else "")
            yield Dependency(name, "javascript", "", repository)


def _go_mod(text: str) -> Declared:
    for found in _GO.finditer(text):
        yield Dependency(found[1], "go", found[2], repository_in(found[1]))


def _cargo_lock(text: str) -> Declared:
    for item in _tables(tomllib.loads(text), "package"):
        yield Dependency(str(item["name"]), "rust", str(item.get("version", "")), repository_in(item.get("source")))


def _cargo_toml(text: str) -> Declared:
    document = tomllib.loads(text)
    for part in (document, document.get("workspace", {})):
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, value in part.get(kind, {}).items():
                table = value if isinstance(value, Mapping) else {}
                yield Dependency(str(table.get("package", name)), "rust", "", repository_in(table.get("git")))


def _maven(text: str) -> Declared:
    yield from _coordinates(_MAVEN.finditer(text))


def _gradle(text: str) -> Declared:
    yield from _coordinates(_GRADLE.finditer(text))


def _coordinates(found: Iterable[re.Match[str]]) -> Declared:
    for group, artifact, version in (one.groups() for one in found):
        # JitPack uses GitHub owners as groups.
        owner = group.removeprefix("com.github.") if group.startswith("com.github.") else ""
        repository = f"{owner}/{artifact}" if owner and "." not in owner else ""
        yield Dependency(f"{group}:{artifact}", "jvm", version or "", repository)


def _gemfile_lock(text: str) -> Declared:
    parts = text.split("\n\n")
    for part in parts:
        remote = _GEM_REMOTE.match(part.lstrip("\n"))
        for found in _GEM.finditer(part):
            yield Dependency(found[1], "ruby", found[2], repository_in(remote[1] if remote else ""))


def _composer_lock(text: str) -> Declared:
    document = json.loads(text)
    for item in (*document.get("packages", []), *document.get("packages-dev", [])):
        source = item.get("source") or {}
        yield Dependency(str(item["name"]), "php", str(item.get("version", "")), repository_in(source.get("url")))


def _tables(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return [item for item in document.get(name, []) if isinstance(item, Mapping)]


_READERS: dict[str, Callable[[str], Declared]] = {
    "uv.lock": _python_lock,
    "poetry.lock": _python_lock,
    "Pipfile.lock": _pipfile_lock,
    "pyproject.toml": _pyproject,
    "requirements.txt": _requirements,
    "package-lock.json": _package_lock,
    "package.json": _package_json,
    "go.mod": _go_mod,
    "Cargo.lock": _cargo_lock,
    "Cargo.toml": _cargo_toml,
    "pom.xml": _maven,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    "Gemfile.lock": _gemfile_lock,
    "composer.lock": _composer_lock,
}
