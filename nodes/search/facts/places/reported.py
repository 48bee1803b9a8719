"""The message that a tool prints for a line of the code, and the code that it prints with it."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from nodes.search.facts.inquiry import IssueParts
from nodes.search.facts.output.frame_lines import LEAST_TEXT, same_start
from nodes.search.facts.places.moved import ENOUGH
from nodes.search.issue.located import Located, find_located
from nodes.search.lazy import lazy
from nodes.search.tokens import normalise_space

MAX_MESSAGE = 400
"""Maximum number of characters of a line in which a message is looked for."""
MAX_SHOWN = 8
"""Number of lines below a place in which a tool may print its code or its message."""
FAR = 60
"""Number of lines by which a line has usually moved at most between two versions."""
_WORD = r"(?:fatal |syntax |internal )?(?:error|warning|note|deprecated|notice|info)\b"
_BEHIND = lazy(rf"(?::\d{{1,5}})?(?:\s{{1,12}}\d{{1,6}}:\d{{1,6}})?\W{{1,6}}({_WORD}[^\n”]{{8,300}})", re.IGNORECASE)
"""A message after a place, perhaps on the next line, there after a number and its column."""
_BEHIND_COLUMN = lazy(r",? ?[Cc]ol(?:umn)?:? ?\d{1,5}\): ([^\n”]{8,300})")
_AHEAD = lazy(r".{0,400}\b(?:[Ee]rror|[Ww]arning): ([^\n”]{8,200}?)[\s({\[]{1,4}(?:file:? ?)?$")
"""A message in front of a place in brackets, on its line."""
_CODE_ONLY = lazy(r"(?::\d{1,5})?\W{1,6}((?:error|warning):?(?:\s?\[[^\]\n]{1,60}\],?){0,3})\s{0,9}$", re.IGNORECASE)
"""A message's kind and code, whose text is on the next line, as Haskell prints it."""
_HEADED = lazy(r"\s{0,12}(?:-->|[└╰├╭┌]─|Origin: )")
_BOXED = lazy(r"\s{0,12}(?:\d{1,6}\s{1,3})?[│|]")
_ABOVE = lazy(
    r"[^\w\n]{0,6}(?:(?<=\[)(?:error|warning)\]: (?=.{8})|(?=(?:error|warning)(?:\[[\w:-]{1,40}\])?: .{8}))"
    r"([^\n”]{8,300})",
    re.IGNORECASE,
)
"""A message above the place that an arrow or a drawing leads to; Ansible has the word ``Origin`` instead."""
_BELOW = lazy(r"\s{0,12}((?:(?:Fatal )?[Ee]rror|Warning)(?: [\w\[\]() -]{1,60})?: [^\n”]{8,300})")
_ANNOUNCED = lazy(r"\b(?:Error|Warning)\b.{0,40} at $")
"""What CMake prints before a place whose message is on the next line."""
_PLAIN = lazy(r"(?::\d{1,5}){0,2}: ([^\s/\\\d][^\n”]{8,300})")
"""A message without a word for its kind, as the compiler of Go prints it."""
_ALONE = lazy(r"[\s(*`-]{0,9}(?:in|at|on|file)?[\s:*`]{0,4}[\s).*`]{0,6}")
"""What may be around a place that has its line for itself."""
_CLOCK = lazy(r"\d\d[:.]\d\d[:.]\d\d")
"""The times, in any language, that Home Assistant prints between the place of a message and the message."""
_PRINTED_AS = r"\s{{0,12}}[>➜→]?\s{{0,12}}{}\s{{0,4}}[|│:]?\s(?:>>> )?(.*\S)"
"""How tools print a line of code: after its number, and perhaps a bar and the mark of a build."""
_BESIDE = lazy(r"(?::\d{1,5})?[`)\]*]{0,4}\s?(?:[\u2013\u2014:-]|->|→)\s?`([^`\n]{8,200})`")
"""The code that a reporter writes after a place."""
_POINTER = lazy(r"[\s|│]{0,200}[~^][~^\s|│]{0,200}")
"""The line below a line of code that marks a part of it."""


