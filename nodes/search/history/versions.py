"""Read releases from tags in any common spelling, and tell the project's own releases from those of other products."""

import os
import re
import time
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from packaging.version import InvalidVersion, Version

from nodes.search.git import Repository
from nodes.search.git.objects import checked
from nodes.search.history.names import plain
from nodes.search.lazy import lazy

MAX_TAGS = 20_000
_RELEASE, _OF_LINE = 1_000, 10
"""Bytes of the objects of one release, and of those of many as a multiple of what git prints."""
_TICK = 50_000_000
"""Nanoseconds, more than a file system's clock takes to move on."""
_FOLDERS = 200
"""Maximum number of folders of tags that are looked at."""
DATED = "by date:"
"""The beginning of the series of tags that are days."""
_MAX_VERSION = 100
_NUMBER = lazy(r"[vVrR]?\d{1,20}(?:[._+-].{0,80}|[A-Za-z].{0,40})?")
_SPLIT = lazy(r"[-_/@. ](?=[vVrR]?\d)|(?<=[A-Za-z])(?=\d)")
# Tags that contain a date are not versions.
_DATE = lazy(r"\d{4}-\d\d?-\d")
_DAY = lazy(r"(?:^|.{0,40}[-_/v])(20\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?([0-2]\d|3[01])$")
_FLAVOUR = lazy(r"[-_.+][A-Za-z][A-Za-z]{1,20}$")
"""The end of a tag that names a build of a version: ``v1.2.0-foss``."""
_IMPLICIT_POST = lazy(r"[vVrR]?\d{1,20}-\d")  # packaging reads 1-2 as a post-release of 1; tags never mean that
_PLAIN_SERIES = frozenset({"", "v", "r", "rel", "release", "releases", "version", "ver", "tag", "tags", "stable"})
# Names that packaging does not know, from Maven and others, for releases and pre-releases.
_FINAL = lazy(r"[-_.](?:final|release|ga)$", re.IGNORECASE)
_BEFORE = (
    (lazy(r"[-_.]?(?:milestone|m)[-_.]?(?=\d{1,4}$)", re.IGNORECASE), "a"),
    (lazy(r"[-_.]?[cp]r[-_.]?(?=\d{1,4}$)", re.IGNORECASE), "rc"),
    (
        lazy(r"[-_.]?(?:snapshot|nightly|develop|canary|next|unstable|experimental)(?:[-_.].{0,40})?$", re.IGNORECASE),
        ".dev0",
    ),
    (lazy(r"(?<=[a-z])[-_.](\d{1,8})[-_.]\d.{0,40}$"), r"\1"),
)


@dataclass(frozen=True, slots=True)
class Release:
    """A tag that names a version."""

    tag: str
    series: str
    """The text before the number, in lower case: the package's name if a repository has several, else empty."""
    version: Version
    commit: str
    """Full SHA."""
    made: int
    """Seconds since 1970: the time from which both the commit and the tag existed."""
    plain: bool = True
    """Whether the tag is the version's own, not that of a flavour of it."""


class Releases:
    """The releases of one series, oldest version first."""

    def __init__(self, releases: Iterable[Release]) -> None:
        self.all = sorted(releases, key=lambda release: (release.version, release.tag))

    @cached_property
    def _versions(self) -> list[Version]:
        return [release.version for release in self.all]

    def exactly(self, version: Version) -> Release | None:
        """Return the release of a version; if ``2.3`` has none, the first with its prefix: ``2.3.1``, ``2.3rc1``."""
        at = bisect_left(self._versions, version)
        if at < len(self.all) and self._versions[at] == version:
            return self.all[at]
        prefix = version.release
        later = [r for r in self.all[at:] if r.version.release[: len(prefix)] == prefix]
        # "2.3" in an issue means the released version, not its release candidate.
        return next((r for r in later if version.is_prerelease or not r.version.is_prerelease), None)

    def before(self, version: Version, made_by: int) -> Release | None:
        """Return the release before a version, made by a given time; for a final version, the last final one."""
        earlier = (r for r in reversed(self.all[: bisect_left(self._versions, version)]) if r.made <= made_by)
        return next((r for r in earlier if version.is_prerelease or not r.version.is_prerelease), None)

    def after(self, version: Version) -> Release | None:
        """Return the first final release after a version; None if there is none yet."""
        return next((r for r in self.all if r.version > version and not r.version.is_prerelease), None)


