"""Frames of a stack trace, mapped to the project's own code by file and function."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import IssueParts
from nodes.search.facts.output.frame_lines import (
    COMPILED,
    SCRIPT,
    MappedFrame,
    is_built_in,
    is_call,
    is_of_class,
    mapped_at,
)
from nodes.search.facts.output.frame_text import last_part
from nodes.search.lazy import lazy
from nodes.search.paths.project import common_tail, simplified
from nodes.search.paths.project import is_library as is_library_path
from nodes.search.ranking.naming import files_of_frame
from nodes.search.tokens import load_sections, normalise_space
from nodes.search.types import Frame, StackTrace

MAX_FRAMES = 60
SHORTENED = 3
"""Maximum length of the name of a class that a bundle of scripts has shortened."""
LEAST = 12
"""Minimum number of characters of a line whose text identifies it."""
MAX_HEADER = 100
"""Maximum number of lines up to the declaration of a package."""
_FORMS = load_sections(Path(__file__).with_name("frames.txt"))
_DECLARED, _SHRUNK, _SHARED, _FORWARDS, REPORTS, _WHOLE_PATH, _QUALIFIERS, _CHAIN = (
    re.compile("".join(_FORMS[name]))
    for name in "declared shrunk shared forwards reports whole_path qualifiers chain".split()
)
_MAP = "//# sourceMappingURL="
_INTERPRETED = frozenset({"python", "javascript", "ruby", "php"})
"""Languages whose traces give the path of every file, also outside the project."""
_COMPOUND = re.compile(r"[A-Za-z0-9][_-][A-Za-z]|[a-z][A-Z]|\w(?:::|\.)\w")
"""A function's name of at least two words."""
_CLEANS_UP = lazy(
    r"(?:on_?)?(?:disable|dispose|close|clean_?up|shut_?down|tear_?down|destroy|finali[sz]e|unload|__exit__|__del__|deinit)\w*",
    re.IGNORECASE,
)
_STARTS = lazy(
    r"(?:on_?)?(?:enable|init\w*|set_?up|start\w*|open|load|create|boot\w*|__init__|__enter__|<init>)", re.IGNORECASE
)
"""Names of functions that end what others began: within those, they run after an error that the trace does not show."""


def chains(issue: IssueParts) -> Iterator[list[StackTrace]]:
    """Yield the traces of each chain, as the issue has them; a trace without a cause is a chain of one."""
    chain: list[StackTrace] = []
    for trace in (it for it in issue.traces if it.frames and not (it.is_aside or is_compiled(issue, it))):
        if chain and not _is_chained(issue, chain[-1], trace):
            yield chain
            chain = []
        chain.append(trace)
    if chain:
        yield chain


def is_compiled(issue: IssueParts, trace: StackTrace) -> bool:
    """Return whether a compiler printed the places of includes, and after the last its error: no line was executed."""
    text, printed = issue.trace_text(trace), f" error: {(trace.message or '')[:MAX_HEADER]}"
    is_error = bool(trace.message) and "included from" in text and printed in text
    return is_error and not any(frame.function for frame in trace.frames)


def wrapping(code: Code, issue: IssueParts) -> frozenset[str]:
    """Return the messages of errors that only wrap a cause outside the project's own code."""
    found: set[str] = set()
    for chain in chains(issue):
        root = from_root(chain)[0]
        if len(chain) > 1 and next(own_frames(code, issue, root), None) is None:
            found |= {normalise_space(trace.message) for trace in chain if trace is not root and trace.message}
    return frozenset(found)


def _is_chained(issue: IssueParts, one: StackTrace, other: StackTrace) -> bool:
    between = issue.body[one.end : other.start]
    heading = issue.body[other.start : other.start + 80].strip(" \t\n[")
    return len(between) < 300 and bool(_CHAIN.search(between) or _CHAIN.match(heading))


def from_root(chain: Sequence[StackTrace]) -> Sequence[StackTrace]:
    """Return the traces of a chain, the root first; Python prints it first, other languages last."""
    return chain if chain[0].language == "python" else chain[::-1]


