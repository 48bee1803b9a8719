"""Find the files that a text names by path, module or stem, and tell the project's own code from that of others."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodes.search.git import Repository
from nodes.search.paths.roles import role_of
from nodes.search.tokens import load_sections

MAXMANIFESTS, HEAD = 80, 20_000
"""Maximum number of manifests that are read, the outermost first, and of bytes of each."""
_TABLE = load_sections(Path(__file__).with_name("project.txt"))
_MANIFEST = re.compile("|".join(_TABLE["manifest"]))
_NAMED_BY_FILE = re.compile(r"\.(?:gemspec|cabal|podspec|csproj)$")
_NAME = re.compile("|".join(_TABLE["name"]), re.IGNORECASE | re.MULTILINE)
_PARENT = re.compile(r"<parent>[^<]{0,200}(?:<[^<]{0,300}){0,20}?</parent>")
_OTHERS = re.compile(r"<(?:dependencies|dependencyManagement|build|profiles)>")
"""The beginning of the part of a ``pom.xml`` that names other projects."""
_SUBMODULE = re.compile(r"^\s{0,8}path\s{0,4}=\s{0,4}(\S.{0,200}?)\s{0,8}$", re.MULTILINE)
_INSTALLED = re.compile(f"(?:^|/)(?:{'|'.join(_TABLE['installed'])})/", re.IGNORECASE)
"""A folder into which packages of others are installed or copied."""
_RUNTIME = re.compile(f"(?:^|/)(?:{'|'.join(_TABLE['runtime'])})/|{_TABLE['built in'][0]}", re.IGNORECASE)
"""A folder of a language's own code or of the system's libraries."""
_VERSION = re.compile(r"[-@:]v?\d[^/]{0,80}$")
_PLUGIN = re.compile(r"(?:^|/)wp-content/(?:plugins|themes)/([^/]{1,99})/")
_PLUGIN_HEADER = re.compile(r"^[\s/*#@]{0,9}Plugin Name:", re.MULTILINE)
_TEXT_DOMAIN = re.compile(r"^[\s/*#@]{0,9}Text Domain:[ \t]{0,20}([\w-]{1,99})", re.MULTILINE)
"""The name of a plugin's folder in WordPress, as its main file states it."""
_BRANCH = re.compile(r"-(?:main|master|trunk|dev(?:elop)?)$")
_SOURCE_ROOTS = frozenset({"java", "kotlin", "scala", "groovy", "src"})
FOLDERS = frozenset({"src", "lib", "libs", "packages", "crates", "pkg", "modules", "source"})
PACKAGE_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Stems of files that represent their folder."""
AMBIGUOUS = 8  # a suffix that matches more files identifies none of them
SEPARATORS = re.compile(r"[./\\:]+")


@dataclass(frozen=True, slots=True)
class Project:
    """The names of a project and its packages in the manifests and folders of a commit, ``simplified``."""

    names: frozenset[str] = frozenset()
    """Names of its packages in manifests, and of the repository's folder."""
    folders: frozenset[str] = frozenset()
    """Its outermost folders, as Python packages are named when they are installed."""
    submodules: tuple[str, ...] = ()
    """Folders of other projects."""
    plugins: frozenset[str] = frozenset()
    """Names of its folder in WordPress, if it is a plugin."""

    def is_foreign(self, path: str) -> bool:
        """Return whether a path of a stack trace is inside a library, a runtime or a submodule."""
        written = path.replace("\\", "/")[-600:]
        if any(f"/{folder}/" in f"/{written}" for folder in self.submodules):
            return True
        plugin = _PLUGIN.search(written) if self.plugins else None
        if plugin and simplified(_BRANCH.sub("", _VERSION.sub("", plugin[1]))) not in self.plugins | self.names:
            return True
        if installed := list(_INSTALLED.finditer(written)):
            return not self._is_installed(written[installed[-1].end() :])
        runtime = _RUNTIME.search(written)
        # A program may be installed below /usr/lib, and a project may be in Go's source folder.
        below = written[runtime.end() :].split("/") if runtime else []
        return runtime is not None and not any(map(self.is_named, below))

    def is_named(self, folder: str) -> bool:
        """Return whether a folder has a name of the project, before which an author, and after which a version may be.

        Roles of Ansible and extensions of VS Code are installed as ``author.name-1.2.0``.
        """
        name = _VERSION.sub("", folder)
        return not self.names.isdisjoint((simplified(name), simplified(name.rpartition(".")[2])))

    def _is_installed(self, rest: str) -> bool:
        """Return whether a path below a folder of packages begins with a package of the project."""
        parts = rest.split("/")
        heads = ("/".join(parts[:count]) for count in range(1, min(5, len(parts))))
        return any(simplified(_VERSION.sub("", head)) in self.names | self.folders for head in heads)


