"""A server's data after some months, for the screenshots in docs and the browser tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.limits.ceilings import Amount, Scope
from bot.ports import IssueRef
from bot.store.runs.outcomes import Verdict
from bot.store.runs.run_events import Visit
from bot.store.tables import Store
from nodes.report import Evaluation, TriageReport
from nodes.state import TraceEntry
from tests.report.reports import FOUND
from tests.web.stored import COMMENT, DROPPED, METRICS, PARSER, TRACE, Ran, ask, entry, job_for, known, ran, visits

NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC).timestamp()
_RATED = Evaluation(faithfulness=0.97, relevance=0.88, completeness=0.75, reasoning_quality=0.8, overall_score=0.87)
_TITLES = (
    "Dates before 1970 are off by one day",
    "TypeError after the upgrade to 2.4.1: the streaming reader meets a surrogate pair at the end of a chunk",
    "Please support reading from stdin",
    "Reader keeps a file open on Windows",
    "How do I skip comments?",
    "Quoted field with a newline is cut in two",
    "README still names the old package",
    "Memory grows with each parsed file",
)
_KINDS = ("bug", "bug", "feature", "bug", "question", "bug", "docs", "bug")


@dataclass
class Clock:
    """A clock that advances a little with each read, so that pictures are the same each time."""

    at: float = NOW

    def __call__(self) -> float:
        self.at += 0.001
        return self.at


@dataclass(frozen=True)
class Busy:
    """References to the stored items."""

    paths: dict[str, str]
    running: IssueRef
    clock: Clock = field(default_factory=Clock)


async def busy(store: Store) -> Busy:
    """Fill a store."""
    clock = Clock()
    store._database.clock = store.jobs._clock = store.inbox._clock = clock  # type: ignore[method-assign]
    await known(store)
    await _closed(store, clock)
    clock.at = NOW
    await _used(store)
    for number, (title, kind) in enumerate(zip(_TITLES, _KINDS, strict=True)):
        clock.at += 1_640
        report = _report(kind, 0.45 + 0.05 * number)
        await ran(
            store, Ran(title=title, number=401 + number, report=report, brain="gpt-4o" if number % 3 else "rules")
        )
    clock.at += 900
    failed = await ran(
        store, Ran(title="Cannot be read", number=410, status="failed", trace=(), gathered=[], visits=())
    )
    await store.jobs.mark_dead(
        await job_for(store, failed), "RetryableError: GitHub answered 502 to the last five attempts"
    )
    clock.at += 700
    waiting = await ran(store, Ran(title="It does not work", number=411, status="waiting", trace=TRACE[:2]))
    await ask(store, waiting)
    clock.at += 60
    main = await _main(store, clock)
    clock.at += 42
    running = await _running(store, clock)
    update = "UPDATE questions SET asked_at = '2026-11-18T11:36:02Z'"
    await store._database.do(lambda db: db.execute(update).rowcount)
    postpone = await job_for(store, IssueRef("github.com", 7, 9, "octo", "parser", 414))
    await store.jobs.postpone(postpone, 240, "our own share of writes is used up")
    run = f"/runs/octo/parser/{main.number}/1"
    return Busy(
        {
            "home": "/",
            "runs": "/runs",
            "run": run,
            "running": f"/runs/octo/parser/{running.number}/1",
            "waiting": f"/runs/octo/parser/{waiting.number}/1",
            "repositories": "/repositories",
            "repository": "/repositories/octo/parser",
            "no run fits": "/runs?q=unheard-of",
            "not found": "/runs/octo/parser/9999/1",
        },
        running,
        clock,
    )


def _report(kind: str, confidence: float) -> TriageReport:
    named = kind == "bug" and confidence > 0.5
    cause = FOUND.root_cause if named else None
    return FOUND.model_copy(update={"kind": kind, "confidence": confidence, "root_cause": cause})


async def _main(store: Store, clock: Clock) -> IssueRef:
    """Store a run with everything: a question, a rejected draft, parallel specialists."""
    trace = (
        *TRACE[:2],
        entry("supervisor", "codebase_search", 1, confidence=0.4, reason="The trace has to be read where it happened."),
        replace_duration(TRACE[3], 1_900),
        entry(
            "web_search",
            "3 results",
            1,
            confidence=0.3,
            reason="An issue of the dependency reads alike.",
            duration_ms=1_300,
        ),
        *TRACE[4:7],
        entry(
            "writer", "retry", 3, confidence=0.52, reason="A quote no longer stood where it was cited.", duration_ms=640
        ),
        entry("supervisor", "codebase_search", 4, guard="critic_verdict", reason="Search wider."),
        *(later(one) for one in (replace_duration(TRACE[3], 900), *TRACE[4:])),
    )
    trace = tuple(one.model_copy(update={"judged_by": "gpt-4o"}) for one in trace)
    seen = visits(trace, clock.at)
    beside = next(n for n, one in enumerate(trace) if one.node == "web_search")
    start = seen[beside - 1].began + 0.004
    seen[beside] = seen[beside].model_copy(update={"began": start, "ended": start + 1.3})
    gap = [one.model_copy(update={"began": one.began + 7_200, "ended": (one.ended or 0) + 7_200}) for one in seen[7:]]
    report = DROPPED.model_copy(update={"evaluation": _RATED})
    ref = await ran(
        store,
        Ran(
            title="scan hangs on an open quote",
            number=412,
            report=report,
            metrics=METRICS,
            trace=trace,
            visits=[*seen[:7], *gap],
            comment=COMMENT,
            brain="gpt-4o",
        ),
    )
    await ask(store, ref, answer="2.4.1, on Debian 12")
    await store.usage.reserve([Scope("run", f"{ref.key}:1", "run")], Amount(calls=6, cost=69_150))
    return ref


def later(one: TraceEntry) -> TraceEntry:
    """Return the same step, three rounds later."""
    return one.model_copy(update={"iteration": one.iteration + 3})


def replace_duration(one: TraceEntry, milliseconds: int) -> TraceEntry:
    """Return the same step with a longer duration."""
    return one.model_copy(update={"duration_ms": milliseconds})


async def _running(store: Store, clock: Clock) -> IssueRef:
    seen = visits(TRACE[:5], clock.at)
    now = Visit(id="now", node="critic", began=clock.at + 1)
    title = "Reader drops the last line if it has no newline"
    return await ran(store, Ran(title=title, number=413, status="running", trace=TRACE[:5], visits=[*seen, now]))


async def _used(store: Store) -> None:
    for number in range(60):
        labels = '["bug", "area: parser"]' if number % 3 else '["enhancement"]'
        await store.for_issue(PARSER.issue(100 + number)).effects.set_wanted("labels", "", "h", labels)
    for number, label in ((101, "bug"), (104, "bug"), (105, "area: parser")):
        ref = IssueRef("github.com", 7, 9, "octo", "parser", number)
        await store.for_issue(ref).control.labelled(label, "rita", added=False)


async def _closed(store: Store, clock: Clock) -> None:
    """Store issues from April to October whose fixes were found or not."""
    for month in range(4, 11):
        for number in range(9):
            clock.at = datetime(2026, month, 2 + 3 * number, 10, tzinfo=UTC).timestamp()
            confidence = 0.38 + 0.06 * number
            report = _report("bug", round(confidence, 2))
            issue = 100 + 9 * month + number
            ref = await ran(store, Ran(title=_TITLES[number % 8], number=issue, report=report, gathered=[], visits=()))
            right = (7 * number + 3 * month) % 10 < 10 * confidence
            rank = 1 if right else 2 + (month + number) % 2 if number % 3 else 0
            lost = (month * number) % 13 == 5
            verdict = Verdict("unknown", why="no commit says so") if lost else Verdict("scored", rank, "f" * 40)
            await store.for_issue(ref).outcome.keep(verdict)