def own_frames(code: Code, issue: IssueParts, trace: StackTrace) -> Iterator[MappedFrame]:
    """Yield the frames of own code, innermost first, without functions that only forward a call."""
    lost_inner = is_library = in_program = reports = False
    gone = list[str]()
    for depth, frame in enumerate(trace.frames[:MAX_FRAMES]):
        name = last_part(frame.function) or ""
        # Outside what only reports the error, the line reports it too.
        reports |= bool(depth and REPORTS.fullmatch(name))
        # A decorator's function, or one that is built in.
        if (reports and REPORTS.fullmatch(name)) or _FORWARDS.fullmatch(name) or is_built_in(trace, depth):
            continue
        listed = files_of_frame(code.index, frame)
        # A file that this commit lacks may have moved, and its function can still be found.
        numbers = [number for number in listed if code.has_frames(number)] if listed else _moved_to(code, frame)
        numbers = [number for number in numbers if _is_declared(code, frame, number)]
        source = _installed_as(code, issue, trace, frame) if not listed else []
        source = (
            source or _compiled_from(code, frame, numbers) or _in_package(code, frame) or _included(code, trace, depth)
        )
        if source:
            listed = numbers = source
        # The line of a compiled file without a function tells nothing about the source.
        has_function = len(numbers) == 1 and bool(frame.function or not source)
        found = mapped_at(code, issue, trace, depth, numbers[0]) if has_function else None
        if found is not None and not found.exact and _is_elsewhere(frame, code.path(numbers[0])):
            # A file of another program has the same name, in another folder.
            listed, numbers, found = [], [], None
        if found is not None:
            # A class that the commit lacks is the project's if it is in the package of one that the commit has.
            own = _package(code, found.number) if gone and trace.language == "java" else ""
            lost_inner |= own.count(".") > 0 and any(module.startswith(f"{own}.") for module in gone)
            yield replace(found, lost_inner=lost_inner, is_library=is_library, in_program=in_program, reports=reports)
            reports = False
        elif len(numbers) == 1 or _is_repackaged(code, frame):
            # The error came from deeper code than the next frame, so that frame must not lead.
            lost_inner = True
        elif not listed:
            gone.append(frame.module or "")
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
    package = _package(code, number)
    return not package or f"{frame.module}.".startswith(f"{package}.")


def _in_package(code: Code, frame: Frame) -> list[int]:
    """Return the file of the only definition of a compound name, if it is in the package of a frame's class.

    Programs that are shrunk have merged classes, and print no file.
    """
    name = frame.function or "" if _SHRUNK.fullmatch(frame.path) else ""
    rows = code.definitions(name) if _COMPOUND.search(name) else []
    numbers = [int(code.index.def_file[row]) for row in rows]
    return numbers if len(numbers) == 1 and f"{frame.module}.".startswith(f"{_package(code, numbers[0])}.") else []


def _installed_as(code: Code, issue: IssueParts, trace: StackTrace, frame: Frame) -> list[int]:
    """Return the script that was installed without its ending, if the trace prints the text of its line."""
    name = frame.path.rpartition("/")[2]
    if trace.language != "python" or "." in name or not frame.line:
        return []
    numbers = [number for number in code.index.names.by_name.get(f"{name}.py", ()) if code.own[number]]
    text = (code.text(numbers[0], frame.line) or "").strip() if len(numbers) == 1 else ""
    return numbers if len(text) >= LEAST and text in issue.trace_text(trace) else []


def _included(code: Code, trace: StackTrace, depth: int) -> list[int]:
    """Return the file of a frame in a program that moved the project's packages, if its line calls the inner frame."""
    frame = trace.frames[depth]
    last = (frame.module or "").split(".")[-2:-1]
    named = code.index.names.by_name.get(frame.path, ()) if last and depth else ()
    own = [number for number in named if code.own[number] and _package(code, number).split(".")[-1:] == last]
    line = (code.text(own[0], frame.line or 0) or "") if len(own) == 1 else ""
    return own if line and is_call(line, trace.frames[depth - 1]) else []


def _package(code: Code, number: int) -> str:
    found = next(filter(None, map(_DECLARED.match, code.lines(number)[:MAX_HEADER])), None)
    return found[1] if found else ""


def _is_repackaged(code: Code, frame: Frame) -> bool:
    """Return whether an own file of a frame's name is in another package, of the organisation of the frame's class."""
    whose = (frame.module or "").split(".")[:2]
    named = code.index.names.by_name.get(frame.path, ()) if len(whose) > 1 else ()
    return any(code.own[number] and _package(code, number).split(".")[:2] == whose for number in named)


def _compiled_from(code: Code, frame: Frame, scripts: Sequence[int]) -> list[int]:
    """Return the only source of a frame's script that is lacking or compiled, if it has the function."""
    stem, name = frame.path.rpartition(".")[0], last_part(frame.function)
    is_compiled = all(any(line.startswith(_MAP) for line in code.lines(number)[-2:]) for number in scripts)
    if not (is_compiled and SCRIPT.search(frame.path)) or code.index.project.is_foreign(frame.path):
        return []
    every = (code.index.names.with_suffix(f"{stem}.{ending}") for ending in COMPILED)
    # The reporter's own program may have a file of the same name.
    is_own = scripts or is_library_path(stem)  # as a library, it is not a foreign one
    is_own = is_own or any(map(code.index.project.is_named, stem.split("/")[:-1]))
    found = [number for sources in every for number, shared in sources if code.own[number] and (is_own or shared > 1)]
    has_function = len(found) == 1 and (name is None or found[0] in code.index.def_file[code.definitions(name)])
    return found if has_function else []


