"""Extract stack traces from prose into frames, with one file per language family."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from nodes.search.issue.normal.mapped import Mapped
from nodes.search.issue.normal.report import normalise
from nodes.search.issue.stacktraces import anywhere, elixir, javascript, managed, native, panics, python, scripts
from nodes.search.issue.stacktraces.runs import MAX_TRACES, Line, split_lines
from nodes.search.types import StackTrace

_FAMILIES: tuple[Callable[[Sequence[Line]], list[StackTrace]], ...] = (
    *(python.find, python.find_cells, python.find_failures),
    *(managed.JVM.find, javascript.DIALECT.find, panics.find_go, panics.find_rust, scripts.find_ruby),
    *(scripts.PHP.find, managed.find_dotnet, native.find, native.SWIFT.find, elixir.find),
    *(scripts.MATLAB.find, scripts.find_vim, scripts.find_emacs, managed.APEX.find),
)


def find_traces(text: str) -> list[StackTrace]:
    """Return the stack traces in a text, in order of appearance, at most twenty.

    Each link of a chain (``Caused by``, ``During handling of``) is a separate trace. An error without a frame counts
    only if its format is unique to programs of its language.
    """
    return list(_find(text))


@lru_cache(maxsize=4)  # the ranking, the facts and each check of a fact read the same report
def _find(text: str) -> tuple[StackTrace, ...]:
    report = normalise(text)
    lines = split_lines(report.text)
    found = [trace for find in _FAMILIES for trace in find(lines)]
    # If two languages claim the same lines, the one with more frames is right.
    # The sort is stable, so of equal traces the family that comes first in ``_FAMILIES`` counts.
    found.sort(key=lambda trace: -len(trace.frames))
    selected: list[StackTrace] = []
    for trace in found:
        if not any(map(trace.overlaps, selected)):
            selected.append(trace)
    # An error that one line states alone may head frames of another format.
    framed = [trace for trace in selected if trace.frames]
    others = anywhere.find(lines, framed)
    alone = (trace for trace in selected if not trace.frames)
    selected = framed + others + [trace for trace in alone if not any(map(trace.overlaps, others))]
    # A trace that leads to code is worth more than one that only names the error.
    selected.sort(key=lambda trace: (not trace.frames, trace.start))
    selected = sorted(selected[:MAX_TRACES], key=lambda trace: trace.start)
    # Some runtimes print a crash twice, and logs repeat it.
    once = {(trace.error, trace.message, trace.frames): trace for trace in reversed(selected) if trace.frames}
    chosen = (trace for trace in selected if not trace.frames or trace in once.values())
    return tuple(_placed(report, trace) for trace in chosen)


def _placed(report: Mapped, trace: StackTrace) -> StackTrace:
    start, end = report.span(trace.start, trace.end)
    return replace(trace, start=start, end=end)
