"""Frames of a stack trace, mapped to the project's own code by file and function."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from nodes.search.facts.code import Code, family, whole_word
from nodes.search.facts.inquiry import Issue
from nodes.search.languages.table import has_grammar, language_of
from nodes.search.paths.project import common_tail, simplified
from nodes.search.paths.project import is_library as is_library_path
from nodes.search.ranking.naming import files_of_frame
from nodes.search.tokens import normalise_space
from nodes.search.types import Frame, StackTrace

MAX_FRAMES = 60
MAX_HEADER = 100
"""Maximum number of lines up to the declaration of a package."""
LONGEST_FUNCTION = 200
"""Maximum number of lines of a function in which the line of a frame is looked for by what it did."""
LEAST_TEXT = 12
"""Minimum length of a frame's text that alone tells a line of its file."""
MAX_HEAD = 8
"""Maximum number of lines of a definition up to its name."""
_DECLARED = re.compile(r"\s{0,8}package\s{1,8}([\w.]{1,200})")
_FILE = re.compile(r"File [\"“”]")
_SHORT = re.compile(r":\d{1,7}: in \S")
"""A frame in the short form of pytest; like the interpreter, it prints the source line below."""
_PARTS = re.compile(r"[.:#/$<>(){}*\[\] ]+")
_CLASSES = re.compile(r"[.+$/]|::")
"""What separates namespaces and classes."""
_NO_NAME = re.compile(r"closure|func\d+|lambda|anonymous|module|init|genexpr|listcomp|dictcomp|\d+|impl|as|top")
_FORWARDS = re.compile(
    r"_?(?:wrapper|wrapped|inner|decorated|decorator|_wrapper|_wrapped|_inner|warn_external|inner_f|new_func)\b"
)
_INTERPRETED = frozenset({"python", "javascript", "ruby", "php"})
"""Languages whose traces give the path of every file, also outside the project."""
_WITH_RUNTIME_FRAMES = frozenset({"go", "rust", "c"})
"""Languages whose traces begin with frames of the runtime that reports the error."""
_WHOLE_PATH = re.compile(r"/|~|[A-Za-z]:/|(?:file|https?)://|[^/<>]{1,200}$")
"""The beginning of an absolute path, or a path without a folder."""
_REMARKS = ("# ", "//", "/*", "* ", "-- ")
_SCRIPT = re.compile(r"\.[cm]?jsx?$")
_COMPILED = ("ts", "tsx", "mts", "cts")
_COMPOUND = re.compile(r"[A-Za-z0-9]_[A-Za-z]|[a-z][A-Z]|\w(?:::|\.)\w")
"""A function's name of at least two words."""
_CHAIN = re.compile(r"direct cause|during handling|caused by|\bcause\b", re.IGNORECASE)
_RAISES = re.compile(
    r"\b(?:raise|throw|panic!?|assert\w*!?|unreachable!?|unwrap\w*|expect|abort|fail\w*|bail!?|ensure!?|todo!?|error)\b|Err\("
)


@dataclass(frozen=True, slots=True)
class MappedFrame:
    """A frame and the corresponding place at this commit."""

    frame: Frame
    trace: StackTrace
    number: int
    """The number of the file."""
    line: int
    start: int
    """First line of the function."""
    end: int
    symbol: str | None
    exact: bool
    """Whether the frame's own text, or the call to the next frame, is on that line."""
    lost_inner: bool = False
    """Whether an inner frame is in a file of own code, at a place that the file does not have at this commit."""
    is_library: bool = False
    """Whether an inner frame is in a library, so that the library raised the error."""
    in_program: bool = False
    """Whether an inner frame is in the reporter's own program, which the project calls."""
    moved: str | None = None
    """The end of a sentence on the line of the release that the report names; None if that line is not known."""
    gone: str = ""
    """The end of a sentence on that line if the file has no such line any more."""
    change: str | None = None
    """The change that removed the line, if one is found."""

    @property
    def error(self) -> str:
        """The class and the message of the trace's error."""
        return f"{self.trace.error or ''}: {self.trace.message or ''}"

    @property
    def name(self) -> str | None:
        """The unqualified name of the function, if the frame gives one."""
        return last_part(self.frame.function)

    @property
    def is_known(self) -> bool:
        """Whether more than the number says which line it is."""
        return self.exact or self.moved is not None

    @property
    def has_inner(self) -> bool:
        """Whether the trace has frames inside it, other than those of the runtime that reports the error."""
        return self.trace.frames[0] is not self.frame and self.trace.language not in _WITH_RUNTIME_FRAMES


