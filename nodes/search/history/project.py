"""Find a project's own names and products, so that versions of other products are not mistaken for its versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.history.versions import main_releases, parse_version
from nodes.search.paths.whose import manifest_names, packages, repository_name, simplified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nodes.search.git import Repository
    from nodes.search.history.versions import Releases

_NO_NAMES = frozenset(
    {"test", "tests", "doc", "docs", "example", "examples", "tool", "tools", "script", "scripts", "repo"}
)


def own_names(repository: Repository, paths: Mapping[str, str]) -> frozenset[str]:
    """Return possible names of the project, normalised by ``plain``: its folder, packages and names in manifests.

    Args:
        repository: the clone.
        paths: the commit's files, each with its blob.
    """
    written = manifest_names(repository, paths)
    names = {repository_name(repository), *packages(paths), *written, *(name.rpartition("/")[2] for name in written)}
    return frozenset(filter(None, map(plain, names))) - _NO_NAMES


def plain(name: str) -> str:
    """Normalise a name by removing variations in spelling: case, punctuation, a final ``.js``."""
    letters = simplified(name)
    # "Vue.js" is also written "Vue"; of a shorter name such as "D3.js" too little would be left.
    return letters.removesuffix("js") if len(letters) > 4 else letters


def product_of(name: str, text: str, series: Mapping[str, Releases], own: frozenset[str]) -> Releases | None:
    """Return the releases of the product that a version belongs to; None if no product has it, or it is unclear which.

    Args:
        name: the word before the version, which may name the product; empty if there is none.
        text: the version as written.
        series: the result of ``read_releases``.
        own: the project's names, normalised by ``plain``.
    """
    having = _having(text, series, own)
    if called := [found for found in having if name and is_called(found, name)]:
        return called[0] if len(called) == 1 else None
    if name and plain(name) not in own:
        return None
    # A package of the project that has no tags of its own, beside packages that have: no tag is of its releases.
    if name and len(series) > 1:
        having = {found: commit for found, commit in having.items() if not is_named(found) or len(having) > 1}
    # Go and others tag all modules of a release with one number; the tag without a name is the project's.
    unnamed = [found for found in having if not is_named(found)]
    clear = list(having) if len(having) == 1 else unnamed if len(set(having.values())) == 1 else []
    return clear[0] if clear else None


def is_shared(text: str, series: Mapping[str, Releases], own: frozenset[str]) -> bool:
    """Return whether several products have a version, at different commits."""
    return len(set(_having(text, series, own).values())) > 1


def _having(text: str, series: Mapping[str, Releases], own: frozenset[str]) -> dict[Releases, str]:
    """Return the products with a version, each with the version's commit; a prefix counts if none has it exactly."""
    version = parse_version(text)
    found = {one: release for one in products(series, own) if version and (release := one.exactly(version))}
    exact = any(release.version == version for release in found.values())
    return {one: release.commit for one, release in found.items() if not exact or release.version == version}


def products(series: Mapping[str, Releases], own: frozenset[str]) -> list[Releases]:
    """Return the releases of each product, the project's own first; these may have two spellings."""
    main = project_releases(series, own)
    joined = {release.series for release in main.all}
    return [main, *(found for name, found in series.items() if name not in joined)]


def project_releases(series: Mapping[str, Releases], own: frozenset[str]) -> Releases:
    """Return the releases that version numbers without a package name refer to."""
    spelled = [name for name in series if plain(name) in own]
    return main_releases(series, frozenset(spelled if len(spelled) == 1 else ()))


def is_called(releases: Releases, name: str) -> bool:
    """Return whether a name is that of a product's tags; either may lack leading folders or a scope."""
    return any(_ends_alike(series, name) for series in {release.series for release in releases.all} - {""})


def _ends_alike(series: str, name: str) -> bool:
    one, other = ("/" + "/".join(map(plain, text.strip("@/").split("/"))) for text in (series, name))
    return len(other) > 1 and (one.endswith(other) or other.endswith(one))


def is_named(releases: Releases) -> bool:
    """Return whether all tags of some releases begin with a product's name."""
    return all(release.series for release in releases.all)
