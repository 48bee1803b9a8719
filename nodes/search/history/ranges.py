"""Convert what an issue says about when it broke to a range of commits, or to the reason why there is no range."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nodes.search.history.cues import OTHERS
from nodes.search.history.project import plain
from nodes.search.history.types import HERE, NoRange, Range
from nodes.search.history.version_range import affected, of_versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nodes.search.history.claims import Claim, Claims
    from nodes.search.history.log import Log

DAY = 86_400
NOTICED = 30
"""Days that a fault may have existed before the day from which the issue reports it."""


def find_range(claims: Claims, log: Log, own: frozenset[str], now: int) -> Range | NoRange:
    """Return the commits among which the issue says it broke.

    Args:
        claims: what the issue says.
        log: the history to read; tags made after its commit are ignored.
        own: the project's names, normalised by ``plain``.
        now: the time of the commit, in seconds since 1970.
    """
    mine = [claim for claim in claims.versions if is_own(claim, own) and not _is_any_number(claim, own)]
    if any(claim.part != "affected" for claim in mine):
        return of_versions(mine, log, own, now)
    days = [claim for claim in claims.days if claim.part != "affected"]
    if days:
        return _of_days(days, log, now)
    others = sorted({claim.name for claim in claims.versions if claim.part != "affected"})
    if others:
        explanation = f"the versions it names are of {' and '.join(others[:3])}, not of this project"
        return NoRange("another_project", explanation[:200])
    named = [claim for claim in mine if plain(claim.name) in own]
    return affected(named, log, own, now)


def is_own(claim: Claim, own: frozenset[str]) -> bool:
    """Return whether a version belongs to this project: it has the project's name, or no name."""
    if not claim.name or plain(claim.name) in own:
        return True
    return not claim.certain and claim.name.lower() not in OTHERS


def _is_any_number(claim: Claim, own: frozenset[str]) -> bool:
    """Return whether a number follows some word and has no role, such as the 2.5 of "takes 2.5 seconds"."""
    return claim.part == "affected" and bool(claim.name) and plain(claim.name) not in own


def _of_days(days: Sequence[Claim], log: Log, now: int) -> Range | NoRange:
    days = [claim for claim in days if first_second(claim.text) <= now + NOTICED * DAY]
    if not days:
        return NoRange("empty_range", "the dates it gives are after the commit that was searched")
    good = max((min(first_second(claim.text), now) for claim in days if claim.part == "good"), default=None)
    bad = min((min(last_second(claim.text), now) for claim in days if claim.part != "good"), default=None)
    if good is not None and bad is not None and good >= bad:
        return NoRange("contradictory", "the dates it gives contradict each other")
    first = min(first_second(claim.text) for claim in days)
    began = good if good is not None else max(0, min(first, now) - NOTICED * DAY)
    start, end = log.before(began), log.before(bad) if bad else log.commit
    words = f"{_day(began)} → {_day(bad) if bad else HERE}"
    if end is None or (start is None and log.shallow):
        return NoRange("shallow" if log.shallow else "empty_range", f"the history of this clone does not reach {words}")
    if start == end:
        return NoRange("empty_range", f"no commit of this history has those dates, {words}")
    return Range(start, end, words, "dates")


def first_second(day: str) -> int:
    """Return when a day or a month begins, in seconds since 1970."""
    moment = datetime.strptime(day, "%Y-%m-%d" if len(day) > 7 else "%Y-%m").replace(tzinfo=UTC)
    return max(0, int(moment.timestamp()))


def last_second(day: str) -> int:
    """Return when a day ends, or the latest time at which a month ends, in seconds since 1970."""
    return first_second(day) + (DAY if len(day) > 7 else 31 * DAY) - 1


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
