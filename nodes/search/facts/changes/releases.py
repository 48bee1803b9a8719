"""``older_release``: the release that a report names, if later ones exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.facts.types import Fact
from nodes.search.history.log import Log
from nodes.search.history.naming import releases
from nodes.search.history.project import own_names, plain
from nodes.search.history.versions import parse_version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness
    from nodes.search.git import Repository
    from nodes.search.history.claims import Claim
    from nodes.search.history.versions import Release, Releases

_PLAIN = ("--no-textconv", "--no-ext-diff", "--no-show-signature")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the release that the report names, if later ones were made before the commit that is read."""
    if named := named_release(inquiry):
        release, words = named
        if says := _later(release, releases(inquiry.log)):
            yield Fact("older_release", says, words, sha=release.commit)


def _later(release: Release, made: Releases) -> str | None:
    """Return how many final releases follow a release, and which is the last; None if no release follows."""
    later = [one for one in made.all if one.version > release.version and not one.version.is_prerelease]
    if not later:
        return None
    many = f"{len(later)} later releases exist" if len(later) > 1 else "a later release exists"
    return f"The report names {release.version}; {many}, up to {later[-1].version}."


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that a tag of the version is at the release's commit, and that the later releases exist."""
    version, made = parse_version(fact.words or ""), releases(Log(witness.repository, witness.sha))
    release = made.exactly(version) if version is not None else None
    if release is None or release.commit != fact.sha:
        return "no tag of this version is at the commit"
    return None if _later(release, made) == fact.says else "the later releases are others"


def named_release(inquiry: FinderInput) -> tuple[Release, str] | None:
    """Return the newest release that the report says it is about, and the version as the report writes it.

    Versions of other products, and versions that the report says work, are left out.
    """
    claims = inquiry.claims
    code = inquiry.code
    wanted = [claim for claim in claims.versions if claim.part != "good" and inquiry.issue.holds(claim.text)]
    if not wanted:
        return None
    own = own_names(code.repository, dict(zip(code.index.paths, code.index.blobs, strict=True)))
    made = releases(inquiry.log)
    found = [
        (release, claim.text)
        for claim in wanted
        if _is_of(claim, own) and (version := parse_version(claim.text)) and (release := made.exactly(version))
        # ``exactly`` also finds the first release with a prefix; the report then names no single release.
        if release.version == version
    ]
    return max(found, key=lambda pair: pair[0].version, default=None)


def _is_of(claim: Claim, own: frozenset[str]) -> bool:
    """Return whether a version must be the project's: it has the project's name, or no name and three numbers."""
    return plain(claim.name) in own if claim.name else claim.text.count(".") > 1


def last_to_change(repository: Repository, text: str, start: str, end: str, path: str | None = None) -> str | None:
    """Return the last commit between two others that changed how often a text occurs, in a path or anywhere."""
    where = (path,) if path is not None else ()
    command = ("log", "-s", "--format=%H", "--max-count=1", "--no-merges", f"-S{text}", *_PLAIN, end, f"^{start}")
    found = (repository.cached_output("--literal-pathspecs", *command, "--", *where) or b"").decode().split()
    return found[0] if found else None