def parse_version(text: str) -> Version | None:
    """Parse a version as written in tags and prose; None if it is not a version."""
    text = _FINAL.sub("", text.strip()[:_MAX_VERSION].lstrip("vV")).replace("_", ".")
    for pattern, replacement in _BEFORE:
        text = pattern.sub(replacement, text)
    try:
        return Version(text)
    except (InvalidVersion, ValueError):  # ValueError: more digits than int() reads
        return None


def parse_tag(tag: str) -> tuple[str, Version] | None:
    """Split a tag into series and version: ``name-v1.2.3``, ``REL_1_2``, ``@scope/name@1.2.3-rc.1``, ``1.2``."""
    tag = tag[:_MAX_VERSION]
    if _DATE.search(tag):
        return None
    # The longest rest that is a version counts, so that ``v2.0-rc-1`` is not read as version 1.
    for cut in (0, *(found.end() for found in _SPLIT.finditer(tag))):
        rest = tag[cut:]
        if not _NUMBER.fullmatch(rest) or _IMPLICIT_POST.match(rest):
            continue
        version = parse_version(rest.lstrip("rR"))
        if version is not None:
            return _series(tag[:cut]), version
    return None


def read_releases(repository: Repository, now: int) -> dict[str, Releases]:
    """Return the releases by series that were made by ``now`` (seconds since 1970); later tags are ignored."""
    state = _state_of_tags(repository.git_directory)
    key = ("releases", state, now)
    if state is not None and (known := repository.known.get(key)) is not None:
        return dict(known)
    fields = "%(refname:lstrip=2)%00%(objectname)%00%(*objectname)%00%(committerdate:unix)%00%(*committerdate:unix)%00"
    printed = repository.output(
        *("for-each-ref", f"--count={MAX_TAGS}", "--sort=-creatordate", "--sort=refname"),
        *(f"--format={fields}%(taggerdate:unix)", "refs/tags"),
    )
    series: dict[str, list[Release]] = {}
    for line in (printed or b"").split(b"\n"):
        release = _release(line.decode("utf-8", "surrogateescape").split("\0"))
        if release is not None and release.made <= now:
            series.setdefault(release.series, []).append(release)
    releases = {name: Releases(_without_flavours(found)) for name, found in series.items()}
    if state is not None and printed is not None:
        repository.known.keep(key, releases, _RELEASE + _OF_LINE * len(printed))
    return releases


def _state_of_tags(git: Path | None) -> Hashable:
    """Return what changes with each tag that is made, moved or deleted; None if files do not tell it."""
    if git is None or (git / "reftable").exists():
        return None
    folders = [folder for folder, _, _ in islice(os.walk(git / "refs" / "tags"), _FOLDERS + 1)]
    states: list[tuple[str, int, int]] = []
    for path in (git / "packed-refs", *map(Path, folders)):
        with suppress(OSError):
            found = path.stat()
            states.append((str(path), found.st_ino, found.st_mtime_ns))
    # Two changes within a tick of the file system's clock leave the same time.
    is_old = all(time.time_ns() - changed > _TICK for _, _, changed in states)
    return tuple(states) if is_old and 0 < len(folders) <= _FOLDERS else None


def main_releases(series: Mapping[str, Releases], own: frozenset[str] = frozenset()) -> Releases:
    """Return the releases that version numbers without a package name refer to.

    ``own`` has the project's names: one that changed its tag spelling has releases with and without its name.
    """
    joined = [release for name, found in series.items() if name == "" or name in own for release in found.all]
    largest = max(series.values(), key=lambda found: (len(found.all), found.all[0].series), default=Releases(()))
    # If another series has over four times as many releases, the tags without a name are something else.
    return Releases(joined) if 4 * len(joined) >= len(largest.all) else largest