class PathIndex:
    """The files of a commit by their names."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths

    @cached_property
    def by_name(self) -> dict[str, list[int]]:
        """Files by base name."""
        return _numbered(path.rpartition("/")[2] for path in self.paths)

    @cached_property
    def by_module_tail(self) -> dict[str, list[int]]:
        """Files by the last part of their module name: the stem, or the folder of a package file."""
        return _numbered(parts[-1] for parts in self.modules)

    @cached_property
    def modules(self) -> list[list[str]]:
        """The parts of each file's module name; equal parts are one string, because folders repeat in many paths."""
        shared: dict[str, str] = {}
        return [[shared.setdefault(part, part) for part in module_parts(path)] for path in self.paths]

    @cached_property
    def by_stem(self) -> dict[str, list[int]]:
        """Files by lowercased stem."""
        names = (path.rpartition("/")[2].lower() for path in self.paths)
        return _numbered(name.rpartition(".")[0] or name for name in names)

    @cached_property
    def folder(self) -> npt.NDArray[np.int64]:
        """The number of each file's folder."""
        numbers: dict[str, int] = {}
        found = [numbers.setdefault(path.rpartition("/")[0], len(numbers)) for path in self.paths]
        return np.array(found, np.int64)

    def with_suffix(self, written: str) -> list[tuple[int, int]]:
        """Return (file, shared parts) for the files that share the longest tail with a path as written."""
        parts = written.replace("\\", "/").strip("/.").split("/")
        numbers = self.by_name.get(parts[-1], ())
        shared = [(number, common_tail(parts, self.paths[number].split("/"))) for number in numbers]
        longest = max((length for _, length in shared), default=0)
        best = [(number, length) for number, length in shared if length == longest]
        return best if len(best) <= AMBIGUOUS else []

    def of_module(self, dotted: str) -> list[tuple[int, int]]:
        """Return (file, parts used) for the longest prefix of a dotted name that is a module.

        A prefix of one part is not enough: too many modules are called ``test`` or ``core``.
        """
        parts = [part for part in SEPARATORS.split(dotted) if part]
        # The longest prefix first: in ``package.module.Class.method`` the last parts are names inside the module.
        for used in range(len(parts), 1, -1):
            found = [
                number
                for number in self.by_module_tail.get(parts[used - 1], ())
                if common_tail(parts[:used], self.modules[number]) == used
            ]
            if 0 < len(found) <= AMBIGUOUS:
                return [(number, used) for number in found]
        return []


def is_library(path: str) -> bool:
    """Return whether a path is inside a folder of libraries or of a runtime, whichever project it belongs to."""
    return Project().is_foreign(path)


def package_of(path: str) -> str | None:
    """Return the package, without its version, whose folder of libraries a path is in."""
    written = path.replace("\\", "/")[-600:]
    installed = list(_INSTALLED.finditer(written))
    parts = written[installed[-1].end() :].split("/") if installed else []
    if len(parts) < 2 or written.startswith("node:"):
        return None
    host = "." in parts[0] and installed[-1][0].endswith(("pkg/mod/", "vendor/"))
    count = 3 if host else 2 if parts[0].startswith("@") or installed[-1][0].endswith("vendor/") else 1
    return _VERSION.sub("", "/".join(parts[:count])) or None


