"""Possible names of a project, as versions and paths of reports give them."""

from collections.abc import Mapping
from functools import lru_cache

from nodes.search.git import Repository
from nodes.search.paths.project import FOLDERS, manifest_names, packages, repository_name, simplified

_OF_PACKAGE = (
    "__init__.py",
    "Cargo.toml",
    "package.json",
    "go.mod",
    "pom.xml",
    ".gradle",
    ".gradle.kts",
    "proj",
    ".rb",
)
"""The endings of files that a folder has which is a package."""
_NO_NAMES = frozenset(
    {"test", "tests", "doc", "docs", "example", "examples", "tool", "tools", "script", "scripts", "repo"}
)


def own_names(repository: Repository, paths: Mapping[str, str]) -> frozenset[str]:
    """Return possible names of the project by ``plain``: of its folder, remotes, packages and manifests."""
    written = manifest_names(repository, paths)
    # Below ``src``, a folder that is no package may have the name of the software that it is for.
    whole = {path.rpartition("/")[0] for path in paths if path.endswith(_OF_PACKAGE)}
    found = (path for path in paths if path.split("/")[0] not in FOLDERS or "/".join(path.split("/")[:2]) in whole)
    names = {
        repository_name(repository),
        *_remote_names(repository),
        *packages(found),
        *written,
        *(name.rpartition("/")[2] for name in written),
    }
    return frozenset(filter(None, map(plain, names))) - _NO_NAMES


@lru_cache(maxsize=64)  # a run asks several times
def _remote_names(repository: Repository) -> frozenset[str]:
    """Return the last parts of the addresses of a clone's remotes."""
    remotes = (repository.output("config", "--get-regexp", r"^remote\..*\.url$") or b"").decode(errors="replace")
    return frozenset(line.rpartition("/")[2].removesuffix(".git") for line in remotes.split("\n"))


def plain(name: str) -> str:
    """Normalise a name by removing variations in spelling: case, punctuation, a final ``.js``."""
    letters = simplified(name)
    # "Vue.js" is also written "Vue"; of a shorter name such as "D3.js" too little would be left.
    return letters.removesuffix("js") if len(letters) > 4 else letters
