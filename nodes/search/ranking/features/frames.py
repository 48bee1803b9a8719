"""Features of the files and functions on a stack trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from nodes.search.paths.suffixes import SEPARATORS, common_tail
from nodes.search.paths.whose import is_of_package
from nodes.search.ranking.features.table import set_at_least, zero_scores
from nodes.search.tokens import term_hash

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodes.search.index import Index
    from nodes.search.issue.query import Parsed
    from nodes.search.ranking.features.table import Features
    from nodes.search.types import Frame

    Floats = npt.NDArray[np.float64]

FRAMES = 12  # frames further out are the program's entry, not its fault


def add_trace(features: Features, index: Index, parsed: Parsed) -> None:
    """Add features for files and functions on a stack trace; the repository's innermost frame weighs most."""
    size = len(index.paths)
    first, any_frame, chunk_frame = np.zeros(size), np.zeros(size), zero_scores(index)
    for trace in parsed.traces:
        depth = 0
        for frame in trace.frames:
            files = files_of_frame(index, frame)
            files = [number for number in files if index.roles[number] in {"source", "generated"}]
            for number in files:
                set_at_least(first if depth == 0 else any_frame, number, 1.0 if depth == 0 else 1 - depth / FRAMES)
                mark_frame(chunk_frame, index, number, frame, 1 - depth / FRAMES)
            # Frames of libraries do not count as depth: the innermost own frame is the one that matters.
            depth += bool(files)
            if depth >= FRAMES:
                break
    features.files["trace_first"], features.files["trace"] = first, any_frame
    features.chunks["trace"] = chunk_frame


def files_of_frame(index: Index, frame: Frame) -> list[int]:
    """Return the files of a frame: by its path, else by its class or module; none for code of others."""
    module = (frame.module or "").partition("$")[0]
    if frame.path:
        found = [] if index.project.is_foreign(frame.path) else index.names.with_suffix(frame.path)
        # With a bare file name, the JVM's traces give the class, whose package the folder has to agree with.
        if "/" not in frame.path and "." in module:
            found = [(number, shared) for number, shared in found if is_of_package(module, index.paths[number])]
            found = found if len(found) == 1 else index.names.of_module(module)
        # A bare file name identifies a file only if it is unique.
        return [number for number, shared in found if shared > 1 or len(found) == 1]
    if not module:
        return []
    return [number for number, _ in index.names.of_module(module)] or _files_of_class(index, frame)


def _files_of_class(index: Index, frame: Frame) -> list[int]:
    """Return the files that are named like the frame's class, in a folder like its namespace, and have the function.

    The folder of a .NET project is often not called like its root namespace, so only the last part has to agree. The
    function excludes classes of libraries that have the name of an own one.
    """
    parts = [part for part in SEPARATORS.split(frame.module or "") if part]
    names, function = index.names, np.uint32(term_hash((frame.function or "").rpartition(".")[2]))
    return [
        number
        for number in names.by_module_tail.get(parts[-1] if parts else "", ())
        if common_tail(parts, names.modules[number]) > 1
        and np.any(index.def_last[index.first_def[number] : index.first_def[number + 1]] == function)
    ]


def mark_frame(chunks: Floats, index: Index, number: int, frame: Frame, worth: float) -> None:
    """Mark the function of a frame, by name first, because line numbers differ between versions."""
    in_file = np.flatnonzero(index.chunk_file == number)
    owners = index.chunk_def[in_file]
    if frame.function and len(in_file):
        name = np.uint32(term_hash(frame.function.rpartition(".")[2]))
        named = in_file[(owners >= 0) & (index.def_last[owners] == name)] if len(index.def_last) else in_file[:0]
        if len(named):
            chunks[named] = np.maximum(chunks[named], worth)
            return
    if frame.line is not None:
        around = in_file[(index.chunk_start[in_file] <= frame.line) & (frame.line <= index.chunk_end[in_file])]
        # Half, because the reporter's version may have other code on this line.
        chunks[around] = np.maximum(chunks[around], worth / 2)
