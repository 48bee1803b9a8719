"""Convert what an issue says about when it broke to a range of commits, or to the reason why there is none."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from packaging.version import Version

from nodes.search.history.claims import OTHERS, Claim, Claims
from nodes.search.history.contrast import WORKED, Role
from nodes.search.history.log import Log
from nodes.search.history.names import plain
from nodes.search.history.types import NoRange, Range
from nodes.search.history.versions import (
    DATED,
    Release,
    Releases,
    having,
    is_called,
    parse_version,
    product_of,
    project_releases,
    read_releases,
)
from nodes.search.sentences import say

FIRST_YEAR, MONTHS = 1_900, 12
LONG_AGO = 2 * 365 * 86_400
"""Seconds since the last release after which the clone is assumed to lack tags."""
DAY = 86_400
NOTICED_WITHIN = 30
"""Days that a fault may have existed before the day from which the issue reports it."""


def of_versions(
    own_claims: Sequence[Claim], log: Log, series: Mapping[str, Releases], own: frozenset[str]
) -> Range | NoRange:
    """Return the commits between the last version that worked and the first one that failed."""
    now = log.committed_at
    releases = _stated_releases(own_claims, series, own)
    if isinstance(releases, NoRange):
        return releases
    good, bad = good_and_bad(own_claims)
    # Two contradictory statements give no range, because either may be wrong.
    if good is not None and bad is not None and good >= bad:
        return NoRange("contradictory", f"the issue says both that {good} works and that {bad} does not")
    older = {version for claim in own_claims if claim.part == "affected" and (version := parse_version(claim.text))}
    if good is None and bad is not None and min(older, default=bad) < bad:
        return NoRange("contradictory", f"the issue says that it broke in {bad}, and names an older version as well")
    # If the bad version has no tag, the next release contains its changes.
    upper = None if bad is None else releases.exactly(bad) or releases.after(bad)
    if good is not None and bad is None and _is_last(own_claims, good):
        upper = releases.after(good)
    if bad is not None and upper is None and not _is_to_come(bad, releases, now):
        missing = f"no tag made before this commit is {bad}, and it is not the upcoming release"
        return NoRange("no_such_release", missing)
    if good is None and bad is not None:
        lower = releases.before(bad, upper.made if upper else now)
    else:
        lower = releases.exactly(good) if good is not None else _before_doubtful(own_claims, releases, now)
    if lower is None:
        missing = f"no release before {bad or 'it'} is known here"
        return NoRange("no_such_release", f"no tag made before this commit is {good}" if good else missing)
    return _between(lower, upper, log)


def good_and_bad(claims: Iterable[Claim]) -> tuple[Version | None, Version | None]:
    """Return the last version that worked, and the first later one that failed; the same one if it did both."""
    claims = list(claims)
    by_kind: dict[str, list[Version]] = {"good": [], "bad": [], "until": [], "affected": []}
    for claim in claims:
        version = parse_version(claim.text)
        if version is not None:
            by_kind["good" if claim.part in WORKED else claim.part].append(version)
    for good in sorted(by_kind["good"], reverse=True):
        later = [version for version in by_kind["bad"] or by_kind["affected"] if version > good]
        if later:
            return good, min(later)
    good_, bad = max(by_kind["good"], default=None), min(by_kind["bad"], default=None)
    # "1.10 gives the wrong result … two elements are correct in 1.10": one case works there, so it bounds nothing.
    if bad is None and good_ in by_kind["affected"] and not _is_last(claims, good_):
        return good_, good_
    return good_, bad


def _is_last(claims: Iterable[Claim], good: Version) -> bool:
    return any(claim.part == "last" and parse_version(claim.text) == good for claim in claims)


def is_next(last: Version, version: Version) -> bool:
    """Return whether a version can directly follow the last tagged one."""
    places = max(len(last.release), len(version.release))
    pairs = zip(*(v.release + (0,) * (places - len(v.release)) for v in (last, version)), strict=True)
    step = next(((place, new - old) for place, (old, new) in enumerate(pairs) if new != old), (0, 0))
    # Date-based version numbers may skip months.
    return step[1] in (0, 1) or (last.release[0] > FIRST_YEAR and step[0] > 0 and 0 < step[1] <= MONTHS)


def affected(named: Sequence[Claim], log: Log, series: Mapping[str, Releases], own: frozenset[str]) -> NoRange:
    """Return a NoRange with the affected version's commit, or without a commit if the version is unknown."""
    versions = {parse_version(claim.text) for claim in named}
    # A list of several packages, or of several versions of one, does not say which of them fails.
    clear = len({plain(claim.name) for claim in named}) == 1 and len(versions) == 1
    version = versions.pop() if clear else None
    releases = _releases(named, series, own)
    release = releases.exactly(version) if releases and version is not None else None
    end = log.merge_base(release.commit) if release else None
    if end is None:
        return NoRange("no_version", "no sentence was found that says in which version or since when it broke")
    reason = f"it happens with {version}, but no sentence was found that says which version worked"
    return NoRange("no_version", reason, end)


