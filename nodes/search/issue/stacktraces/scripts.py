"""Parse traces of PHP, Symfony and Laravel, of Ruby, Rails and RSpec, and of MATLAB, Octave, Vim and Emacs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.stacktraces.runs import Dialect, Found, Heading, Line, build_trace, error_line, scan
from nodes.search.lazy import lazy
from nodes.search.tokens import load_sections
from nodes.search.types import Frame, StackTrace

_FORMS = load_sections(Path(__file__).with_name("scripts.txt"))
_NUMBERED, _XDEBUG, _CALLED_IN, _MAIN, _AT, _FATAL, _UNCAUGHT, _SYMFONY, _WHERE, _LARAVEL, _LARAVEL_PLACE, _NEXT = (
    lazy("".join(_FORMS[name]))
    for name in "numbered xdebug called_in main at fatal uncaught symfony where laravel laravel_place next".split()
)
_FRAME, _SPEC, _RAISED, _RAILS, _NAMED, _CARETS, _OMITTED, _MATLAB, _MATLAB_CODE = (
    lazy("".join(_FORMS[name])) for name in "frame spec raised rails named carets omitted matlab matlab_code".split()
)
_EMACS, _EMACS_FRAME, _SENTENCE, _VIM, _VIM_LINE, _VIM_ERROR, _VIM_PART = (
    lazy("".join(_FORMS[name])) for name in "emacs emacs_frame sentence vim vim_line vim_error vim_part".split()
)
_MAX_MESSAGE = 1_000
# Lines between an error and its frames.
_MARKER = ("Stack trace:", "[stacktrace]", "Stacktrace:", "Exception trace:")


def _php_frame(bare: str) -> Frame | None:
    if bare.startswith("#") and (match := _NUMBERED.match(bare)):
        path, line = (forward(match[1]), int(match[2])) if match[1] else ("", None)
        return Frame(path, line, *_called(match[3] or ""))
    if "." in bare[:60] and (step := _XDEBUG.match(bare)):
        return Frame(forward(step[2]), int(step[3]) or None, *_called(step[1]))
    at = _AT.match(bare) if bare.startswith("at ") else None
    if not at:
        return None
    module = at[1].removesuffix("->").removesuffix("::") if at[1] else None
    return Frame(forward(at[3]), int(at[4]), at[2], module)


def _called(written: str) -> tuple[str | None, str | None]:
    name = written.partition("(")[0].strip()
    module, _, function = name.rpartition("->" if "->" in name else "::")
    return function or None, module or None


def _php_heading(bare: str) -> Heading | None:
    bare = bare.removeprefix("( ! ) ")
    if match := _UNCAUGHT.match(bare) or _FATAL.match(bare) or _LARAVEL.match(bare) or _NEXT.match(bare):
        return _located(match[1], match[2] or "")
    if bare in _MARKER:
        return None
    heading = error_line(bare.strip("[]")) if "rror" in bare or "xception" in bare else None
    return _located(heading.error, heading.message) if heading and heading.error and heading.message else heading


def _located(error: str, rest: str) -> Heading:
    # A wrong argument comes from the caller; the place of the definition only refuses it.
    where = _CALLED_IN.search(rest[:_MAX_MESSAGE]) or _last(_WHERE, rest) or _last(_LARAVEL_PLACE, rest)
    if not where:
        return Heading(error, rest.strip() or None)
    frame = Frame(forward(where[1]), int(next(group for group in where.groups()[1:] if group)))
    return Heading(error, rest[: where.start()].strip() or None, frame)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match; only the last 400 characters are searched."""
    return next(reversed([*pattern.finditer(text, max(0, len(text) - 400))]), None)


def _shifted(trace: StackTrace) -> StackTrace:
    # The function of a place is the one that the next frame calls.
    holders = [(frame.function, frame.module) for frame in trace.frames[1:]]
    placed = zip(trace.frames, (*holders, (None, None)), strict=True)
    moved = tuple(replace(place, function=function, module=module) for place, (function, module) in placed)
    return replace(trace, frames=moved)


def _alone(bare: str) -> Heading | None:
    bare = bare.removeprefix("( ! ) ")
    if "Uncaught PHP Exception " in bare and (logged := _SYMFONY.match(bare)):
        return _located(logged[1], f"{logged[2]} in {logged[3]}:{logged[4]}")
    if written := _LARAVEL.match(bare) if "(code: " in bare else None:
        heading = _located(written[1], written[2].partition(')"')[0])
        return heading if heading.frame else None
    match = _FATAL.match(bare) if " line " in bare or ".php" in bare or "Uncaught " in bare else None
    if not match:
        return None
    uncaught = _UNCAUGHT.match(bare)
    heading = _located(uncaught[1], uncaught[2] or "") if uncaught else _located(match[1], match[2])
    return heading if heading.frame or uncaught else None


def _finished(trace: StackTrace, inside: Sequence[Line], _: Sequence[Line]) -> StackTrace:
    """Name in each frame the function that contains its place; PHP prints the one that is called there."""
    steps = sum(bool(_XDEBUG.match(line.bare)) for line in inside)
    if steps:
        # Xdebug prints the outermost frame first. The error's place is inside the last function that is called, unless
        # that is one of PHP's own.
        callers = trace.frames[-steps:][::-1]
        inner = trace.frames[:-steps] if callers[0].module or callers[0].function == "{main}" else ()
        trace = replace(trace, frames=(*inner, *callers))
    # In frames such as ``at Class->method() in file`` the function contains the location.
    return _shifted(trace) if steps or any(line.bare.startswith("#") for line in inside) else trace