def message(lines: Sequence[str], at: int, place: Located) -> str:
    """Return what a tool says about a place: after it, above it, or below it; else an empty text."""
    line, below = lines[at], lines[at + 1][:MAX_MESSAGE].strip(" |") if at + 1 < len(lines) else ""
    if coded := _CODE_ONLY.match(line, place.end):
        return f"{coded[1].strip()} {below.lstrip('• ')}"
    given = _BEHIND.match(f"{line}\n{below}", place.end) or _BEHIND_COLUMN.match(line, place.end)
    if given := given or _AHEAD.match(line[: place.start]):
        return given[1].strip()
    if _HEADED.match(line):
        boxed = list(takewhile(_BOXED.match, reversed(lines[max(0, at - MAX_SHOWN) : at])))  # the code in between
        above = (_ABOVE.match(text[:MAX_MESSAGE]) for text in lines[max(0, at - 3 - len(boxed)) : at])
        return next((found[1].strip() for found in above if found), "")
    is_announced = _ANNOUNCED.search(line, 0, place.start) and line.endswith(":")
    announced = below if is_announced else _of_card(lines, at)
    found = next(filter(None, map(_BELOW.match, (text[:MAX_MESSAGE] for text in _following(lines, at)))), None)
    # Below the backtrace of R is what its program says of all errors.
    is_of_all = any(text.lstrip().startswith("Error in ") for text in lines[max(0, at - MAX_SHOWN) : at])
    if announced := announced or (found[1].strip() if found and not is_of_all else ""):
        return announced
    title, near = lines[0], lines[at - 1].strip(" .:*`") if at > 1 else ""
    if len(near) >= ENOUGH and near in title and _ALONE.fullmatch(line[: place.start] + line[place.end :]):
        return near
    plain = _PLAIN.match(line, place.end) if not line[: place.start].strip(" ./") else None
    return plain[1].strip() if plain else ""


def _of_card(lines: Sequence[str], at: int) -> str:
    """Return the message of a card of Home Assistant, which is below the times of its place."""
    is_card = at > 0 and lines[at - 1].lstrip().startswith("Logger:")
    last = min(at + MAX_SHOWN, len(lines) - 1) if is_card else at
    timed = [below for below in range(at + 1, last) if _CLOCK.search(lines[below])]
    return lines[timed[-1] + 1].strip()[:MAX_MESSAGE] if timed else ""


def printed(lines: Sequence[str], at: int, place: Located) -> str:
    """Return the code given for a place: beside it, below after its number, or above a line that marks a part of it."""
    # A table of findings has a message after the number.
    below = list(_following(lines, at)) if not lines[at].lstrip().startswith("Line ") else []
    numbered = re.compile(_PRINTED_AS.format(place.line))
    beside = _BESIDE.match(lines[at], place.end)
    found = beside or next(filter(None, map(numbered.match, (text[:MAX_MESSAGE] for text in below))), None)
    text = found[1] if found else below[0] if len(below) > 1 and _POINTER.fullmatch(below[1]) else ""
    return normalise_space(text) if sum(map(str.isalnum, text)) >= ENOUGH else ""


def holding(lines: Sequence[str], code: str, near: int) -> int | None:
    """Return the line with the code, perhaps shortened, that a tool prints, if no other near a number has it."""
    # Reporters stress a part of the code.
    every = ((number, normalise_space(text).replace("*", "")) for number, text in enumerate(lines, 1))
    code = code.replace("*", "")
    same = [number for number, text in every if same_start(text, code) or (len(code) >= LEAST_TEXT and code in text)]
    close = [number for number in same if abs(number - near) <= FAR]
    return near if near in same else next((found[0] for found in (same, close) if len(found) == 1), None)


def _following(lines: Sequence[str], at: int) -> Iterator[str]:
    """Return the next lines, up to one that names another place."""
    return takewhile(lambda text: next(find_located(text), None) is None, lines[at + 1 : at + 1 + MAX_SHOWN])


def of_trace(issue: IssueParts, place: Located) -> str:
    """Return the error of the trace whose innermost frame is a place; empty if there is none."""
    name = place.path.rpartition("/")[2]
    inner = ((trace, trace.frames[0]) for trace in issue.traces if trace.frames)
    same = (trace for trace, frame in inner if (frame.path.rpartition("/")[2], frame.line) == (name, place.line))
    return next((f"{trace.error or ''}: {trace.message or ''}" for trace in same), "")