def find_range(claims: Claims, log: Log, own: frozenset[str]) -> Range | NoRange:
    """Return the commits before ``now`` among which it broke; ``own`` has the project's names (``plain``)."""
    series = read_releases(log.repository, log.committed_at) if claims.versions or claims.days or claims.last else {}
    # A number after another word has no role, such as the 2.5 of "takes 2.5 seconds", nor has one of other software.
    others = {claim.text for claim in claims.versions if not is_own(claim, own)}
    own_claims = [
        claim
        for claim in claims.versions
        if (claim.name or claim.text not in others)
        and (is_own(claim, own) or _is_tagged(claim, series, own))
        and not (claim.part == "affected" and claim.name and plain(claim.name) not in own)
    ]
    if claims.last:
        own_claims += _last_release(claims.last, own_claims, series, own)
    # Versions before days: a release is exact, and a day in an issue is often only the day on which somebody noticed
    # the fault.
    if any(claim.part != "affected" for claim in own_claims):
        return of_versions(own_claims, log, series, own)
    if days := [claim for claim in claims.days if claim.part != "affected"]:
        dated = [replace(claim, text=claim.text.replace("-", ".")) for claim in days]
        versions = [parse_version(claim.text) for claim in dated]
        by_days = [releases for name, releases in series.items() if name.startswith(DATED)]
        by_tags = any(all(version and releases.exactly(version) for version in versions) for releases in by_days)
        return of_versions(dated, log, series, own) if by_tags else _of_days(days, log)
    other_names = sorted({claim.name for claim in claims.versions if claim.part != "affected"})
    if other_names:
        explanation = f"the versions it names are of {' and '.join(other_names[:3])}, not of this project"
        return NoRange("another_project", explanation[:200])
    return affected([claim for claim in own_claims if plain(claim.name) in own], log, series, own)


def is_own(claim: Claim, own: frozenset[str]) -> bool:
    """Return whether a version belongs to this project: it has the project's name, or no name."""
    if not claim.name or plain(claim.name) in own:
        return True
    return not claim.certain and claim.name.lower() not in OTHERS


def first_second(day: str) -> int:
    """Return when a day or a month begins, in seconds since 1970."""
    moment = datetime.strptime(day, "%Y-%m-%d" if len(day) > 7 else "%Y-%m").replace(tzinfo=UTC)
    return max(0, int(moment.timestamp()))


def last_second(day: str) -> int:
    """Return when a day ends, or the latest time at which a month ends, in seconds since 1970."""
    return first_second(day) + (DAY if len(day) > 7 else 31 * DAY) - 1


def _is_tagged(claim: Claim, series: Mapping[str, Releases], own: frozenset[str]) -> bool:
    """Return whether a tag of the repository has a version with the name before it: ``@scope/core@1.2.1``."""
    found = product_of(claim.name, claim.text, series, own) if claim.name else None
    return found is not None and is_called(found, claim.name)


def _stated_releases(
    own_claims: Sequence[Claim], series: Mapping[str, Releases], own: frozenset[str]
) -> Releases | NoRange:
    """Return the releases of the product that the versions belong to, or the reason why that is unclear."""
    releases = _releases(own_claims, series, own)
    if releases is None:
        unclear = "several products of this repository have this version, and it names none of them"
        return NoRange("no_such_release", unclear)
    if not releases.all:
        return NoRange("no_tags", "this clone has no tags that name releases, so versions name no commits")
    # "For 3.8+" without a name is often a version of the language, in a project that is far beyond it.
    versions = ((claim, parse_version(claim.text)) for claim in own_claims)
    major = releases.all[-1].version.major
    if not any(
        claim.name or claim.text.count(".") > 1 or (version is not None and abs(version.major - major) <= 1)
        for claim, version in versions
    ):
        return NoRange("another_project", "the version that it gives may be of another product")
    return releases