def _is_elsewhere(frame: Frame, path: str) -> bool:
    """Return whether a frame's path and a file share their name only, although both give a folder."""
    written = frame.path.replace("\\", "/").removeprefix("./").strip("/").split("/")
    is_apart = len(written) > 1 and "/" in path and common_tail(written, path.split("/")) == 1
    # Swift prints the module, in whose folder the file is somewhere: ``Module/File.swift``. What a project installs may
    # have its name before that of the folder: ``Acme_Plugins/bars.lua``.
    is_module = len(written) == 2 and path.endswith(".swift") and written[0] in path.split("/")
    return is_apart and not (is_module or written[-2].endswith(f"_{path.split('/')[-2]}"))


def _moved_to(code: Code, frame: Frame) -> list[int]:
    """Return where a function of a file that this commit lacks is now: the only definition, in a folder of that name.

    The condition on the folder excludes libraries, whose functions often have the names of the project's. Programs
    without symbols print no file; then a compound name (``key_free``, ``Store::load``), or the class of the function,
    has to be the project's alone.
    """
    name, folders = last_part(frame.function), frame.path.replace("\\", "/").split("/")[:-1]
    if _SHARED.fullmatch(frame.path) and any(name in simplified(frame.path) for name in code.index.project.names):
        frame = replace(frame, path="")  # the project is that library
    if not frame.path and not frame.module:
        rows = code.definitions(name or "") if _COMPOUND.search(frame.function or "") else []
        rows = [row for row in rows if _is_owned(code, frame.function or "", row)]
        return sorted({int(code.index.def_file[row]) for row in rows})
    if not frame.path:
        rows = [row for row in code.definitions(name or "") if is_of_class(code, frame, code.index.name_of(row))]
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


def _is_owned(code: Code, function: str, row: int) -> bool:
    """Return whether a function with its classes and namespaces is a definition, and not one of a library."""
    *around, _ = filter(None, _QUALIFIERS.split(function))
    owner, number = code.index.name_of(row).split(".")[-2:-1], int(code.index.def_file[row])
    if not around or (owner and owner[0] not in around):
        return not around
    if code.path(number).endswith(".rs"):  # only its folder tells which crate a file is in
        crates, inside = {*map(simplified, around)}, {*map(simplified, code.path(number).split("/")[:-1])}
        folders = crates & code.index.project.folders
        return not folders.isdisjoint(inside) if folders else not code.index.project.names.isdisjoint(crates)
    return around[0] in owner or any(around[0] in line for line in code.lines(number))


def _in_folder_like(code: Code, path: str) -> list[int]:
    """Return the only file of a name whose folder is the path's in another spelling: `DummyError`, `dummy-error`."""
    folder, name = simplified(path.split("/")[-2]), path.rpartition("/")[2]
    found = code.index.names.by_name.get(name, ()) if folder else ()
    same = [number for number in found if simplified(code.path(number).rpartition("/")[0].rpartition("/")[2]) == folder]
    return same if len(same) == 1 else []


def _of_bundled_class(code: Code, owner: str, name: str | None) -> list[int]:
    """Return the only method of a class with a compound name, to which a bundle of scripts gives no namespace.

    Where the bundle shortens the names of classes, the name of the method has to be compound.
    """
    is_short, symbol = len(owner) <= SHORTENED, f"{owner}.{name}"
    rows = code.definitions(name) if name and owner.isidentifier() else []
    rows = [row for row in rows if is_short or code.index.name_of(row) == symbol]
    return rows if len(rows) == 1 and _COMPOUND.search((name or "") if is_short else owner) else []


def own_files(code: Code, issue: IssueParts) -> frozenset[int]:
    """Return the files of own code that occur in any trace."""
    return frozenset(
        number
        for trace in issue.traces
        for frame in trace.frames[:MAX_FRAMES]
        for number in files_of_frame(code.index, frame)
        if code.own[number]
    )


def cleans_up(mapped: MappedFrame) -> bool:
    """Return whether a frame cleans up after a failed start of the same part of a program."""
    frames = mapped.trace.frames
    outer = frames[frames.index(mapped.frame) + 1 :]
    starts = (frame for frame in outer if frame.path == mapped.frame.path and frame.module == mapped.frame.module)
    is_last = bool(_CLEANS_UP.fullmatch(mapped.name or ""))
    return is_last and any(_STARTS.fullmatch((frame.function or "").rpartition(".")[2]) for frame in starts)