class _Span(NamedTuple):
    """The lines of a function and its name."""

    start: int
    end: int
    symbol: str | None


def chains(issue: Issue) -> Iterator[list[StackTrace]]:
    """Yield the traces of each chain, as the issue has them; a trace without a cause is a chain of one."""
    chain: list[StackTrace] = []
    for trace in (trace for trace in issue.traces if trace.frames):
        if chain and not _is_chained(issue, chain[-1], trace):
            yield chain
            chain = []
        chain.append(trace)
    if chain:
        yield chain


def wrapping(code: Code, issue: Issue) -> frozenset[str]:
    """Return the messages of errors that only wrap a cause outside the project's own code."""
    found: set[str] = set()
    for chain in chains(issue):
        root = from_root(chain)[0]
        if len(chain) > 1 and next(own_frames(code, issue, root), None) is None:
            found |= {normalise_space(trace.message) for trace in chain if trace is not root and trace.message}
    return frozenset(found)


def _is_chained(issue: Issue, one: StackTrace, other: StackTrace) -> bool:
    between = issue.body[one.end : other.start]
    heading = issue.body[other.start : other.start + 80]
    return len(between) < 300 and bool(_CHAIN.search(between) or _CHAIN.match(heading.strip()))


def from_root(chain: Sequence[StackTrace]) -> Sequence[StackTrace]:
    """Return the traces of a chain, the root first; Python prints it first, other languages last."""
    return chain if chain[0].language == "python" else chain[::-1]


def own_frames(code: Code, issue: Issue, trace: StackTrace) -> Iterator[MappedFrame]:
    """Yield the frames of own code, innermost first, without functions that only forward a call."""
    lost_inner = is_library = in_program = False
    for depth, frame in enumerate(trace.frames[:MAX_FRAMES]):
        if is_forwarding(frame):
            continue
        listed = files_of_frame(code.index, frame)
        # A file that this commit lacks may have moved, and its function can still be found.
        numbers = [number for number in listed if code.has_frames(number)] if listed else _moved_to(code, frame)
        numbers = [number for number in numbers if _is_declared(code, frame, number)]
        if source := _compiled_from(code, frame, numbers):
            listed = numbers = source
        found = _mapped(code, issue, trace, depth, numbers[0]) if len(numbers) == 1 else None
        if found is not None and not found.exact and _is_elsewhere(frame, code.path(numbers[0])):
            # A file of another program has the same name, in another folder.
            listed, numbers, found = [], [], None
        if found is not None:
            yield replace(found, lost_inner=lost_inner, is_library=is_library, in_program=in_program)
        elif len(numbers) == 1:
            # The error came from deeper code than the next frame, so that frame must not lead.
            lost_inner = True
        elif not listed:
            in_library = is_library_path(frame.path)
            lost_inner |= in_library and not code.index.project.is_foreign(frame.path)
            # In other languages the inner frames are often those of the panic itself.
            is_library |= trace.language == "python" or in_library
            in_program |= not in_library and _is_of_program(code, trace, frame)


def _is_of_program(code: Code, trace: StackTrace, frame: Frame) -> bool:
    """Return whether a frame that is in no library is in a program that uses the project, as far as paths tell."""
    path = frame.path.replace("\\", "/")
    # A relative path with a folder may be shortened by the reporter: `urllib/parse.py`.
    if trace.language not in _INTERPRETED or not _WHOLE_PATH.match(path):
        return False
    parts = map(simplified, path.split("/"))
    return (code.index.project.names | code.index.project.folders).isdisjoint(parts)


def _is_declared(code: Code, frame: Frame, number: int) -> bool:
    """Return whether a file of a language of the JVM declares the package of the frame's class, if both give one."""
    if "." not in (frame.module or "") or not code.path(number).endswith((".java", ".kt", ".scala", ".groovy")):
        return True
    found = next(filter(None, map(_DECLARED.match, code.lines(number)[:MAX_HEADER])), None)
    return found is None or f"{frame.module}.".startswith(f"{found[1]}.")


