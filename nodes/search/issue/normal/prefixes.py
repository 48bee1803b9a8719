"""Finds what a log writes before each line: time, host, process, pod, level, thread, logger."""

import re
from collections.abc import Sequence
from itertools import groupby, islice
from pathlib import Path

from nodes.search.issue.normal.evidence import is_traced
from nodes.search.issue.normal.mapped import Edit, Mapped, Row, marked_runs, rows
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections

_MAX_LINE = 400
"""Characters of a line in which its prefix is searched."""
_MAX_TAGS = 8
MAX_SPANS = 1_200
"""Characters of the spans of one line."""
_FORMS = load_sections(Path(__file__).with_name("prefixes.txt"))
_STAMP, _SYSLOG, _TAG, _CONTAINER, _LOGGER, _SPANS, _BRIEF, _STUDIO, _ALONE, _EDGE = (
    lazy("".join(_FORMS[name])) for name in "stamp syslog tag container logger spans brief studio alone edge".split()
)
_FUNCTION, _PLACE, _CLOCK, _DIGITS = (lazy("".join(_FORMS[name])) for name in ("function", "place", "clock", "digits"))
_SOURCE = lazy("".join(_FORMS["source"]), re.MULTILINE)
_MAX_EDGES = 8
_LEAST_ENTRIES = 4
"""Minimum number of lines of a log that shows their order."""
_PRINTED = "==0=="
"""The beginning of the lines of Valgrind without digits, by which its reader recognises them."""
_LEADER = 100
"""The maximum number of characters of a prefix that only its repetition shows."""


def prefixes(text: str) -> list[Edit]:
    """Find what a log writes before each of its lines; frames and headings of traces are not prefixes."""
    lines = [row for row in rows(text) if row.text.strip()]
    ends = [_stamped(row.text) for row in lines]
    named = _loggers(lines, ends)
    lengths = _leaders(lines, ends)
    edits: list[Edit] = []
    for row, end, length in zip(lines, ends, lengths, strict=True):
        stop = 0 if end else length or _alone(row.text)
        if end:
            logger = _LOGGER.match(row.text[: end + _MAX_LINE], end)
            logger = logger if logger and logger[0].strip() in named else None
            found = _SPANS.match(row.text[: end + MAX_SPANS], end) or logger
            stop = found.end() if found else end + row.text.startswith(" ", end)
        edits += [Edit(row.start, row.start + stop)] if stop else []
    return edits


def clocks(text: str) -> list[Edit]:
    """Find the lines between the lines of a trace that have only their times."""
    edits: list[Edit] = []
    for run in marked_runs(text, lambda row: _CLOCK.match(row.text[:_MAX_LINE])):
        start, end = run[0][0].start, min(run[-1][0].end + 1, len(text))
        above, below = text[max(0, start - _MAX_LINE) : start].rstrip("\n"), text[end : end + _MAX_LINE]
        if text[start:end].strip() and is_traced(above.rpartition("\n")[2]) and is_traced(below.partition("\n")[0]):
            edits.append(Edit(start, end))
    return edits


def oldest_first(report: Mapped) -> Mapped:
    """Reverse a log that shows its newest line first."""
    ranges: list[tuple[int, int]] = []
    stamped = ((row, _stamp(row.text)) for row in rows(report.text))
    for is_log, run in groupby(stamped, key=lambda pair: bool(pair[1])):
        lines = list(run)
        times = [time for _, time in lines]
        if is_log and len(times) >= _LEAST_ENTRIES and times[0] > times[-1] and times == sorted(times)[::-1]:
            lines.reverse()
        ranges += ((row.start, min(row.end + 1, len(report.text))) for row, _ in lines)
    return report.reordered(ranges) if ranges != sorted(ranges) else report


def _stamp(line: str) -> str:
    """Return the date and time at the beginning of a line, or after its source."""
    container = _CONTAINER.match(line[:_MAX_LINE]) if "|" in line[:_MAX_LINE] else None
    found = _STAMP.match(line[:_MAX_LINE], container.end() if container else 0)
    return found[0].strip() if found else ""


def sorted_by_source(report: Mapped) -> Mapped:
    """Put the lines of each program together where the log of several was merged, if one of them printed a trace."""
    text = report.text
    # Most texts have no such line, and this runs for each.
    if not _SOURCE.search(text):
        return report
    found = ((row, _SOURCE.match(row.text[:_MAX_LINE]) if row.end < len(text) else None) for row in rows(text))
    ordered: list[Row] = []
    for is_merged, run in groupby(found, key=lambda pair: bool(pair[1])):
        lines = list(run)
        if is_merged and any(is_traced(row.text[source.end() :]) for row, source in lines if source):
            first = {source[1]: row.start for row, source in reversed(lines) if source}
            lines.sort(key=lambda pair: first[pair[1][1]] if pair[1] else 0)
        ordered += (row for row, _ in lines)
    ranges = [(row.start, min(row.end + 1, len(text))) for row in ordered]
    return report.reordered(ranges) if ranges != sorted(ranges) else report


