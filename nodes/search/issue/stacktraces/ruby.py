"""Parse traces of Ruby, Rails and RSpec, with the quotes of Ruby 3.4 and of earlier versions."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, Heading, Line, error_line, find_runs
from nodes.search.types import Frame, StackTrace

_FRAME = re.compile(
    r"(?:# )?(?:(\d{1,5}): )?(?:from )?((?:[A-Za-z]:)?[^:\"]{1,400}):(\d{1,9}):in ['`]([^'`]{0,200})'(?:: (.*))?$"
)
_SPEC = re.compile(r"# (\.{0,2}/[^:\"]{1,400}\.r(?:b|ake)):(\d{1,9})$")
# The colons are required: a name that can be split in many ways takes exponential time to fail.
_CLASS = r"([A-Z]\w{0,100}(?:::[A-Z]\w{0,100}){0,7})"
_RAISED = re.compile(rf"(.*?) ?\({_CLASS}\):?$")
_RAILS = re.compile(rf"{_CLASS} \((.{{0,1900}}?)\)(?::?$|: {{1,4}}\d)")
_NAMED = re.compile(rf"{_CLASS}:(?:\s+(.*))?$")
_CARETS = re.compile(r"\^[\^~ ]{0,200}$")
_OMITTED = re.compile(r"\.\.\. ?\d{1,6} levels?\.\.\.|\t?\.\.\.")


def find(lines: Sequence[Line]) -> list[StackTrace]:
    """Find Ruby traces."""
    plain = [line for at, line in enumerate(lines) if not _is_pointing(lines, at)]
    return [_completed(part, plain) for trace in find_runs(plain, _DIALECT) for part in _links(trace, plain)]


def _links(trace: StackTrace, lines: Sequence[Line]) -> Iterator[StackTrace]:
    """Split a chain: each error's first line names it and is followed by callers."""
    inside = [line for line in lines if trace.start <= line.start < trace.end and _frame(line.bare)]
    heads = [at for at, line in enumerate(inside) if (match := _match(line.bare)) and match[5]]
    if len(heads) < 2 or heads[0] or len(trace.frames) != len(inside):
        yield trace
        return
    for at, stop in zip(heads, (*heads[1:], len(inside)), strict=True):
        start = inside[at].start if at else trace.start
        yield replace(trace, frames=trace.frames[at:stop], start=start, end=inside[stop - 1].end)


def _is_pointing(lines: Sequence[Line], at: int) -> bool:
    """Return whether a line is code that Ruby shows inside a trace, the carets below it, or a suggestion."""
    if _CARETS.match(lines[at].bare) or lines[at].bare.startswith("Did you mean?"):
        return True
    is_above = at + 1 < len(lines) and _CARETS.match(lines[at + 1].bare) is not None
    return is_above and _match(lines[at].bare) is None


def _match(bare: str) -> re.Match[str] | None:
    return _FRAME.match(bare) if ":in " in bare else None


def _frame(bare: str) -> Frame | None:
    if match := _match(bare):
        return Frame(_path(match[2]), int(match[3]), match[4] or None)
    spec = _SPEC.match(bare) if bare.startswith("# ") else None
    return Frame(_path(spec[1]), int(spec[2])) if spec else None


def _path(written: str) -> str:
    return forward(written).removeprefix("./")


def _heading(bare: str) -> Heading | None:
    rails = _RAILS.match(bare)
    if rails:
        return Heading(rails[1], rails[2])
    raised = _RAISED.match(bare)
    if raised and ("::" in raised[2] or error_line(raised[2])):
        return Heading(raised[2], raised[1])
    named = _NAMED.match(bare)
    if named and ("::" in named[1] or error_line(bare)):
        return Heading(named[1], named[2])
    return None


def _completed(trace: StackTrace, lines: Sequence[Line]) -> StackTrace:
    """Add the error that the first line names, and reverse the frames if the most recent call came last."""
    inside = [match for line in lines if trace.start <= line.start < trace.end and (match := _match(line.bare))]
    # Ruby 2.5 to 2.7 print the most recent call last on a terminal, with falling numbers in front.
    if len(inside) > 1 and inside[0][1] and int(inside[0][1]) > int(inside[1][1] or 0):
        trace = replace(trace, frames=trace.frames[::-1])
    text = next((match[5] for match in inside if match[5]), None)
    if text is None:
        return trace
    raised = _RAISED.match(text)
    error, message = (raised[2], raised[1]) if raised else (trace.error, text)
    return replace(trace, error=error, message=message or None)


_DIALECT = Dialect("ruby", frame=_frame, heading=_heading, filler=_OMITTED)