def _compiled_from(code: Code, frame: Frame, scripts: Sequence[int]) -> list[int]:
    """Return the only source of a frame's script that is lacking or compiled, if it has the function."""
    stem, name = frame.path.rpartition(".")[0], last_part(frame.function)
    is_compiled = all(_is_mapped(code.lines(number)[-2:]) for number in scripts)
    if name is None or not (is_compiled and _SCRIPT.search(frame.path)) or code.index.project.is_foreign(frame.path):
        return []
    every = (code.index.names.with_suffix(f"{stem}.{ending}") for ending in _COMPILED)
    found = [number for sources in every for number, _ in sources if code.own[number]]
    return found if len(found) == 1 and found[0] in code.index.def_file[code.definitions(name)] else []


def _is_mapped(last: Sequence[str]) -> bool:
    return any(line.startswith("//# sourceMappingURL=") for line in last)


def _is_elsewhere(frame: Frame, path: str) -> bool:
    """Return whether a frame's path and a file share their name only, although both give a folder."""
    written = frame.path.replace("\\", "/").removeprefix("./").strip("/").split("/")
    return len(written) > 1 and "/" in path and common_tail(written, path.split("/")) == 1


def is_forwarding(frame: Frame) -> bool:
    """Return whether a frame is a decorator's function, which only forwards a call."""
    return bool(_FORWARDS.fullmatch(last_part(frame.function) or ""))


def _moved_to(code: Code, frame: Frame) -> list[int]:
    """Return where a function of a file that this commit lacks is now: the only definition, in a folder of that name.

    The condition on the folder excludes libraries, whose functions often have the names of the project's. Programs
    without symbols print no file; then a compound name (``key_free``, ``Store::load``), or the class of the function,
    has to be the project's alone.
    """
    name, folders = last_part(frame.function), frame.path.replace("\\", "/").split("/")[:-1]
    if not frame.path and not frame.module:
        rows = code.definitions(name or "") if _COMPOUND.search(frame.function or "") else []
        return [int(code.index.def_file[row]) for row in rows[:2]]
    if not frame.path:
        rows = [row for row in code.definitions(name or "") if _is_of_class(code, frame, code.index.name_of(row))]
        rows = rows or _of_bundled_class(code, frame.module or "", name)
        return sorted({int(code.index.def_file[row]) for row in rows})
    if not folders or code.index.project.is_foreign(frame.path):
        return []
    if respelled := _in_folder_like(code, frame.path.replace("\\", "/")):
        return respelled
    if not name:
        return []
    found = [int(code.index.def_file[row]) for row in code.definitions(name)]
    same_folder = [number for number in found if code.path(number).split("/")[-2:-1] == folders[-1:]]
    return same_folder if len(found) == 1 else []


def _in_folder_like(code: Code, path: str) -> list[int]:
    """Return the only file of a name whose folder is the path's in another spelling: `DummyError`, `dummy-error`."""
    folder, name = simplified(path.split("/")[-2]), path.rpartition("/")[2]
    found = code.index.names.by_name.get(name, ()) if folder else ()
    same = [number for number in found if simplified(code.path(number).rpartition("/")[0].rpartition("/")[2]) == folder]
    return same if len(same) == 1 else []


def _of_bundled_class(code: Code, owner: str, name: str | None) -> list[int]:
    """Return the only method of a class with a compound name, to which a bundle of scripts gives no namespace."""
    symbol = f"{owner}.{name}"
    rows = [row for row in code.definitions(name) if code.index.name_of(row) == symbol] if name else []
    return rows if len(rows) == 1 and owner.isidentifier() and _COMPOUND.search(owner) else []


def own_files(code: Code, issue: Issue) -> frozenset[int]:
    """Return the files of own code that occur in any trace."""
    return frozenset(
        number
        for trace in issue.traces
        for frame in trace.frames[:MAX_FRAMES]
        for number in files_of_frame(code.index, frame)
        if code.own[number]
    )


def last_part(function: str | None) -> str | None:
    """Return the unqualified name of a function in the notation of any language, or None if it has no name."""
    parts = [part for part in _PARTS.split(function or "") if part and not _NO_NAME.fullmatch(part.strip("_"))]
    return parts[-1] if parts else None