def _stamped(line: str) -> int:
    """Return the end of the prefix of a line with a time, without the space after it; 0 if it has none."""
    head = line[:_MAX_LINE]
    if brief := _BRIEF.match(head):
        return len(brief[0].rstrip(" "))
    container = _CONTAINER.match(head) if "|" in head else None
    stamp = _STAMP.match(head, container.end() if container else 0)
    return _after_stamp(head, stamp.end()) if stamp else 0


def _alone(line: str) -> int:
    """Return the length of a prefix without a time that only one line has, before a part of a trace."""
    found = _ALONE.match(line[:_MAX_LINE]) or _CONTAINER.match(line[:_MAX_LINE])
    return found.end() if found and is_traced(line[found.end() :]) and not is_traced(line) else 0


def _after_stamp(head: str, end: int) -> int:
    if found := _STUDIO.match(head, end):
        return len(head[: found.end()].rstrip(" "))
    # A level and an error look like a host and its process.
    if (found := _SYSLOG.match(head, end)) and not is_traced(head[end:].lstrip().partition(" ")[2]):
        end = found.end()
    for _ in range(_MAX_TAGS):
        tag = _TAG.match(head, end)
        if not tag or is_traced(head[end:]):
            break
        end = tag.end()
    return end


def _loggers(lines: Sequence[Row], ends: Sequence[int]) -> frozenset[str]:
    """Return the names of loggers, with their sign, that precede a line of a trace somewhere."""
    stamped = ((row.text, end) for row, end in zip(lines, ends, strict=True) if end)
    found = ((text, end, _LOGGER.match(text[: end + _MAX_LINE], end)) for text, end in stamped)
    return frozenset(
        logger[0].strip()
        for text, end, logger in found
        if logger and is_traced(text[logger.end() :]) and not is_traced(text[end:])
    )


def _leaders(lines: Sequence[Row], ends: Sequence[int]) -> list[int]:
    """Return the lengths of prefixes without a time: the same words before consecutive lines, then a trace."""
    lengths = [0] * len(lines)
    index = 0
    # A line with a time ends such a run.
    plain = ["" if end else _DIGITS.sub("0", row.text[:_LEADER]) for row, end in zip(lines, ends, strict=True)]
    tried: dict[str, int] = {}
    while index < len(lines):
        run, length = _leader(lines, plain, index, tried) if plain[index] else (1, 0)
        for at in range(index, index + run if length else index):
            lengths[at] = _cut(lines[at].text, length)
        index += run or 1
    return lengths


def _leader(lines: Sequence[Row], plain: Sequence[str], index: int, tried: dict[str, int]) -> tuple[int, int]:
    """Return how many lines from one on have the same prefix, and the number of its characters without digits.

    ``plain`` are the beginnings of the lines without digits; ``tried`` has for each prefix without a trace the first
    line that it was not tried on.
    """
    if is_traced(lines[index].text) or plain[index].startswith(_PRINTED):
        return 0, 0
    for edge in islice(_EDGE.finditer(plain[index]), _MAX_EDGES):
        end = edge.end()
        run, lead = index, plain[index][:end]
        # The indentation that frames share is not a log's prefix.
        if not lead.strip() or tried.get(lead, 0) > index:
            continue
        while run < len(lines) and (plain[run].startswith(lead) or plain[run] == lead.rstrip()):
            run += 1
        rest = [row.text[_cut(row.text, end) :] for row in lines[index:run]]
        is_name = bool(_FUNCTION.match(lead))
        if run > index + 1 and sum(is_traced(text) and not _is_cut(text, is_name=is_name) for text in rest) > 1:
            return run - index, end
        tried[lead] = run
    return 0, 0


def _is_cut(rest: str, *, is_name: bool) -> bool:
    """Return whether the rest of a line lacks its beginning: the function, or the bracket that it closes."""
    return rest.count(")") > rest.count("(") or (is_name and bool(_PLACE.match(rest)))


def _cut(line: str, length: int) -> int:
    """Return the offset in a line of an offset in its text without digits."""
    at = gone = 0
    for digits in _DIGITS.finditer(line[:_LEADER]):
        if digits.start() - gone >= length:
            break
        gone += len(digits[0]) - 1
        at = digits.end()
    return min(max(at, length + gone), len(line))
