"""``older_release``: the release that a report names, if later ones exist."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.git import Repository
from nodes.search.history.claims import Claim
from nodes.search.history.contrast import WORKED
from nodes.search.history.names import own_names, plain
from nodes.search.history.versions import (
    Release,
    Releases,
    first_with,
    is_called,
    parse_version,
    product_of,
    products,
    project_releases,
    read_releases,
)
from nodes.search.sentences import say

MAX_RELEASES = 12
"""Maximum number of releases in which a line is read."""
MAX_INSTALLED = 20
"""Maximum number of installed packages in the paths of a report."""
_SPECIAL = re.compile(r"[][(){}.*+?^$|\\]")
"""What has a meaning in the patterns of git."""
_INSTALLED = re.compile(
    r"(?:/|^\s{2,12}\()([A-Za-z][\w.]{0,40}(?:-[A-Za-z][\w.]{0,40}){0,4})"
    r"[-@ ]v?(\d{1,6}(?:\.\d{1,6}){1,3})(?:/|\) \w{2,20}/)",
    re.MULTILINE,
)
"""The folder of an installed package: ``/gems/zones-1.2.0/``, ``/zones@v1.2.0/``, ``(zones 1.2.0) lib/``."""
_PLAIN = ("--no-textconv", "--no-ext-diff", "--no-show-signature")


class NamedRelease(NamedTuple):
    """The release that a report names, the version as the report writes it, and all releases of that product."""

    release: Release
    words: str
    made: Releases


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the release that the report names, if later ones, which it does not name, were made before the commit."""
    named = named_release(inquiry)
    later = (item.version for item in named.made.all if item.version > named.release.version) if named else ()
    if named and not any(map(inquiry.issue.holds, map(str, later))) and (says := _later(named.release, named.made)):
        yield Fact("older_release", says, named.words, sha=named.release.commit)


def _later(release: Release, made: Releases) -> str | None:
    """Return how many final releases follow a release, and which is the last; None if no release follows."""
    # Neither a release candidate nor another tag of the same code justifies a request to upgrade.
    final = (item for item in made.all if not item.version.is_prerelease and item.commit != release.commit)
    later = [item for item in final if item.version > release.version]
    if not later:
        return None
    many = say("{count} later releases exist", count=len(later)) if len(later) > 1 else say("a later release exists")
    values = {"version": str(release.version), "last": str(later[-1].version)}
    return say("The report names {version}; {many}, up to {last}.", many=many, **values)


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that a tag of the version is at the release's commit, and that later releases of its product exist.

    If other products have the version too, the issue must name the product directly before it.
    """
    version, made = parse_version(fact.words or ""), made_before(witness)
    having = {
        item: release for item in made if version and (release := item.exactly(version)) and release.version == version
    }
    tagged = [(item, release) for item, release in having.items() if release.commit == fact.sha]
    if not tagged:
        return "no tag of this version is at the commit"
    stated = [item for item, release in tagged if _later(release, item) == fact.says]
    if not stated:
        return "the later releases are others"
    if len(having) == len(tagged) or any(_is_named(item, fact.words or "", witness) for item in stated):
        return None
    return "another product has the version too, and the report names none"


def made_before(witness: Witness) -> list[Releases]:
    """Return the releases of each product that were made before the commit."""
    from nodes.search.history.log import Log  # noqa: PLC0415  a ranking's confidence needs no history

    repository = witness.repository
    own = own_names(repository, {entry.path: entry.blob for entry in repository.tree(witness.sha)})
    return products(read_releases(repository, Log(repository, witness.sha).committed_at), own)


def _is_named(releases: Releases, words: str, witness: Witness) -> bool:
    """Return whether the issue has a version directly after a product's name, as in ``name v1.2`` or ``name@1.2``."""
    for part in witness.issue_text.split(words)[:-1]:
        before = re.search(r"([\w./@-]{1,100})[^\w./-]{0,3}v?$", part[-120:], re.IGNORECASE)
        if before and is_called(releases, before[1].rstrip("@")):
            return True
    return False