def find_ruby(lines: Sequence[Line]) -> list[StackTrace]:
    """Find Ruby traces."""
    carets = [_CARETS.match(line.bare) is not None for line in lines]
    # Inside a trace Ruby shows code, the carets below it, and suggestions.
    plain = [
        line
        for line, is_carets, is_above in zip(lines, carets, (*carets[1:], False), strict=False)
        if not (is_carets or line.bare.startswith("Did you mean?") or (is_above and _match(line.bare) is None))
    ]
    return [_completed(part, plain) for trace in _RUBY.find(plain) for part in _links(trace, plain)]


def _links(trace: StackTrace, lines: Sequence[Line]) -> Iterator[StackTrace]:
    """Split a chain: each error's first line names it and is followed by callers."""
    inside = [line for line in lines if trace.start <= line.start < trace.end and _ruby_frame(line.bare)]
    heads = [at for at, line in enumerate(inside) if (match := _match(line.bare)) and match[5]]
    if len(heads) < 2 or heads[0] or len(trace.frames) != len(inside):
        yield trace
        return
    for at, stop in zip(heads, (*heads[1:], len(inside)), strict=True):
        start = inside[at].start if at else trace.start
        yield replace(trace, frames=trace.frames[at:stop], start=start, end=inside[stop - 1].end)


def _match(bare: str) -> re.Match[str] | None:
    return _FRAME.match(bare) if ":in " in bare else None


def _ruby_frame(bare: str) -> Frame | None:
    if match := _match(bare):
        return Frame(_path(match[2]), int(match[3]), match[4] or None)
    spec = _SPEC.match(bare) if bare.startswith("# ") else None
    return Frame(_path(spec[1]), int(spec[2])) if spec else None


def _path(written: str) -> str:
    return forward(written).removeprefix("./")


def _ruby_heading(bare: str) -> Heading | None:
    rails = _RAILS.match(bare)
    if rails:
        return Heading(rails[1], rails[2])
    raised = _RAISED.match(bare)
    if raised and ("::" in raised[2] or error_line(raised[2])):
        return Heading(raised[2], raised[1])
    named = _NAMED.match(bare)
    return Heading(named[1], named[2]) if named and ("::" in named[1] or error_line(bare)) else None


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


_RUBY = Dialect("ruby", frame=_ruby_frame, heading=_ruby_heading, filler=_OMITTED)
PHP = Dialect("php", _php_frame, _php_heading, filler=_MAIN, alone=_alone, finished=_finished)


def _matlab_frame(bare: str) -> Frame | None:
    found = _MATLAB.match(bare) if "line " in bare else None
    if found is None or not (found[5] or bare.startswith("Error ")):
        return None
    # A package is a folder with a plus sign; a method is in the file of its class.
    path = "".join(f"+{part}/" for part in found[1].split(".") if part) + f"{found[2]}.m"
    return Frame(path, int(found[4] or found[5]), found[3] or found[2])


def _matlab_heading(bare: str) -> Heading | None:
    found = None if bare == "error: called from" else _SENTENCE.match(bare)
    return Heading(None, found[1]) if found else None


def find_vim(lines: Sequence[Line]) -> list[StackTrace]:
    """Find the errors of functions of Vim and Neovim, whose lines count from the head of the function."""

    def read(at: int, _: int) -> Found | None:
        head, below = _VIM.match(lines[at].bare), [line.bare for line in lines[at + 1 : at + 3]]
        number, named = (_VIM_LINE.match(below[0]), _VIM_ERROR.match(below[-1])) if head and below else (None, None)
        if head is None or number is None or named is None:
            return None
        parts = [part for caller in head[1].split("..")[::-1] if (part := _VIM_PART.match(caller))]
        frames = [
            _vim_frame(part[1], int(part[2] or 0) if depth else int(number[1])) for depth, part in enumerate(parts)
        ]
        # A function of a script is called in the script alone.
        for at_frame in range(len(frames) - 2, -1, -1):
            frames[at_frame] = replace(frames[at_frame], path=frames[at_frame].path or frames[at_frame + 1].path)
        heading = Heading(named[1], named[2])
        return build_trace("vim", heading, frames, lines[at : at + 3]), at + 3

    return scan(lines, read)


def find_emacs(lines: Sequence[Line]) -> list[StackTrace]:
    """Find the errors of Emacs Lisp, whose debugger prints calls of functions without their files."""

    def read(at: int, _: int) -> Found | None:
        named = _EMACS.match(lines[at].bare)
        below = list(takewhile(lambda line: line.bare and line.text[:1].isspace(), lines[at + 1 :])) if named else []
        calls = (found[1] for line in below if (found := _EMACS_FRAME.match(line.bare)))
        frames, stop = [Frame("", None, call) for call in calls], at + 1 + len(below)
        if named is None or not frames:
            return None
        return build_trace("elisp", Heading(named[1], named[2]), frames, lines[at:stop]), stop

    return scan(lines, read)


def _vim_frame(name: str, line: int) -> Frame:
    if "/" in name or "\\" in name:
        return Frame(forward(name), line or None)
    folders, hash_sign, _ = name.rpartition("#")
    return Frame(f"autoload/{folders.replace('#', '/')}.vim" if hash_sign else "", line or None, name)


MATLAB = Dialect("matlab", _matlab_frame, _matlab_heading, filler=_MATLAB_CODE, lookback=2)