def product_of(name: str, text: str, series: Mapping[str, Releases], own: frozenset[str]) -> Releases | None:
    """Return the releases of the product that a version belongs to; None if no product has it, or it is unclear which.

    ``name`` is the word before the version, which may name the product; ``own`` is normalised by ``plain``.
    """
    found = having(text, series, own)
    if called := [made for made in found if name and is_called(made, name)]:
        return called[0] if len(called) == 1 else None
    if name and plain(name) not in own:
        return None
    # A package of the project that has no tags of its own, among packages that have some: no tag is of its releases.
    if name and len(series) > 1 and len(found) == 1 and any(map(is_named, found)):
        return None
    # Go and others tag all modules of a release with one number; the tag without a name is the project's.
    unnamed = [made for made in found if not is_named(made)]
    clear = list(found) if len(found) == 1 else unnamed if len(set(found.values())) == 1 else []
    return clear[0] if clear else None


def products(series: Mapping[str, Releases], own: frozenset[str]) -> list[Releases]:
    """Return the releases of each product, the project's own first; these may have two spellings."""
    main = project_releases(series, own)
    joined = {release.series for release in main.all}
    return [main, *(found for name, found in series.items() if name not in joined)]


def first_with(repository: Repository, change: str, made: Releases) -> Release | None:
    """Return the first final release of a product whose tag contains a change."""
    names = ("--format=%(refname:lstrip=2)", "refs/tags")
    printed = repository.output("for-each-ref", f"--contains={checked(change)}", *names)
    tags = set((printed or b"").decode("utf-8", "surrogateescape").split("\n"))
    final = (release for release in made.all if not release.version.is_prerelease)
    return next((named for named in final if named.tag in tags), None)


def project_releases(series: Mapping[str, Releases], own: frozenset[str]) -> Releases:
    """Return the releases that version numbers without a package name refer to."""
    spelled = [name for name in series if plain(name) in own]
    return main_releases(series, frozenset(spelled if len(spelled) == 1 else ()))


def is_called(releases: Releases, name: str) -> bool:
    """Return whether a name is that of a product's tags; either may lack leading folders or a scope."""
    parts = [_in_parts(series) for series in {release.series for release in releases.all} - {""}]
    wanted = _in_parts(name)
    return len(wanted) > 1 and any(part.endswith(wanted) or wanted.endswith(part) for part in parts)


def is_named(releases: Releases) -> bool:
    """Return whether all tags of some releases begin with a product's name."""
    return all(release.series for release in releases.all)


def _series(prefix: str) -> str:
    words = re.split(r"([-_/. @])", prefix.strip("-_/@. ").lower())
    while words and words[-1] in _PLAIN_SERIES | {"-", "_", "/", ".", " ", "@"}:
        words.pop()
    return "".join(words)


def _without_flavours(releases: Sequence[Release]) -> Iterable[Release]:
    """Return one release of each version if it has flavours: its own, or that of the first flavour by name."""
    ordinary = [release for release in releases if release.plain]
    versions = {release.version for release in ordinary}
    flavours = sorted((r for r in releases if r.version not in versions), key=lambda r: r.tag, reverse=True)
    return [*ordinary, *{release.version: release for release in flavours}.values()]


def _release(fields: list[str]) -> Release | None:
    if len(fields) != 6:
        return None
    tag, tagged, peeled, *dates = fields
    dated = _dated(tag)
    own = dated if dated and tag[-8:].isdigit() else parse_tag(tag) or dated
    parsed = own or parse_tag(_FLAVOUR.sub("", tag[:_MAX_VERSION]))
    moments = [int(date) for date in dates if date.isdigit()]
    # A tag of a tree or a blob has no commit date.
    if parsed is None or not moments or not (dates[0] or dates[1]):
        return None
    return Release(tag, *parsed, commit=peeled or tagged, made=max(moments), plain=own is not None)


def _dated(tag: str) -> tuple[str, Version] | None:
    """Read a tag that ends with a day, ``build-2024-05-01``, as a version of a series of its own."""
    found = _DAY.match(tag[:_MAX_VERSION])
    return (f"{DATED}{_series(tag[: found.start(1)])}", Version(".".join(found.groups()))) if found else None


def having(text: str, series: Mapping[str, Releases], own: frozenset[str]) -> dict[Releases, str]:
    """Return the products with a version, each with the version's commit; a prefix counts if none has it exactly."""
    version = parse_version(text)
    found = {product: release for product in products(series, own) if version and (release := product.exactly(version))}
    exact = any(release.version == version for release in found.values())
    return {name: release.commit for name, release in found.items() if not exact or release.version == version}


def _in_parts(name: str) -> str:
    return "/" + "/".join(map(plain, name.strip("@/").split("/")))
