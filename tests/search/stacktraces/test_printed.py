"""Output that runtimes and tools printed for programs of a few lines: their traces, the error and the own frames."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.types import Frame

CASES = re.findall(
    r"^#### ([^|\n]+) \| ([^|\n]+) \| ([^|\n]*) \| ([^\n]*)\n(.*?)(?=^#### |\Z)",
    (Path(__file__).parent / "printed.txt").read_text(),
    re.MULTILINE | re.DOTALL,
)
"""Name, number of traces, error, own frames innermost first as ``path:line function``, output."""


def is_frame(frame: Frame, written: str) -> bool:
    place, _, function = written.partition(" ")
    path, _, line = place.rpartition(":")
    is_place = frame.path.endswith(path) and (frame.line or 0) == int(line)
    return is_place and function in ("", frame.function)


@pytest.mark.parametrize(
    ("count", "error", "frames", "printed"), [pytest.param(*case[1:], id=case[0]) for case in CASES]
)
def test_printed_output_is_read(count: str, error: str, frames: str, printed: str):
    traces = find_traces(f"It stops with this:\n\n```\n{printed}\n```\n")
    if count != "*":
        assert len(traces) == int(count), traces
    named = [trace for trace in traces if (trace.error or "").rpartition(".")[2] == error.rpartition(".")[2]]
    assert named, traces
    inside = iter((named[0] if count == "*" else named[-1]).frames)
    missing = [written for written in frames.split("; ") if not any(is_frame(frame, written) for frame in inside)]
    assert not missing, named


def test_many_runtimes_are_saved():
    assert len(CASES) >= 80
    assert len({name.partition("-")[0] for name, *_ in CASES}) >= 20
