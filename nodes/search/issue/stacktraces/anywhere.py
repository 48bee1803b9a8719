"""Parse traces of any language or tool: consecutive lines that each give a path with a line, and at most a function.

This reader comes after those of single languages, because it knows neither their headings nor their order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from pathlib import Path

from nodes.search.issue.located import find_located
from nodes.search.issue.normal.evidence import is_fence
from nodes.search.issue.stacktraces.runs import Found, Heading, Line, build_trace, error_line, same_place, scan
from nodes.search.lazy import lazy
from nodes.search.tokens import STOPWORDS, load_sections
from nodes.search.types import Frame, StackTrace

_LOOKBACK, _FAR = 6, 12
"""Maximum number of lines from a heading to the first frame, and from one of Dart, which names a widget in between."""
_REACH = 60
_MAX_HEADING = 500
"""Characters of a line that may be a heading."""
_GAP = 6
"""Maximum number of lines of source and notes between two frames."""
_FORMS = load_sections(Path(__file__).with_name("anywhere.txt"))
_LEAD, _TAIL, _CREATED, _LINK, _NAME, _CALL, _ADDRESS, _UNPLACED = (
    lazy("".join(_FORMS[name])) for name in "lead tail created link name call address unplaced".split()
)
_MESSAGE, _BOXED, _COMPILED, _MESSAGE_AFTER, _THROWN, _LABEL, _CALL_STACK, _CMDLET, _JULIA = (
    lazy("".join(_FORMS[name]))
    for name in "message boxed compiled message_after thrown label call_stack cmdlet julia".split()
)
_NAMED_ERRORS = tuple(map(lazy, _FORMS["named errors"]))
_CAPTION = lazy(
    r"stack ?trace|trace ?back|back ?trace|call ?stack|\bstack\b.{0,20}:$|goroutine|panic|recovered", re.IGNORECASE
)
_TITLE = lazy(r"#{2,6} \w")
"""The title of a part of a report."""
_RECENT_LAST = lazy(r"most recent call last", re.IGNORECASE)
_CALLEES = (".R", ".r", ".pl", ".pm", ".t")


@dataclass(frozen=True, slots=True)
class _Found:
    """A line that gives a place and nothing that contradicts a frame."""

    frame: Frame
    is_named: bool
    """Whether it gives a function."""
    is_certain: bool
    """Whether its form is one of traces only: a path, then a function or an address."""
    callee: str | None = None
    """The function that is called at the place, if the line names that one and not the function around the place."""


def find(lines: Sequence[Line], taken: Sequence[StackTrace]) -> list[StackTrace]:
    """Find runs of places outside the traces that are known."""

    def read(index: int, floor: int) -> Found | None:
        if _is_taken(lines[index], taken):
            return None, index + 1
        if _frame(lines, index) is None:
            return None
        stop, found = _run(lines, index, taken)
        return _trace(lines, index, stop, found, floor=floor), stop

    return scan(lines, read)


def _is_taken(line: Line, taken: Sequence[StackTrace]) -> bool:
    return any(trace.start <= line.start < trace.end for trace in taken)


def _run(lines: Sequence[Line], first: int, taken: Sequence[StackTrace]) -> tuple[int, list[_Found]]:
    """Return the index after the last frame, and the frames."""
    found: list[_Found] = []
    index = stop = first
    while index < len(lines) and index - stop <= _GAP and not _is_taken(lines[index], taken):
        if frame := _frame(lines, index):
            found.append(frame)
            stop = index + 1
        # Between two frames there may be source, a caret, or a note in brackets.
        elif is_fence(lines[index].bare) or not (
            lines[index].indent > lines[stop - 1].indent or lines[index].bare.startswith(("^", "[", "<", "...", "~"))
        ):
            break
        index += 1
    return stop, found


def _frame(lines: Sequence[Line], index: int) -> _Found | None:
    bare = lines[index].bare
    place = next(find_located(bare), None)
    tail = _TAIL.match(bare, place.end) if place else None
    if place is None or tail is None:
        return None
    written = bare[: place.start]
    # Flutter names where the widget was created that failed.
    if _CREATED.match(bare):
        return None
    ahead, behind = _ahead(written), tail["name"] or ""
    # Two words around a path are prose, unless the second one is marked as a function.
    if (ahead and not _NAME.match(ahead)) or (ahead and behind and not (tail["mark"] or _CALL.search(behind))):
        return None
    # Bundlers: the module that imports the one with the error, ``@ ./src/x.js 2:0-18 5:2-7``.
    if written == "@ " and bare.startswith(f"{place.path} ", bare.find(place.path)):
        return None
    # The output of a search: a colon, then the line's own text.
    if bare.startswith(":", place.end) and behind and not tail["mark"]:
        return None
    # ``Location: path`` and ``on path`` name no function.
    if ahead.casefold() in STOPWORDS or written.endswith(f"{ahead}: "):
        ahead = ""
    # V writes the names of the C code that it compiles to: ``by main__row``.
    behind = behind.rpartition("__")[2] if tail["mark"] == "by" else behind
    # Julia prints the function on the line above the place.
    julia = _JULIA.match(lines[index - 1].bare) if index and bare.startswith("@") else None
    name = behind or (julia[1] if julia else ahead)
    is_certain = bool(
        tail["mark"] or _ADDRESS.search(bare, place.end) or bare[0] == "$" or _CALL.search(name) or ")" in written
    )
    # Perl, Haskell and R name the function that is called there, not the one around the place.
    is_callee = "called at" in written or place.path.endswith(_CALLEES)
    frame = Frame(place.path, place.line, None if is_callee else _plain(name))
    is_certain = is_certain or written.endswith(("(", "@ ")) or bare[0] in "❯@"  # noqa: RUF001
    return _Found(frame, bool(name), is_certain, _plain(name) if "called at" in written else None)


def _ahead(text: str) -> str:
    """Return the text before a path, without numbers, marks and arguments; a name if the line is a frame."""
    lead = _LEAD.match(text)
    text = text[lead.end() :] if lead else text
    link = _LINK.search(text, max(0, len(text) - _REACH))
    text = text[: link.start()] if link else text
    name, opened, rest = text.partition("(")
    return name.strip() if opened and rest.endswith(")") else text.strip()


def _plain(name: str) -> str | None:
    """Return a function's name without its arguments; None for Lua's ``main chunk`` and ``<file:line>``."""
    bare = name.partition("(")[0].strip(" ,:`'\"")
    return None if bare in ("", "main chunk", "top-level scope") or ("/" in bare and ":" in bare) else bare


def _trace(lines: Sequence[Line], first: int, stop: int, found: list[_Found], *, floor: int) -> StackTrace | None:
    top, heading, caption = _heading_above(lines, first, floor)
    # PowerShell prints one place: ``At path:1 char:2`` below the message, or ``path:1:2`` above a drawing of the line.
    is_script = lines[first].bare.startswith("At ") and " char:" in lines[first].bare
    if stop < len(lines) and lines[stop].bare == "Line |":
        drawing = list(takewhile(lambda line: "|" in line.bare, lines[stop : stop + _GAP]))
        heading = Heading(lines[first].bare.partition(":")[0], drawing[-1].bare.lstrip("| "))
        is_script, stop = True, stop + len(drawing)
    if stop < len(lines) and (below := _NAMED_ERRORS[-1].match(lines[stop].bare[:_MAX_HEADING])):
        heading, caption, stop = Heading(below["error"], below["message"]), "most recent call last", stop + 1
    certain, named = sum(item.is_certain for item in found), any(item.is_named for item in found)
    # A list of places is not a trace; a place and its function below a caption are one.
    if not (
        is_script
        or (len(found) > 1 and 2 * certain >= len(found))
        or (caption and (certain or named or len(found) > 1))
    ):
        return None
    # The function around a place is the one that is called at the next outer place.
    frames = [
        Frame(item.frame.path, item.frame.line, item.frame.function or (outer.callee if outer else None))
        for item, outer in zip_longest(found, found[1:])
    ]
    # The console of a browser prints after each message the line that logs it.
    if len({(frame.path, frame.line) for frame in frames}) == 1 < len({frame.function for frame in frames}):
        return None
    # Lua prints no line of a function in C, or of one that has no debugging information.
    if inner := _UNPLACED.match(lines[first - 1].bare[:_MAX_HEADING]) if first else None:
        frames = [Frame(inner["path"], None, inner["name"]), *frames]
    # Perl and Lua print the innermost place with the message.
    elif heading.frame and not same_place(heading.frame, frames[0]):
        frames = [heading.frame, *frames]
    is_recent_last = bool(_RECENT_LAST.search(caption))
    language = frames[0].path.rpartition(".")[2].lower()
    return build_trace(language, heading, frames, lines[top:stop], is_recent_last=is_recent_last)


def _heading_above(lines: Sequence[Line], first: int, floor: int) -> tuple[int, Heading, str]:
    """Return where the trace begins, its error, and the line that announces a trace, or an empty text."""
    caption, top = "", first
    for index in range(first - 1, max(floor, first - _FAR) - 1, -1):
        bare = lines[index].bare
        if index < first - _LOOKBACK and not any(form.match(bare[:_MAX_HEADING]) for form in (_THROWN, _BOXED)):
            continue
        if is_fence(bare):
            break
        if not caption and _CAPTION.search(bare[:200]):
            caption, top = bare[:200], index
        # An error of another part of the report is no heading of this list.
        if _TITLE.match(bare) and not caption:
            break
        if thrown := _THROWN.match(bare[:_MAX_HEADING]):
            message = lines[index + 1].bare if index + 1 < first else None
            return index, Heading(thrown[1], message), caption or bare[:200]
        if heading := next(_errors(bare), None):
            return index, heading, caption or bare[:200]
        if "HasCallStack" in caption and index < top and (stated := _CALL_STACK.match(bare[:_MAX_HEADING])):
            return index, Heading(None, stated[1]), caption
    return top, Heading(None), caption


def _errors(bare: str) -> Iterator[Heading]:
    if named := next(filter(None, (form.match(bare[:_MAX_HEADING]) for form in _NAMED_ERRORS)), None):
        yield Heading(named["error"], (named.groupdict().get("message") or "").strip() or None)
    if heading := error_line(_LABEL.sub("", bare[:_MAX_HEADING])):
        yield heading
    if command := _CMDLET.match(bare[:_MAX_HEADING]):
        yield Heading(None, command[1])
    place = next(find_located(bare), None)
    compiled = _COMPILED.match(bare[:_MAX_HEADING], place.end) if place and not bare[: place.start] else None
    if place and compiled:  # Zig prints what refers to the line below its error
        yield Heading(None, compiled[1], Frame(place.path, place.line))
    if message := _MESSAGE.match(bare[:_MAX_HEADING]):
        yield Heading("panic" if "panic" in message["error"].lower() else None, message["message"].strip() or None)
    if place and _MESSAGE_AFTER.match(
        bare, place.end
    ):  # Lua: ``program: file:line: message``; outer calls add their own
        place = [inner for inner in find_located(bare) if _MESSAGE_AFTER.match(bare, inner.end)][-1]
        yield Heading(None, bare[place.end + 2 :].strip() or None, Frame(place.path, place.line))
    elif place and place.path.endswith(_CALLEES) and " at " in bare[: place.start]:  # Perl: ``message at file line 1.``
        yield Heading(None, bare[: place.start].rpartition(" at ")[0], Frame(place.path, place.line))
