"""Normalises a report: removes what logs, terminals and trackers add; and ranks the lines of its logs."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from nodes.search.issue.normal.escapes import escapes, stacks
from nodes.search.issue.normal.mapped import Edit, Mapped, rows
from nodes.search.issue.normal.markup import boxes, colours, markup, plain_characters, quotes, wrappers
from nodes.search.issue.normal.objects import objects
from nodes.search.issue.normal.prefixes import clocks, oldest_first, prefixes, sorted_by_source
from nodes.search.issue.normal.wraps import joined, wrapped

MAX_TEXT = 200_000
"""Characters that are normalised; GitHub's longest body has 65,536."""
_MAX_PASSES = 6
"""Layers around a text: an escaped log line inside a log line of a container that somebody quoted."""
_STEPS: tuple[Callable[[str], list[Edit]], ...] = (
    *(plain_characters, colours, markup, quotes, wrappers, boxes),
    *(objects, stacks, escapes, prefixes, clocks, joined, wrapped),
)

_MAX_LINE = 400
_MAX_PREFIX = 1_200
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


# A run reads the same text for traces, facts, versions and fingerprints.
@lru_cache(maxsize=8)
def normalise(text: str) -> Mapped:
    """Return the text as the program printed it, with a map to the given text.

    Each step runs until none changes the text. Text that only might be a prefix or an escape changes only if it reads
    as a trace then.
    """
    report = Mapped(text)
    if len(text) > MAX_TEXT:
        return report
    for _ in range(_MAX_PASSES):
        before = report
        report = sorted_by_source(oldest_first(report))
        for step in _STEPS:
            if edits := step(report.text):
                report = report.edited(edits)
        if report is before:
            break
    return report


def as_written(words: str, given: str) -> str:
    """Return the reporter's characters for words of the normalised text, which differ from them in more than space."""
    report = normalise(given)
    pattern = re.compile(r"\s+".join(map(re.escape, words.split())), re.IGNORECASE)
    found = pattern.search(report.text) if words.split() and not pattern.search(given) else None
    return given[slice(*report.span(*found.span()))] if found else words


def as_printed(words: str, given: str) -> str:
    """Return the normalised form of words that the reporter wrote; the opposite of ``as_written``."""
    report, start = normalise(given), given.find(words)
    plain = report.text[report.position(start) : report.position(start + len(words))] if start >= 0 else ""
    return plain if plain.strip() else words


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
        start, end = report.span(row.start, row.end)
        prefix = given[given.rfind("\n", 0, start) + 1 : start][-_MAX_PREFIX:]
        rank = rank_of(prefix[:_MAX_LINE], row.text) if row.text.strip() else None
        if rank is not None:
            yield LogLine(row.text.strip(), prefix, rank, end)


def without_lower_levels(given: str) -> str:
    """Empty the lines of a long log that are less serious than its most serious ones."""
    is_long = len(list(islice(_TIME.finditer(given), _MANY))) == _MANY
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
    """Return how serious a line is; None if it is not a line of a log."""
    field = _FIELD.search(text[:_MAX_LINE]) or _FIELD.search(prefix)
    written = field[1].upper() if field else prefix.upper()
    for rank, pattern in enumerate(_LEVELS):
        if pattern.search(written):
            return rank + (rank == UNKNOWN)
    return UNKNOWN if field or _TIME.search(prefix) else None
