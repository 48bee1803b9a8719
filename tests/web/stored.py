"""The store of a server that ran for a while, written through the store's own interface."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.jobs import Job, Triage
from bot.ports import IssueRef, RepositoryRef
from bot.report.document import Result
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.issue_runs import Origin, Settlement
from bot.store.runs.outcomes import Reported, Verdict
from bot.store.runs.rows import RunStatus
from bot.store.runs.run_events import Visit, dump
from bot.store.tables import IssueStore, Store
from bot.worker.runs.conclude import ending_of
from nodes.evidence import Evidence, Locator
from nodes.report import CitationAudit, TriageReport
from nodes.state import HumanExchange, Metrics, RetryReason, TraceEntry, Usage
from tests.report.reports import FOUND, SHA, suspect

PARSER = RepositoryRef("github.com", 7, 9, "octo", "parser")
SECRET = RepositoryRef("github.com", 7, 91, "octo", "secret-plans")
QUOTE = (
    'def scan(text):\n    """Read `one` string."""\n    while True:  # until it ends\n'
    '        if advance(text) == "\\"":\n            return 1'
)
_numbers = itertools.count(1_001)  # reports of tests link to issues with smaller numbers


def entry(node: str, decision: str, number: int, **given: Any) -> TraceEntry:
    """Return a step of a run."""
    return TraceEntry(node=node, decision=decision, iteration=number, **{"duration_ms": 3, **given})


TRACE = (
    entry(
        *("supervisor", "investigator", 0),
        reason="Only one step is possible.",
        guard="investigator_first",
        confidence=0.0,
    ),
    entry("investigator", "bug", 0, confidence=0.7, reason="A stack trace names two places.", counts={"traces": 1}),
    entry("supervisor", "codebase_search", 1, confidence=0.4, reason="The trace has to be read where it happened."),
    entry(
        *("codebase_search", "2 places", 1),
        confidence=0.78,
        reason="Lexer.scan is on the reporter's stack trace.",
        counts={"candidates": 10, "kept": 2},
        duration_ms=420,
    ),
    entry("supervisor", "critic", 2, confidence=0.7, reason="Two findings agree; they are to be refuted first."),
    entry("critic", "APPROVED", 2, confidence=0.8, reason="Each claim names evidence that reads as quoted."),
    entry("supervisor", "writer", 3, confidence=0.8, reason="Confidence is high enough with two findings."),
    entry("writer", "accept", 3, confidence=0.78, reason="The report passed the quality gate.", duration_ms=35),
    entry("supervisor", "end", 4, reason="Only one step is possible.", guard="report_ends_the_run"),
)


def evidence(count: int = 6) -> list[Evidence]:
    """Return evidence of code, a commit and the issue: the first few as a report cites them."""
    found = [
        Evidence(
            kind="code",
            locator=Locator(path=f"parser/{name}.py", start_line=10, end_line=14, sha=SHA),
            symbol=f"{name.title()}.scan",
            quote=QUOTE,
            score=1 - number / (count + 1),
            reasons=("on the reporter's stack trace at line 11", "the report names `scan`"),
        )
        for number, name in enumerate(["lexer", "reader", *(f"module_{n}" for n in range(count))][:count])
    ]
    return [
        *found,
        Evidence(kind="commit", locator=Locator(sha="b" * 40), quote="Speed up the lexer", score=0.3),
        Evidence(kind="issue", quote="It hangs on an open quote.", score=0.2),
    ]


def visits(trace: Sequence[TraceEntry] = TRACE, began: float = 1_763_700_000.0) -> list[Visit]:
    """Return the steps as they were stored during the run."""
    found = []
    for one in trace:
        lasted = one.duration_ms / 1000
        found.append(Visit(id=f"{next(_numbers):08x}", node=one.node, began=began, ended=began + lasted, trace=(one,)))
        began += lasted + 0.001
    return found


ORIGIN = Origin("It hangs on an open quote.\n\nlexer 2.4.1 on Debian.", "rita", "opened")


@dataclass
class Ran:
    """The properties of a run that a test needs."""

    title: str = "scan hangs on an open quote"
    repository: RepositoryRef = PARSER
    status: RunStatus = "finished"
    report: TriageReport | None = FOUND
    trace: Sequence[TraceEntry] = TRACE
    gathered: list[Evidence] = field(default_factory=evidence)
    metrics: Metrics | None = None
    brain: str = "rules"
    visits: Sequence[Visit] | None = None
    comment: str = ""
    number: int = 0
    """The issue's number; 0 takes the next one."""
    origin: Origin = ORIGIN


