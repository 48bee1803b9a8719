"""The text of a frame in its trace: the line that names it, and the source below it."""

import re

from nodes.search.facts.inquiry import IssueParts
from nodes.search.tokens import normalise_space
from nodes.search.types import Frame, StackTrace

_FILE = re.compile(r"File [\"“”]")
_SHORT = re.compile(r":\d{1,7}: (?:in \S|\w{0,60}Warning: )")
"""A frame in the short form of pytest, or of a warning; like the interpreter, they print the source line below."""
MAX_BELOW = 600
"""Maximum number of characters after a trace in which the code of its innermost frame is shown."""
MAX_WORDS = 300
"""Maximum number of characters of a line of a trace that are words of a fact."""
MAX_SHOWN = 6
"""Maximum number of lines of code that a notebook shows of a frame up to the line that it marks."""
_PARTS = re.compile(r"[.:#/$<>(){}*\[\] ]+")
_NO_NAME = re.compile(r"closure|func\d+|lambda|anonymous|module|(?:cl)?init|genexpr|listcomp|dictcomp|\d+|impl|as|top")
_UNNAMED = re.compile(r"<main>|<top \(required\)>|.*#\W{1,3}")
"""What Ruby prints in place of a function for the code of a file, and an operator, which is built in."""


def last_part(function: str | None) -> str | None:
    """Return the unqualified name of a function in the notation of any language, or None if it has no name."""
    function = "" if _UNNAMED.fullmatch(function or "") else function
    parts = [part for part in _PARTS.split(function or "") if part and not _NO_NAME.fullmatch(part.strip("_"))]
    return parts[-1] if parts else None


def frame_text(issue: IssueParts, trace: StackTrace, frame: Frame) -> str | None:
    """Return the source line that the trace prints for a frame."""
    if frame.line is None:
        return None
    lines = issue.trace_text(trace).split("\n")
    name = frame.path.rpartition("/")[2]
    arrow = re.compile(rf"^[ \t]*(?:-{{1,6}}>|➜)\s{{0,4}}{frame.line}[\s▕](.*)", re.MULTILINE)
    if pointed := arrow.search(issue.body, trace.start, trace.end + MAX_BELOW):
        return _code(pointed[1])
    for at, line in enumerate(lines):
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if trace.language == "matlab" and f"{name.removesuffix('.m')}" in line and f"(line {frame.line})" in line:
            return _code(below)
        if name and name in line and re.search(rf"(?:line |:){frame.line}\b", line):
            above = next((text for text in reversed(lines[max(0, at - 12) : at]) if text.lstrip().startswith(">")), "")
            if trace.language == "python" and (_FILE.search(line) or _SHORT.search(line)):
                # Without the source, the error follows at once.
                return _code(below) if below.partition(":")[0].strip() != trace.error else None
            # Zig prints the line and marks a column of it.
            is_marked = at + 2 < len(lines) and {*lines[at + 2].strip()} == {"^"}
            if above or is_marked:
                return _code(below if is_marked else above.lstrip().removeprefix(">"))
    return None


def _code(line: str) -> str | None:
    text = normalise_space(line.strip().strip("|").strip())
    return text if sum(map(str.isalnum, text)) >= 4 and not _FILE.search(text) else None


def frame_words(trace: str, frame: Frame) -> str | None:
    """Return the line of the trace that names a frame."""
    names = frame.path.rpartition("/")[2], (frame.module or "").rpartition(".")[2], last_part(frame.function)
    name = next((name for name in names if name and name in trace), next(filter(None, names), None))
    lines = trace.split("\n")
    held = [at for at, line in enumerate(lines) if not name or name in line]
    number = re.compile(rf"(?<!\d){frame.line}(?!\d)")
    named = [at for at in held if frame.line is None or number.search(lines[at])]
    # A notebook marks the line by an arrow, in the code below the file; Vim and Erlang print it below the function.
    arrow = re.compile(rf"\s{{0,9}}(?:-{{1,9}}>\s{{0,4}}|line\s{{1,8}}|\s{{0,60}}\{{line,\s?){frame.line}[\s:}}]")
    named = named or [at for at in held if any(map(arrow.match, lines[at + 1 : at + 1 + MAX_SHOWN]))]
    # Frames without a place differ by their function only.
    called = last_part(frame.function) if frame.line is None else None
    named = [at for at in named if called and called in lines[at]] or named
    # A log has the place at the end of a long message as well.
    named.sort(key=lambda at: (name or "") not in lines[at].strip()[:MAX_WORDS])
    return (lines[named[0]].strip().lstrip("> ")[:MAX_WORDS] or None) if named else None