def named_release(inquiry: FinderInput) -> NamedRelease | None:
    """Return the newest release that the report says it is about; None if it names releases of several products.

    Versions of other software, and versions that the report says work, are left out.
    """
    # "Ruby 4.0.0" is not the project's, wherever else the number is.
    others = {
        claim.text for claim in inquiry.claims.versions if claim.name and plain(claim.name) not in inquiry.code.names
    }
    others -= {claim.text for _, claim in releases_named(inquiry) if claim.name}
    # ``exactly`` also finds the first release with a prefix; the report then names no single release.
    found = [
        named
        for named, claim in releases_named(inquiry)
        if claim.part not in WORKED
        and claim.text not in others
        and named.release.version == parse_version(claim.text)
        # It must be the project's: with a product's name, or without one and of three numbers or the end of a range.
        and (claim.name or claim.part == "bad" or claim.text.count(".") > 1)
        and not inquiry.issue.holds(f"{claim.text}.x")  # a series
    ]
    if len({tuple(named.made.all) for named in found}) > 1:
        return None
    return max(found, key=lambda named: named.release.version, default=None)


def releases_named(inquiry: FinderInput) -> list[tuple[NamedRelease, Claim]]:
    """Return the releases of the repository's products that the report names, each with what the report says."""
    code, installed = inquiry.code, dict.fromkeys(_INSTALLED.findall(inquiry.issue.body)[:MAX_INSTALLED])
    folders = (Claim("affected", version, name, certain=True) for name, version in installed)
    claims = [claim for claim in (*inquiry.claims.versions, *folders) if inquiry.issue.holds(claim.text)]
    if not claims:
        return []
    by_claim = ((claim, product_of(claim.name, claim.text, code.releases, code.names)) for claim in claims)
    found = (
        (claim, made, made.exactly(version))
        for claim, made in by_claim
        if made and (version := parse_version(claim.text))
    )
    return [(NamedRelease(release, claim.text, made), claim) for claim, made, release in found if release]


def releases_of(code: Code) -> Releases:
    """Return the project's releases that were made before the commit that is read, oldest version first."""
    return project_releases(code.releases, code.names)


def since_release(repository: Repository, change: str, made: Releases) -> str:
    """Return the end of a sentence about a change: the first final release that has it, or that none has."""
    release = first_with(repository, change, made)
    return say(", released in {version}", version=str(release.version)) if release else say(", in no final release yet")


def is_released(witness: Witness, fact: Fact, where: str) -> bool:
    """Return whether such an end of a sentence is true of a fact's change, for any product."""
    return any(where == since_release(witness.repository, fact.change or "", made) for made in made_before(witness))


def fitting_release(inquiry: FinderInput, path: str, line: int, fits: Callable[[str], object]) -> Release | None:
    """Return the last release whose line of a file fits, or None."""
    made = sorted(releases_of(inquiry.code).all, key=lambda release: -release.made)[:MAX_RELEASES]
    repository = inquiry.code.repository
    return next((change for change in made if fits(repository.lines(change.commit, path, line, line) or "")), None)


def last_to_change(
    repository: Repository, line: str, start: str | None, end: str, path: str, *limits: str
) -> str | None:
    """Return the last commit up to an end, or after a start, that changed how often a line occurs in a path."""
    words = (_SPECIAL.sub(r"\\\g<0>", word) for word in line.split())
    pattern = f"^[[:space:]]*{'[[:space:]]+'.join(words)}[[:space:]]*$"
    after = [f"^{start}"] if start else []
    found = changes(repository, "--max-count=1", "--pickaxe-regex", f"-S{pattern}", *limits, end, *after, "--", path)
    return found[0] if found else None


def changes(repository: Repository, *arguments: str) -> list[str]:
    """Return the commits that git lists, without merges."""
    command = ("--literal-pathspecs", "log", "-s", "--format=%H", "--no-merges", *_PLAIN)
    return (repository.cached_output(*command, *arguments) or b"").decode().split()
