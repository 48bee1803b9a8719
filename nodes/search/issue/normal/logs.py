"""Lines of a log, with what the log wrote before each of them and how serious it called them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nodes.search.issue.normal.mapped import rows
from nodes.search.issue.normal.report import normalise

_LONGEST = 400
_LONGEST_PREFIX = 1_200
_LEVELS = (
    re.compile(
        r"\b(?:FATAL|CRITICAL|CRIT|ALERT|EMERG|PANIC|SEVERE|ERROR|ERR|ERRO|EROR|FTL)\b|[ (\[/]?\b[EF](?:[/ ]|$)"
    ),
    re.compile(r"\b(?:WARNING|WARN|WRN)\b|[ (\[/]?\bW(?:[/ ]|$)"),
    re.compile(r"\b(?:TRACE|VERBOSE|DEBUG|DBG|INFORMATION|INFO|INF|NOTICE)\b|[ (\[/]?\b[DIV](?:[/ ]|$)"),
)
_FIELD = re.compile(
    r"\b(?:level|lvl|severity|levelname|log\.level|loglevel)[\"']?\s{0,3}[=:]\s{0,3}[\"']?(\w{1,12})", re.IGNORECASE
)
_MANY = 8
"""Lines of a log in which the level decides."""
_TIME = re.compile(r"\d\d:\d\d")
UNKNOWN = 2
"""The rank of a line without a level: after errors and warnings, before what only informs."""


class LogLine(NamedTuple):
    """A line that a log wrote."""

    text: str
    """Without the prefix."""
    prefix: str
    """As the reporter wrote it."""
    rank: int
    """0 for an error, 1 for a warning, 2 if unknown, 3 for what only informs."""
    end: int
    """Its offset in the given text."""


def log_lines(given: str) -> Iterator[LogLine]:
    """Yield the lines of a text that have the time or the level of a log, without it."""
    report = normalise(given)
    for row in rows(report.text):
        if not row.text.strip():
            continue
        start, end = report.span(row.start, row.end)
        prefix = given[given.rfind("\n", 0, start) + 1 : start][-_LONGEST_PREFIX:]
        rank = rank_of(prefix[:_LONGEST], row.text)
        if rank is not None:
            yield LogLine(row.text.strip(), prefix, rank, end)


def without_lower_levels(given: str) -> str:
    """Empty the lines of a long log that are less serious than its most serious ones."""
    is_long = sum(1 for _ in zip(range(_MANY), _TIME.finditer(given), strict=False)) == _MANY
    lines = list(log_lines(given)) if is_long else []
    top = min((line.rank for line in lines), default=UNKNOWN)
    parts, at = list[str](), 0
    for line in lines if top < UNKNOWN else ():
        start = given.rfind("\n", 0, line.end) + 1
        if line.rank > top and start >= at:
            parts.append(given[at:start])
            at = line.end
    return "".join((*parts, given[at:]))


def rank_of(prefix: str, text: str) -> int | None:
    """Return how serious a line is; None if it is no line of a log."""
    field = _FIELD.search(text[:_LONGEST]) or _FIELD.search(prefix)
    written = field[1].upper() if field else prefix.upper()
    for rank, pattern in enumerate(_LEVELS):
        if pattern.search(written):
            return rank + (rank == UNKNOWN)
    return UNKNOWN if field or _TIME.search(prefix) else None
