"""Parse Swift traces: fatal errors, Swift's own backtraces and Apple's crash reports."""

import re

from nodes.search.issue.stacktraces.runs import Dialect, Heading
from nodes.search.types import Frame

_FATAL = re.compile(
    r"(?:(?:Swift/)?([^\s:]{1,300}\.swift):(\d{1,9}): )?(Fatal error|Precondition failed|Assertion failed)(?:: (.*))?$"
)
_OLD_PLACE = re.compile(r":? file ([^,\"]{1,300}\.swift), line (\d{1,9})$")
_CRASH = re.compile(r"Exception Type: {1,8}(.*)")
_BACKTRACE = re.compile(
    r"\d{1,4} (?:\[[\w,]{1,20}\] ){0,2}0x[0-9a-f]{1,16} (.{1,600}) in \S{1,120} at "
    r"(\S{1,400}\.\w{1,6}):(\d{1,9})(?::\d{1,9})?$"
)
_REPORT = re.compile(
    r"\d{1,4} {1,40}(\S{1,120}) {1,80}\t{0,4}0x[0-9a-f]{1,16} (.{1,600}?)(?: \+ \d{1,12})?"
    r"(?: \(([^():]{1,200}\.\w{1,6}):(\d{1,9})\))?$"
)
# Swift draws the source between frames; frames of system libraries have an address and no location.
_FILLER = re.compile(r"[│├╭╰…]|\d.*(?:│|0x)")
_UNSYMBOLICATED = re.compile(r"0x[0-9a-f]{1,16}$")


def _frame(bare: str) -> Frame | None:
    if not bare[0].isdigit() or "0x" not in bare:
        return None
    if match := _BACKTRACE.match(bare):
        return Frame(match[2], int(match[3]), _name(match[1]))
    report = _REPORT.match(bare)
    # Crash reports without symbols give addresses instead of functions.
    if not report or _UNSYMBOLICATED.match(report[2]):
        return None
    return Frame(report[3] or "", int(report[4]) if report[4] else None, _name(report[2]), report[1])


def _name(written: str) -> str:
    return written.partition(" + ")[0].partition("(")[0].strip() or written


def _heading(bare: str) -> Heading | None:
    if match := _FATAL.match(bare):
        return _fatal(match)
    match = _CRASH.match(bare)
    return Heading(match[1].strip() or None) if match else None


def _fatal(match: re.Match[str]) -> Heading:
    message = match[4] or ""
    if match[1]:
        return Heading(match[3], message or None, Frame(match[1], int(match[2])))
    # Before Swift 5.4 the location followed the message.
    old = _OLD_PLACE.search(message, max(0, len(message) - 400))
    if not old:
        return Heading(match[3], message or None)
    return Heading(match[3], message[: old.start()] or None, Frame(old[1], int(old[2])))


def _alone(bare: str) -> Heading | None:
    match = _FATAL.match(bare) if ".swift" in bare else None
    heading = _fatal(match) if match else None
    return heading if heading and heading.frame else None


DIALECT = Dialect("swift", _frame, _heading, filler=_FILLER, alone=_alone)
