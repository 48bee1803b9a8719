r"""Decodes traces that a log wrote with escapes: ``\n``, ``\t`` and ``\"`` in JSON, in Python and in plain lines."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from nodes.search.issue.normal.evidence import is_frame, is_traced
from nodes.search.issue.normal.mapped import Edit, Row, rows
from nodes.search.lazy import lazy

_ESCAPE = lazy(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)")
_MARK = lazy(r"\\.|[\"']")
_PLAIN = {"n": "\n", "t": "\t", "r": "", "b": "", "f": "", "a": ""}
_DEPTH = 4
"""Escapes within escapes: a log line in a log line in a log line."""
_PREFIX = lazy(r"(?<![A-Za-z])[bBrRuUfF]{1,2}$")
_BETWEEN = lazy(r"[\s,\[\]()+]{0,40}")
_DOUBLED = lazy(r'File ""[^"\n]{1,500}"", line \d')
_KEY = lazy(r'"(?:log|msg|message|MESSAGE|text|line|event)"[ \t]{0,3}:[ \t]{0,3}"')
_ERROR_KEY = lazy(r'"error(Type|Message)"\s{0,9}:\s{0,9}"((?:[^"\\\n]|\\.){0,2000})"')
_STACK = lazy(r'"(?:stackTrace|stack|trace)"\s{0,9}:\s{0,9}\[\s{0,40}(?=["{])')
_STACKED = lazy(
    r'"(?P<printed>(?:[^"\\\n]|\\.){1,2000})"'
    r'|\{\s{0,40}"path":\s?"(?P<path>[^"\n]{1,400})",\s{1,40}"line":\s?(?P<line>\d{1,7}),'
    r'\s{1,40}"label":\s?"(?P<label>[^"\n]{1,200})"\s{0,40}\}'
)
_NEXT_STACKED = lazy(r"\s{0,40},\s{0,40}")
_AROUND_STACK = 3_000
"""Characters before a stack in which the keys of its error are."""
_PYTHON, _JVM, _RUBY = (lazy(r" {0,4}File \\?\""), lazy(r"[^\s:(]{1,300}\([^()]{1,200}\)$"), lazy(r".*:in "))


class _String(NamedTuple):
    """The content of a quoted string, and its range with its quotation marks."""

    start: int
    end: int
    outer_start: int
    outer_end: int


def escapes(text: str) -> list[Edit]:
    """Decode the strings that contain a trace, each on lines of its own."""
    if "\\" not in text and '""' not in text:
        return []
    edits: list[Edit] = []
    marked = ((row, _record(row)) for row in rows(text))
    for is_record, run in groupby(marked, key=lambda pair: pair[1] is not None):
        if is_record:
            edits += _of_records(text, [(row, record) for row, record in run if record])
            continue
        for row, _ in run:
            if "\\n" in row.text:
                edits += _of_strings(text, row)
            elif _DOUBLED.search(row.text):
                edits += (Edit(row.start + at.start(), row.start + at.end(), '"') for at in re.finditer('""', row.text))
    return edits


def stacks(text: str) -> list[Edit]:
    """Write the error of AWS Lambda, a JSON object with the frames in a list, as the runtime of its language does."""
    edits: list[Edit] = []
    floor = 0
    for stack in _STACK.finditer(text) if '"errorType"' in text else ():
        end, frames = stack.end(), list[re.Match[str]]()
        while frame := _STACKED.match(text, end):
            frames.append(frame)
            more = _NEXT_STACKED.match(text, frame.end())
            end = more.end() if more else frame.end()
        around = text.rfind("{", max(floor, stack.start() - _AROUND_STACK), stack.start()), text.find("}", end)
        keys = {found[1]: _decoded(found[2]) for found in _ERROR_KEY.finditer(text, max(floor, around[0]), around[1])}
        if frames and stack.start() >= floor and around[0] >= 0 and around[1] > 0 and "Type" in keys:
            # The runtime of Ruby names the class as ``Function<ArgumentError>``.
            error = keys["Type"].removeprefix("Function<").removesuffix(">")
            edits += _unfolded(frames, around, f"{error}: {keys.get('Message', '')}".rstrip(": "))
            floor = around[1] + 1
    return edits


def _unfolded(frames: Sequence[re.Match[str]], around: tuple[int, int], error: str) -> Iterator[Edit]:
    """Yield the edits that make a JSON object a trace; the frames stay where they are."""
    first = frames[0]["printed"] or ""
    is_python = bool(_PYTHON.match(first))
    before = (
        "\nTraceback (most recent call last):\n" if is_python else "\n" if first.startswith(error) else f"\n{error}\n"
    )
    margin = "    at " if _JVM.match(first) else "    from " if _RUBY.match(first) else ""
    at = around[0]
    for frame in frames:
        if frame["path"]:
            yield Edit(at, frame.end(), f"{before}{frame['label']}(...)\n\t{frame['path']}:{frame['line']}")
        else:
            yield Edit(at, frame.start("printed"), before + margin)
            printed = _without_end(frame["printed"])
            stop = frame.start("printed") + len(printed)
            yield from _unescaped(frame.string, frame.start("printed"), stop)
            yield Edit(stop, frame.end())
        at, before = frame.end(), "\n"
    yield Edit(at, around[1] + 1, f"\n{error}\n" if is_python else "\n")


def _record(row: Row) -> _String | None:
    """Return the message of a JSON record that is one line of a log."""
    if not (row.text.startswith('{"') and row.text.rstrip().endswith("}")):
        return None
    key = _KEY.search(row.text)
    found = next((string for string in _strings(row) if key and string.start == row.start + key.end()), None)
    # A record with a whole trace is decoded as any string.
    if found is None or "\\n" in row.text[found.end - row.start :]:
        return None
    content = row.text[found.start - row.start : found.end - row.start]
    return None if "\\n" in _without_end(content) else found


def _of_records(text: str, records: Sequence[tuple[Row, _String]]) -> list[Edit]:
    """Reduce consecutive records to their messages if these are the lines of a trace."""
    messages = [_without_end(text[record.start : record.end]) for _, record in records]
    decoded = [_decoded(message) for message in messages]
    if len(records) < 2 or not any(is_frame(message) for message in decoded):
        return [edit for row, _ in records if "\\n" in row.text for edit in _of_strings(text, row)]
    edits: list[Edit] = []
    for (row, record), message in zip(records, messages, strict=True):
        edits.append(Edit(row.start, record.start))
        edits += _unescaped(text, record.start, record.start + len(message))
        edits.append(Edit(record.start + len(message), row.end))
    return edits


def _of_strings(text: str, row: Row) -> list[Edit]:
    r"""Decode the strings of a line that contain a trace; outside any string, ``\n`` itself must separate its lines."""
    edits: list[Edit] = []
    for group in _groups(text, row):
        if _holds_trace("".join(text[string.start : string.end] for string in group)):
            edge = group[0].outer_start
            for number, element in enumerate(group):
                # What separates the elements of a list of lines is not a line.
                edits.append(Edit(edge, element.start, "" if number else "\n"))
                edits += _unescaped(text, element.start, element.end)
                edge = element.end
            edits.append(Edit(edge, group[-1].outer_end, "\n"))
    if not edits and sum(map(is_traced, _decoded(row.text).split("\n"))) > 1:
        edits += _unescaped(text, row.start, row.end)
    return edits


def _groups(text: str, row: Row) -> list[list[_String]]:
    """Return the strings of a line; those of a list of lines together."""
    groups: list[list[_String]] = []
    for string in _strings(row):
        last = groups[-1][-1] if groups else None
        if (
            last is None
            or not text.endswith("\\n", last.start, last.end)
            or not _BETWEEN.fullmatch(text, last.outer_end, string.outer_start)
        ):
            groups.append([])
        groups[-1].append(string)
    return groups


def _strings(row: Row) -> Iterator[_String]:
    """Yield the quoted strings of a line; one that the line cuts ends with the line."""
    quote, opened = "", 0
    for mark in _MARK.finditer(row.text):
        at = mark.start()
        if quote and mark[0] == quote:
            yield _string(row, opened, at, at + 1)
            quote = ""
        # An apostrophe opens a string, but not inside a word.
        elif not quote and (
            mark[0] == '"'
            or (mark[0] == "'" and (not row.text[:at][-1:].isalpha() or _PREFIX.search(row.text[max(0, at - 3) : at])))
        ):
            quote, opened = mark[0], at
    if quote:
        yield _string(row, opened, len(row.text), len(row.text))


def _string(row: Row, opened: int, end: int, outer_end: int) -> _String:
    prefix = _PREFIX.search(row.text[max(0, opened - 2) : opened])
    outer_start = opened - (len(prefix[0]) if prefix else 0)
    return _String(row.start + opened + 1, row.start + end, row.start + outer_start, row.start + outer_end)


def _holds_trace(content: str) -> bool:
    """Return whether a string is a trace or a part of one, perhaps within further escapes."""
    plain = sum(map(is_traced, content.split("\n")))
    for _ in range(_DEPTH):
        if "\\n" not in content:
            return False
        content = _decoded(content)
        lines = content.split("\n")
        if sum(map(is_traced, lines)) >= plain and any(map(is_frame, lines)):
            return True
    return False


def _without_end(content: str) -> str:
    """Return a string without the line end that a container's log stores with each line."""
    while content.endswith(("\\n", "\\r")):
        content = content[:-2]
    return content


def _decoded(content: str) -> str:
    return _ESCAPE.sub(lambda found: _character(found[0]), content)


def _unescaped(text: str, start: int, end: int) -> Iterator[Edit]:
    return (Edit(item.start(), item.end(), _character(item[0])) for item in _ESCAPE.finditer(text, start, end))


def _character(escape: str) -> str:
    if len(escape) == 2:
        return _PLAIN.get(escape[1], escape[1])
    # Half of a pair is not a character.
    code = int(escape[2:], 16)
    return "" if 0xD800 <= code < 0xE000 else chr(code)
