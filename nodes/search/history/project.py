"""Find a project's own names, so that versions of other products are not mistaken for its versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nodes.search.git import Repository

_FOLDERS = frozenset({"src", "lib", "libs", "packages", "crates", "pkg", "modules", "source"})
_NO_NAMES = frozenset(
    {"test", "tests", "doc", "docs", "example", "examples", "tool", "tools", "script", "scripts", "repo"}
)
_MANIFESTS = (
    "pyproject.toml",
    "setup.cfg",
    "setup.py",
    "package.json",
    "Cargo.toml",
    "composer.json",
    "go.mod",
    "pom.xml",
)
_NAME = re.compile(
    r"^[ \t]{0,8}[\"']?(?:dist)?name[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?([\w@/.-]{2,80})|"
    r"^module[ \t]{1,4}([\w./-]{2,120})|<artifactId>([\w.-]{2,80})<|\bname=[\"']([\w.-]{2,80})[\"']",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD = 20_000
"""Bytes of a manifest that are read."""


def own_names(repository: Repository, paths: Mapping[str, str]) -> frozenset[str]:
    """Return possible names of the project, normalised by ``plain``: its folder, packages and names in manifests.

    Args:
        repository: the clone.
        paths: the commit's files, each with its blob.
    """
    # A mirror's folder is `name.git`; the git directory of a work tree is `.git` in the project's folder.
    folder = repository.directory.name.removesuffix(".git") or repository.directory.parent.name
    names = {folder, *_packages(paths)}
    for _, content in repository.read([paths[name] for name in _MANIFESTS if name in paths]):
        for found in _NAME.findall(content[:_HEAD].decode("utf-8", "replace")):
            names |= {piece for name in found for piece in (name, name.rpartition("/")[2])}
    return frozenset(filter(None, map(plain, names))) - _NO_NAMES


def plain(name: str) -> str:
    """Normalise a name by removing variations in spelling: case, punctuation, a final ``.js``."""
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    # "Vue.js" is also written "Vue"; of a shorter name such as "D3.js" too little would be left.
    return letters.removesuffix("js") if len(letters) > 4 else letters


def _packages(paths: Mapping[str, str]) -> set[str]:
    """Return the outermost folders that contain files, or those below ``src`` and similar folders."""
    found: set[str] = set()
    for path in paths:
        parts = path.split("/")
        at = 1 if parts[0] in _FOLDERS else 0
        if len(parts) > at + 1 and not parts[at].startswith("."):
            found.add(parts[at])
    return found
