"""The part of a run's page that changes while the run is in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.report.words import count
from bot.server.web.views import path
from bot.server.web.views.rows import Row
from bot.server.web.views.words import label
from bot.store.pages.runs import FullRun
from bot.store.runs.run_events import Visit
from nodes.state import TraceEntry


@dataclass(frozen=True, slots=True)
class Progress:
    """The part of a page that changes while a run is in progress."""

    row: Row
    steps: tuple[path.Step, ...]
    now: tuple[str, ...]
    graph: tuple[path.GraphNode, ...]
    rounds: int
    reasons: bool

    @property
    def say(self) -> str:
        """Return the text that a screen reader announces after a change."""
        if self.now:
            return f"{' and '.join(self.now)} running, after {count(len(self.steps), 'step')}"
        return f"The run is {self.row.run.status}, after {count(len(self.steps), 'step')}"


def progress(full: FullRun, visits: Sequence[Visit], *, open_to_all: bool) -> Progress:
    """Build the progress of a run.

    Args:
        full: the run.
        visits: its stored steps.
        open_to_all: whether the viewer may read the reasons of a run that may concern a security issue; whether it does
            is unknown until the run is over.
    """
    known = path.latest(visits)
    trace = trace_of(full, known)
    row = full.row
    now = tuple(one.node for one in known if one.ended is None) if row.status == "running" else ()
    reasons = open_to_all or is_harmless(full)
    return Progress(
        Row.of(row),
        path.steps(trace, reasons=reasons),
        tuple(label(name) for name in now),
        path.graph(trace, now=now),
        max((entry.iteration for entry in trace), default=-1) + 1,
        reasons,
    )


def trace_of(full: FullRun, visits: Sequence[Visit]) -> tuple[TraceEntry, ...]:
    """Return a run's trace: from its result, or from its steps before there is a result."""
    if full.result is not None:
        return full.result.trace
    return tuple(entry for one in visits if one.ended is not None for entry in one.trace)


def is_harmless(full: FullRun) -> bool:
    """Return whether the run is known not to concern a security issue."""
    return full.result is not None and full.result.report.kind != "security"