def _is_to_come(version: Version, releases: Releases, now: int) -> bool:
    """Return whether a version without a tag is the next release; if the last tag is old, the clone just lacks tags."""
    last = releases.all[-1]
    return is_next(last.version, version) and now - max(release.made for release in releases.all) < LONG_AGO


def _before_doubtful(own_claims: Iterable[Claim], releases: Releases, now: int) -> Release | None:
    """Return the release before the one in a claim such as "worked until 2.3", which may or may not include 2.3."""
    doubtful = [parse_version(claim.text) for claim in own_claims if claim.part == "until"]
    version = min(filter(None, doubtful), default=None)
    return releases.before(version, now) if version is not None and releases.exactly(version) else None


def _between(lower: Release, upper: Release | None, log: Log) -> Range | NoRange:
    words = _words(str(lower.version), str(upper.version) if upper else None)
    start, end = log.merge_base(lower.commit), log.merge_base(upper.commit) if upper else log.commit
    if start is None or end is None:
        why = f"the history of this clone does not reach {words}"
        return NoRange("shallow" if log.shallow else "no_such_release", why)
    if start != end:
        return Range(start, end, words, "versions")
    # Both releases come from one release branch with backported changes; use the main line's commits of the same days.
    start, end = log.before(lower.made), log.before(upper.made) if upper else log.commit
    if start is None or end is None or start == end:
        return NoRange("empty_range", f"no commit of this history lies between the two, {words}")
    return Range(start, end, say("{range}, by the days of these releases", range=words), "dates")


def _words(first: str, last: str | None) -> str:
    """Return a range of releases or days in words; without an end, it is the commit that is read."""
    return f"{first} → {last}" if last else say("{first} → the commit read", first=first)


def _releases(own_claims: Iterable[Claim], series: Mapping[str, Releases], own: frozenset[str]) -> Releases | None:
    """Return the releases of the product that the issue names, else those of the project; None if it is unclear."""
    claims = sorted(own_claims, key=lambda claim: not claim.name)
    if found := next((made for stated in claims if (made := product_of(stated.name, stated.text, series, own))), None):
        return found
    # Several products may have a version, at different commits.
    shared = any(len(set(having(claim.text, series, own).values())) > 1 for claim in claims)
    return None if shared else project_releases(series, own)


def _last_release(
    role: Role, own_claims: Iterable[Claim], series: Mapping[str, Releases], own: frozenset[str]
) -> Iterator[Claim]:
    """Yield the claim about the last release: a bad one is the given version, a good one is before it."""
    if any(claim.part in (*WORKED, "bad") for claim in own_claims):
        return
    versions = [version for claim in own_claims if (version := parse_version(claim.text))]
    final = [release.version for release in project_releases(series, own).all if not release.version.is_prerelease]
    if role == "bad" and len(set(versions)) == 1:
        yield Claim("bad", str(versions[0]))
    elif earlier := [version for version in final if role == "bad" or not versions or version < min(versions)]:
        yield Claim(role, str(earlier[-1]))


def _of_days(days: Sequence[Claim], log: Log) -> Range | NoRange:
    now = log.committed_at
    days = [claim for claim in days if first_second(claim.text) <= now + NOTICED_WITHIN * DAY]
    if not days:
        return NoRange("empty_range", "the dates it gives are after the commit that was searched")
    good = max((min(first_second(claim.text), now) for claim in days if claim.part == "good"), default=None)
    bad = min((min(last_second(claim.text), now) for claim in days if claim.part != "good"), default=None)
    if good is not None and bad is not None and good >= bad:
        return NoRange("contradictory", "the dates it gives contradict each other")
    first = min(first_second(claim.text) for claim in days)
    started = good if good is not None else max(0, min(first, now) - NOTICED_WITHIN * DAY)
    start, end = log.before(started), log.before(bad) if bad else log.commit
    words = _words(_day(started), _day(bad) if bad else None)
    if end is None or (start is None and log.shallow):
        return NoRange("shallow" if log.shallow else "empty_range", f"the history of this clone does not reach {words}")
    if start == end:
        return NoRange("empty_range", f"no commit of this history has those dates, {words}")
    return Range(start, end, words, "dates")


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
