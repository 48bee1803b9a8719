"""Read the stretch of time that a question asks about: "last week", "in the last 3 days", "since 2026-01-31"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_RECENT = re.compile(
    r"\b(?:(?:in|over|within|during)\s{1,3})?(?:the\s{1,3})?(?:last|past|previous)\s{1,3}"
    r"(?:(?P<count>\d{1,4}|two|three|four|five|six|seven|ten)\s{1,3})?(?P<unit>day|week|month|year)s?\b",
    re.IGNORECASE,
)
_THIS = re.compile(r"\bthis\s{1,3}(?P<unit>week|month|year)\b", re.IGNORECASE)
_NEAR = re.compile(r"\b(?P<word>today|yesterday)\b", re.IGNORECASE)
_SINCE = re.compile(r"\b(?:since|after)\s{1,3}(?P<day>\d{4}-\d\d-\d\d)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Since:
    """The first day of a stretch of time that ends now."""

    words: str
    """As the question says it."""
    day: Callable[[date], date]
    """The first day, given today."""

    def seconds(self, today: date) -> int:
        """Return the start of the first day, local time, in seconds since 1970."""
        return int(datetime.combine(self.day(today), time()).timestamp())


def read_since(text: str) -> Since | None:
    """Return the stretch of time in a question, or None."""
    if found := _SINCE.search(text):
        try:
            day = date.fromisoformat(found["day"])
        except ValueError:
            return None
        return Since(found[0], lambda _today: day)
    if found := _RECENT.search(text):
        count = found["count"] or "1"
        days = _DAYS[found["unit"].lower()] * (_NUMBERS.get(count.lower()) or int(count))
        return Since(found[0], lambda today: today - timedelta(days=min(days, 365 * 50)))
    if found := _THIS.search(text):
        return Since(found[0], _starts[found["unit"].lower()])
    if found := _NEAR.search(text):
        back = int(found["word"].lower() == "yesterday")
        return Since(found[0], lambda today: today - timedelta(days=back))
    return None


_starts: dict[str, Callable[[date], date]] = {
    "week": lambda today: today - timedelta(days=today.weekday()),
    "month": lambda today: today.replace(day=1),
    "year": lambda today: today.replace(month=1, day=1),
}
