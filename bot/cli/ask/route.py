"""Classify a question about a repository by rules, and read the time span that it names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Literal

from nodes.search.issue.stacktraces import find_traces

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
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_IN = re.compile(
    rf"\b(?P<word>in|during|since)\s{{1,3}}(?:(?P<month>{'|'.join(_MONTHS)})[a-z]{{0,6}}\s{{1,3}})?(?P<year>(?:19|20)\d\d)\b(?!-)",
    re.IGNORECASE,
)

_starts: dict[str, Callable[[date], date]] = {
    "week": lambda today: today - timedelta(days=today.weekday()),
    "month": lambda today: today.replace(day=1),
    "year": lambda today: today.replace(month=1, day=1),
}
Kind = Literal["trace", "owner", "changes", "where", "general"]
_OWNER = re.compile(
    r"\bwho\b.{0,40}\b(?:owns?|knows?|maintains?|wrote|responsible|reviews?|ask)\b|\b(?:owners?|maintainers?)\b.{0,20}\bof\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:what|when|who|why)\b.{0,40}\b(?:changed?|changes|broke|introduced|touched|added|removed)\b"
    r"|\b(?:recent|last|latest)\s{1,3}(?:changes?|commits?)\b|\bhistory\s{1,3}of\b",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\b(?:where|which\s{1,3}(?:file|function|class|module)s?)\b|\b(?:find|locate|show)\b"
    r"|\b(?:defined|definition|usages?|callers?|uses|calls)\b",
    re.IGNORECASE,
)
_USES = re.compile(r"\b(?:uses?|used|usages?|callers?|calls?|called|references?)\b", re.IGNORECASE)
_CALLS = re.compile(r"\b(?:callers?|calls?|called)\b", re.IGNORECASE)
_PLAIN_NAME = re.compile(
    r"\b(?:who|what)\s{1,3}(?:calls|uses)\s{1,3}(?:the\s{1,3})?(?P<used>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:callers?|calls?|uses?|usages?|definitions?|history)\s{1,3}(?:of|to)\s{1,3}(?:the\s{1,3})?(?P<of>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:function|class|method|struct|trait|interface|constant|variable|setting|macro)\s{1,3}(?P<kind>[A-Za-z_]\w{1,80})\b"
    r"|\b(?:is|are|does|do|was|where's)\s{1,3}(?:the\s{1,3})?(?P<state>[A-Za-z_]\w{0,80})\s{1,3}"
    r"(?:defined|declared|implemented|called|used|read|set|changed|added|come)\b"
    r"|\bwhere(?:\s{1,3}(?:is|are)|'s)\s{1,3}(?P<alone>[A-Za-z_]\w{1,80})\s{0,3}\??$"
    r"|\bchanged\s{1,3}in\s{1,3}(?P<changed>[A-Za-z_]\w{1,80})\b",
    re.IGNORECASE,
)
"""A position in which a question names a symbol without marking it; the name counts only if the commit defines it."""
_TOPIC = re.compile(
    r"\b(?:chang(?:ed?|es)|commits?|touched|happened)\s{1,3}(?:in|to|of|on|with|at)\s{1,3}"
    r"(?!(?:this|the)\s{1,3}(?:repo\w*|project|code)\b)(?:the\s{1,3})?(?P<topic>`[^`]{1,120}`|[^?,!]{2,200})",
    re.IGNORECASE,
)
_PRONOUNS = frozenset(["it", "its", "this", "that", "these", "those", "there", "the", "our", "your", "which", "what"])
_NAME = re.compile(
    r"`([^`\n]{1,120})`|\b([A-Za-z_]\w*(?:(?:\.|::)\w+)+|[A-Za-z]*_\w+|[a-z]+[A-Z]\w*|[A-Za-z_]\w*(?=\(\)))"
)
MAX_NAMES = 3
MAX_LENGTH = 20_000
"""Maximum characters of a question that are read; a trace may be long."""
# In order of precedence: the first match wins.
_PATTERNS: tuple[tuple[re.Pattern[str], Kind], ...] = ((_OWNER, "owner"), (_CHANGES, "changes"), (_WHERE, "where"))


@dataclass(frozen=True, slots=True)
class Since:
    """A period of time, until now unless it has an end."""

    words: str
    """The period as the question states it."""
    day: Callable[[date], date]
    """The first day, given today."""
    end: date | None = None
    """The first day after the period; None if it ends now."""

    def seconds(self, today: date) -> int:
        """Return the start of the first day, local time, in seconds since 1970."""
        return _start(self.day(today))

    def until(self) -> int | None:
        """Return the end of the last day, local time, in seconds since 1970; None if the period ends now."""
        return _start(self.end) if self.end else None


def _start(day: date) -> int:
    return int(datetime.combine(day, time()).timestamp())


def read_since(text: str) -> Since | None:
    """Return the period of time in a question, or None."""
    if found := _SINCE.search(text):
        return _since(found)
    if found := _IN.search(text):
        return _calendar(found)
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


def _since(found: re.Match[str]) -> Since | None:
    try:
        day = date.fromisoformat(found["day"])
    except ValueError:
        return None
    return Since(found[0], lambda _today: day)


def _calendar(found: re.Match[str]) -> Since:
    """Return the year or the month that was named; with "since", without its end."""
    year, month = int(found["year"]), found["month"]
    number = _MONTHS.index(month.lower()) + 1 if month else 1
    first = date(year, number, 1)
    after = date(year, number + 1, 1) if month and number < 12 else date(year + 1, 1, 1)
    return Since(found[0], lambda _today: first, None if found["word"].lower() == "since" else after)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its classification."""

    text: str
    kind: Kind
    names: tuple[str, ...] = ()
    """Names of symbols as spelled in code, at most three."""
    uses: bool = False
    """Whether the question asks for uses instead of definitions."""
    calls: bool = False
    """Whether it asks for calls only."""
    plain: tuple[str, ...] = ()
    """Plain words in the position of a symbol; ordinary words if the commit does not define them."""
    since: Since | None = None
    """The period of time that it asks about."""
    topic: str = ""
    """The subject of a question about changes, in its own words; empty if it asks about everything."""


def understand(text: str) -> Question:
    """Classify a question. A stack trace in it takes precedence over its words."""
    text = text[:MAX_LENGTH]
    named = ((found[1] or found[2]).removesuffix("()") for found in _NAME.finditer(text))
    names = tuple(dict.fromkeys(named))[:MAX_NAMES]
    uses, calls = _USES.search(text) is not None, _CALLS.search(text) is not None
    since = read_since(text)
    plain = tuple(_plain_names(text, names))
    return Question(text, _kind(text), names, uses, calls, plain, since, _topic(text, since))


def _topic(text: str, since: Since | None) -> str:
    line = " ".join(text.replace(since.words if since else "", " ").split())[:2_000]
    found = _TOPIC.search(line)
    return found["topic"].strip(" `") if found else ""


def _plain_names(text: str, known: tuple[str, ...]) -> Iterator[str]:
    line = " ".join(text.split())[:2_000]
    for found in islice(_PLAIN_NAME.finditer(line), MAX_NAMES):
        name = next(filter(None, found.groups()))
        if name.lower() not in _PRONOUNS and name not in known:
            yield name


def _kind(text: str) -> Kind:
    if find_traces(text):
        return "trace"
    line = " ".join(text.split())[:2_000]
    for pattern, kind in _PATTERNS:
        if pattern.search(line):
            return kind
    return "general"