def frame_text(issue: Issue, trace: StackTrace, frame: Frame) -> str | None:
    """Return the source line that the trace prints for a frame."""
    if frame.line is None:
        return None
    lines = issue.trace_text(trace).split("\n")
    name = frame.path.rpartition("/")[2]
    arrow = re.compile(rf"\s*-{{1,6}}>\s{{0,4}}{frame.line}\s(.*)")
    for at, line in enumerate(lines):
        if pointed := arrow.match(line):
            return _code(pointed[1])
        below = lines[at + 1] if at + 1 < len(lines) else ""
        if trace.language == "matlab" and f"{name.removesuffix('.m')}" in line and f"(line {frame.line})" in line:
            return _code(below)
        if name and name in line and re.search(rf"(?:line |:){frame.line}\b", line):
            above = next((text for text in reversed(lines[max(0, at - 12) : at]) if text.lstrip().startswith(">")), "")
            if trace.language == "python" and (_FILE.search(line) or _SHORT.search(line)):
                # Without the source, the error follows at once.
                return _code(below) if below.partition(":")[0].strip() != trace.error else None
            if above:
                return _code(above.lstrip().removeprefix(">"))
    return None


def _code(line: str) -> str | None:
    text = normalise_space(line.strip().strip("|").strip())
    return text if sum(map(str.isalnum, text)) >= 4 and not _FILE.search(text) else None


def _mapped(code: Code, issue: Issue, trace: StackTrace, depth: int, number: int) -> MappedFrame | None:
    """Find the frame's text in its function; otherwise use its line number if it is still inside the function."""
    frame, inner = trace.frames[depth], trace.frames[depth - 1] if depth else None
    text = frame_text(issue, trace, frame)
    spans = _functions(code, number, frame) or _renamed(code, number, text)
    # Several classes may have the function; the one that has the frame's text is meant.
    lines = {span: _line_of(code, number, text, span, frame.line or span.start) if text else None for span in spans}
    for span in sorted(spans, key=lambda span: lines[span] is None):
        line = lines[span]
        first = _with_attributes(code.lines(number), span.start)
        # Vim counts the lines of a function from its head.
        given = (frame.line or 0) + (span.start if trace.language == "vim" and frame.function else 0)
        is_other = _SCRIPT.search(frame.path) and code.path(number).endswith(_COMPILED)
        inside = given if frame.line and not is_other and first <= given <= span.end else None
        held = code.text(number, inside) if inside and text is None else None
        if text is None and not (held is not None and is_call(held, inner)):
            calls = _calls(code.lines(number), span, inner)
            line = calls[0] if len(calls) == 1 else None
        exact = line is not None or (held is not None and is_call(held, inner))
        # The line of another version may be a blank one or a comment now.
        at_inside = (code.text(number, inside) or "").strip() if inside else ""
        is_blank = inside is not None and span.symbol is not None and (not at_inside or at_inside.startswith(_REMARKS))
        near = _calls(code.lines(number), span, inner) if is_blank else []
        nearest = min(near, key=lambda at: abs(at - given), default=None)
        at = line or (nearest if is_blank else inside) or _line_of_name(code, number, span)
        # Without a function, a line below the last one is of another version.
        is_there = line or span.symbol or (frame.line or 0) <= span.end
        if is_there and code.text(number, at):
            return MappedFrame(frame, trace, number, at, span.start, span.end, span.symbol, exact)
    return None


def _with_attributes(lines: Sequence[str], start: int) -> int:
    """Return the first line of the attributes or decorators above a definition, whose code may raise as well."""
    while start > 1 and lines[start - 2].lstrip().startswith(("#[", "@")):
        start -= 1
    return start


def _calls(lines: Sequence[str], span: _Span, inner: Frame | None) -> list[int]:
    """Return the lines of a function that call the next inner frame; its number may be of another version."""
    name = last_part(inner.function) if inner and span.symbol else None
    if name is None or span.end - span.start > LONGEST_FUNCTION:
        return []
    call = re.compile(rf"{whole_word(name).pattern}\s?\(")
    return [at for at in range(span.start + 1, min(span.end, len(lines)) + 1) if call.search(lines[at - 1])]


def _line_of_name(code: Code, number: int, span: _Span) -> int:
    """Return the first line of a function that has its name; in C, the type may be on a line above."""
    name = (span.symbol or "").rpartition(".")[2]
    first = code.lines(number)[span.start - 1 : span.end][:MAX_HEAD]
    return next((line for line, text in enumerate(first, span.start) if name in text), span.start)