def is_of_package(module: str, path: str) -> bool:
    """Return whether a file's folder agrees with a class's package, as the languages of the JVM lay files out.

    Below ``src/main/java`` the folders are the package, or, in Kotlin, its end. Elsewhere the layout says nothing.
    """
    package, folders = re.split(r"[./]", module)[:-1], path.split("/")[:-1]
    roots = [at for at, folder in enumerate(folders) if folder in _SOURCE_ROOTS]
    below = folders[roots[-1] + 1 :] if roots else []
    return not package or not below or package[-len(below) :] == below


def simplified(name: str) -> str:
    """Return a name without variations in spelling: in lower case, without punctuation."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def read_project(repository: Repository, blobs: Mapping[str, str]) -> Project:
    """Read what the manifests and folders of a commit, given as paths with blobs, say about the project."""
    names = {simplified(name) for name in (repository_name(repository), *manifest_names(repository, blobs))}
    listed = blobs.get(".gitmodules")
    modules = next((content for _, content in repository.read([listed])), b"") if listed else b""
    submodules = tuple(path.strip("/") for path in _SUBMODULE.findall(_text(modules)))
    folders = {*packages(blobs), *(path.partition("/")[0] for path in blobs if "/" in path)}
    plugins = frozenset(map(simplified, plugin_names(repository, blobs)))
    return Project(frozenset(filter(None, names)), frozenset(map(simplified, folders)), submodules, plugins)


def repository_name(repository: Repository) -> str:
    """Return the name of a clone's folder, as it is without ``.git``."""
    # A mirror's folder is `name.git`; the git directory of a work tree is `.git` in the project's folder.
    return repository.directory.name.removesuffix(".git") or repository.directory.parent.name


def manifest_names(repository: Repository, blobs: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the project's packages, as its manifests write them."""
    manifests = (path for path in blobs if _MANIFEST.fullmatch(path.rpartition("/")[2]))
    found = [path for path in manifests if role_of(path) in ("source", "config")]
    chosen = sorted(found, key=lambda path: (path.count("/"), path))[:MAXMANIFESTS]
    names = {path.rpartition("/")[2].rpartition(".")[0] for path in chosen if _NAMED_BY_FILE.search(path)}
    for _, content in repository.read(dict.fromkeys(blobs[path] for path in chosen)):
        text = _OTHERS.split(_PARENT.sub("", _text(content)), maxsplit=1)[0]
        names |= {name for found in _NAME.findall(text) for name in found if name}
    return frozenset(names)


def plugin_names(repository: Repository, blobs: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that the folder of a plugin of WordPress may have, from its main file; none of other projects."""
    files = [(path, blobs[path]) for path in sorted(blobs) if path.endswith(".php") and "/" not in path][:MAXMANIFESTS]
    texts = {blob: _text(content) for blob, content in repository.read([blob for _, blob in files])}
    for path, blob in files:
        if _PLUGIN_HEADER.search(text := texts.get(blob, "")):
            yield path.removesuffix(".php")
            yield from _TEXT_DOMAIN.findall(text)


def packages(paths: Iterable[str]) -> set[str]:
    """Return the outermost folders that contain files, or those below ``src`` and similar folders."""
    found = set()
    for path in paths:
        parts = path.split("/")
        at = 1 if parts[0] in FOLDERS else 0
        if len(parts) > at + 1 and not parts[at].startswith("."):
            found.add(parts[at])
    return found


def module_parts(path: str) -> list[str]:
    """Split a path into the parts of its module name."""
    parts = path.split("/")
    # At the first dot, so that ``types.d.ts`` and ``parser.test.js`` have the stems ``types`` and ``parser``.
    stem = parts[-1].partition(".")[0]
    return parts[:-1] if stem in PACKAGE_FILES and len(parts) > 1 else [*parts[:-1], stem]


def common_tail(left: Sequence[str], right: Sequence[str]) -> int:
    """Count the equal parts at the end of two sequences."""
    count = 0
    for one, other in zip(reversed(left), reversed(right), strict=False):
        if one != other:
            break
        count += 1
    return count


def _text(content: bytes) -> str:
    return content[:HEAD].decode("utf-8", "replace")


def _numbered(keys: Iterable[str]) -> dict[str, list[int]]:
    found = defaultdict(list)
    for number, key in enumerate(keys):
        found[key].append(number)
    return dict(found)