METRICS = Metrics(
    confidence_history=(0.52, 0.78),
    retry_reasons=(
        RetryReason(
            iteration=4, confidence=0.52, reason="quality_issue_detected", citation_issue=True, hallucination=False
        ),
    ),
    last_citation_audit=FOUND.citation_audit,
    usage=Usage(calls=6, input_tokens=18_420, output_tokens=2_310),
    claims_dropped=2,
)
COMMENT = (
    "<!-- triage:report v=1 -->\n\n**Likely in [`lexer.py` L10-L14](https://github.com/octo/parser/blob/"
    + SHA
    + "/parser/lexer.py#L10-L14)** — `Lexer.scan`, which is on the reporter's stack trace.\n\n"
    "- It was checked that the quote stands at these lines.\n\n"
    "<details><summary>For maintainers</summary>\n\n| Path | Score |\n|---|---|\n| `parser/lexer.py` | 1.00 |\n"
    "\n</details>\n"
)


async def ran(store: Store, run: Ran) -> IssueRef:
    """Store a run as the worker does."""
    number = run.number or next(_numbers)
    ref = IssueRef(run.repository.host, 7, run.repository.id, run.repository.owner, run.repository.name, number)
    mine, job = store.for_issue(ref), await job_for(store, ref)
    row = await mine.runs.begin(())
    await mine.runs.pin(
        row.number, sha=SHA, brain=run.brain, config_hash="", body_hash="x", title=run.title, origin=run.origin
    )
    await mine.evidence(row.number).put(run.gathered)
    await mine.events(row.number).add(*map(dump, visits(run.trace) if run.visits is None else run.visits))
    if run.comment:
        await mine.effects.set_wanted("sticky", "", "h", run.comment)
        await mine.effects.record_done("sticky", "", "h", 5)
    if run.status != "running":
        await _settle(mine, row.number, job, run)
    return ref


async def job_for(store: Store, ref: IssueRef) -> Job:
    """Return a job that a worker has claimed."""
    await store.inbox.accept(Arrival(f"d{next(_numbers)}", "issues", b"", (Triage(ref=ref, why="command"),)))
    job = await store.jobs.claim("run", "me")
    assert job is not None
    return job


async def _settle(mine: IssueStore, number: int, job: Job, run: Ran) -> None:
    report = run.report if run.status == "finished" else None
    result, ending, reported = None, None, None
    if report is not None:
        keys = tuple(one.key for one in run.gathered)
        result = Result(report=report, trace=tuple(run.trace), metrics=run.metrics or METRICS, evidence=keys)
        ending = ending_of(report)
        named = tuple(one.path for one in report.suspects)
        reported = Reported(report.root_cause is not None, report.confidence, named)
    text = result.model_dump_json() if result else None
    end = Settlement(run.status, result=text, reported=reported, ending=ending)
    await mine.runs.settle(number, end, job)


async def ask(store: Store, ref: IssueRef, *, answer: str | None = None) -> None:
    """Store a question on an issue, and its outcome."""
    questions = store.for_issue(ref).questions
    exchange = HumanExchange(
        question="Which version does it happen with?",
        reason="Two releases differ in the lexer.",
        question_id="q1",
        options=("2.3", "2.4"),
    )
    await questions.ask(exchange)
    if answer is not None:
        await questions.settle("q1", "answered", answer=answer, answered_by="rita")


async def known(store: Store) -> None:
    """Store two repositories with the App installed."""
    await store.installations.note("github.com", 7, "octo", "active")
    await store.installations.add([PARSER, SECRET])


DROPPED = FOUND.model_copy(
    update={
        "citation_audit": CitationAudit(
            citations=4,
            fabricated=("E99",),
            failed=("E2",),
            uncited_claims=1,
            dropped=("no evidence cited: It is bad.",),
        )
    }
)
SECURITY = FOUND.model_copy(update={"kind": "security", "verdict": "A crafted file runs code in `parser/lexer.py`."})


async def scored(store: Store, months: int = 7, each: int = 6) -> None:
    """Store issues that were closed over some months, and whose fixes were found or not."""
    from datetime import UTC, datetime

    for month in range(months):
        at = datetime(2026, month + 1, 15, tzinfo=UTC).timestamp()
        for number in range(each):
            confidence = 0.35 + 0.6 * number / each
            report = FOUND.model_copy(update={"confidence": confidence, "suspects": (suspect(),)})
            ref = await ran(store, Ran(title=f"closed {month}.{number}", report=report, gathered=[], visits=()))
            outcome = store.for_issue(ref).outcome
            outcome._clock = lambda at=at: at  # type: ignore[method-assign]
            right = (month + number) % (7 - number) != 0
            await outcome.keep(Verdict("scored", 1 if right else 2 if number % 2 else 0, "f" * 40))