def _functions(code: Code, number: int, frame: Frame) -> list[_Span]:
    """Return a file's definitions that match the frame, nearest first; the whole file for code outside functions."""
    index, name, line = code.index, last_part(frame.function), frame.line or 0
    # The virtual machine's name of a lambda in a constructor, which has the name of its class.
    name = last_part(frame.module) if name == "new" and "lambda$new$" in (frame.function or "") else name
    # A function of Vim has the name of its file: ``folder#file#Function``.
    whole = frame.function if frame.path.endswith(".vim") and "#" in (frame.function or "") else None
    rows = [row for row in code.definitions(whole or name or "") if int(index.def_file[row]) == number] if name else []
    if frame.function == "__init__":
        rows = [row for row in code.definitions("__init__") if int(index.def_file[row]) == number]
    elif name is None and line and (row := code.index.definition_at(number, line)) is not None:
        rows = [row]
    found = [_span(code, row) for row in rows]
    # Methods of several classes may have one name, and the line of the trace, or else its class, tells them apart.
    found.sort(key=lambda span: (not span.start <= line <= span.end, abs(span.start - line)))
    if not line:
        found.sort(key=lambda span: not _is_of_class(code, frame, span.symbol))
    # Without a line, a frame whose function is not found has no place.
    if found or (name and (not line or whole or _names_functions(code, number))):
        return found
    return [_Span(1, len(code.lines(number)), None)]


def _renamed(code: Code, number: int, text: str | None) -> list[_Span]:
    """Return the definition with the only line of a file that is the text of a frame whose function the file lacks."""
    lines = code.lines(number) if text and len(text) >= LEAST_TEXT else ()
    held = [line for line, here in enumerate(lines, 1) if normalise_space(here) == text]
    row = code.index.definition_at(number, held[0]) if len(held) == 1 else None
    return [] if row is None else [_span(code, row)]


def _is_of_class(code: Code, frame: Frame, symbol: str | None) -> bool:
    """Return whether a definition is in the class of a frame, whose namespace has the name of the project."""
    *classes, _ = (symbol or "").split(".")
    parts = [part for part in _CLASSES.split(frame.module or "") if part]
    space = {simplified(part) for part in parts[: len(parts) - len(classes)]}
    project = code.index.project
    return bool(classes) and parts[-len(classes) :] == classes and not space.isdisjoint(project.names | project.folders)


def _span(code: Code, row: int) -> _Span:
    _, start, end = code.span(row)
    return _Span(start, end, code.index.name_of(row))


def _names_functions(code: Code, number: int) -> bool:
    """Return whether a frame's function must be defined in its file, so that another one means another version.

    A file of a language without a grammar has no definitions. JavaScript names functions by their variable or class.
    """
    path = code.path(number)
    has_definitions = code.index.first_def[number] < code.index.first_def[number + 1] and has_grammar(path)
    return bool(has_definitions) and family(language_of(path) or "") not in {"javascript", "component"}


def _line_of(code: Code, number: int, text: str, span: _Span, near: int) -> int | None:
    """Find a line that starts with a frame's text or is a prefix of it; traces truncate long statements."""
    same = []
    for line, here in enumerate(code.lines(number)[span.start - 1 : span.end], span.start):
        if same_start(normalise_space(here), text):
            same.append(line)
    return min(same, key=lambda line: abs(line - near)) if same else None


def same_start(line: str, text: str) -> bool:
    """Return whether a line is a text of a trace, or one begins the other; an open call must be the whole text."""
    begins = len(text) >= 12 and not text.endswith(("(", "[", "{", ",")) and line.startswith(text)
    return bool(line) and (line == text or begins or (len(line) >= 12 and text.startswith(line)))


def is_call(text: str, inner: Frame | None) -> bool:
    """Return whether a line calls the next inner frame, or raises if the frame is the innermost."""
    if inner is None:
        return is_raising(text)
    name = last_part(inner.function)
    return name is not None and bool(whole_word(name).search(text))


def is_raising(text: str) -> bool:
    """Return whether a line raises or may raise: it asserts, unwraps or aborts."""
    return bool(_RAISES.search(text))
