"""Publish the outcome of a run, then store its status and settle the job in one transaction."""

from __future__ import annotations

import time
from dataclasses import replace

from bot.errors import (
    MissingPermissionError,
    RefusedError,
    StoppedError,
    SuspendedError,
)
from bot.jobs import Alert, Continue, Expire, LeftOver, Triage, Work
from bot.limits.writes import FIRST_REPORTS, WHOLE
from bot.ports import Outcome, Withheld
from bot.report.document import Result, build_result
from bot.report.record import read_record
from bot.store.runs.issue_runs import Ending, Run, RunStatus
from bot.store.runs.outcomes import Reported
from bot.worker.alerts import crash_of
from bot.worker.issue_job import CurrentIssue, IssueJob, body_hash, explain_refusal
from bot.worker.publish import Publication, Published
from bot.worker.runs.questions import reminders
from nodes.agents.writing.statement import function_of
from nodes.report import TriageReport
from nodes.state import Finished, Waiting
from nodes.trust.secrets import mask

_STATUS: dict[str, RunStatus] = {"quiet": "stopped", "moved": "failed"}
"""Status of a run whose publication wrote nothing.

"moved" is a failure, because the run left nothing at the issue's new place: a new run starts there.
"""


async def conclude(issue_job: IssueJob, seen: CurrentIssue, run: Run, outcome: Outcome) -> None:
    """Publish, then store the run's status and settle the job in one transaction."""
    started = time.perf_counter()
    try:
        # Published before it is settled: after a crash in between, the next attempt publishes again, and markers and
        # stored intents prevent a second comment.
        published = await publish(issue_job, seen, run, outcome)
    except StoppedError as error:
        # Unless the issue itself ended, a person stopped triage or deleted our comment: mute it from now on.
        if (await issue_job.store.row.state()).ended is None:
            await issue_job.store.row.mute(muted=True)
        published = Published("quiet", str(error))
    except SuspendedError:
        raise  # a RefusedError too, but the job is parked until the installation is active again
    except RefusedError as error:
        if isinstance(error, MissingPermissionError):
            await issue_job.record_missing_permission(error)
        published = Published("quiet", f"refused: {error}")
    if published.state == "quiet":
        await explain_refusal(issue_job, seen.found, seen.asked_in, f"No comment was written: {published.reason}.")
    left_over = await issue_job.pending_writes(seen.found)
    await _settle(issue_job, seen, run, outcome, published, left_over=left_over)
    seconds = time.perf_counter() - started
    issue_job.log("run_published", f"{describe_publication(outcome, published)}; published in {seconds:.2f} s")


async def publish(
    issue_job: IssueJob, seen: CurrentIssue, run: Run, outcome: Outcome, *, first: bool = False
) -> Published:
    """Publish an outcome with the stored data of its issue. ``first``: the model's report will replace this one."""
    await issue_job.check_writes_paused(seen.found, FIRST_REPORTS if first else WHOLE)
    inputs = await issue_job.store.report_inputs()
    # Limits are reported only where comments are allowed, once per repository and day.
    reports_limits = inputs.limited and seen.found.config.mode == "comment"
    publication = Publication(
        issue_job.ref,
        run.number,
        outcome,
        seen.found,
        inputs.questions,
        touched=inputs.touched,
        typed=inputs.typed,
        why=seen.why,
        relations=inputs.relations,
        record=read_record(*inputs.standing),
        commanded=seen.commanded,
        limited=await issue_job.store.repository.limited.unreported(issue_job.ref.key) if reports_limits else (),
        before=await _report_before(issue_job, run) if seen.why == "answer" else None,
        text_hash=body_hash(seen.issue),
        first=first,
    )
    return await issue_job.publisher().publish(publication)


async def _report_before(issue_job: IssueJob, run: Run) -> TriageReport | None:
    stored = await issue_job.store.runs.result_before(run.number)
    return Result.model_validate_json(stored).report if stored else None


async def _settle(
    issue_job: IssueJob,
    seen: CurrentIssue,
    run: Run,
    outcome: Outcome,
    published: Published,
    *,
    left_over: tuple[LeftOver, ...],
) -> None:
    """Store the run's status and settle the job.

    The checkpoint of a run that ended is deleted: the store has its result and what people wrote.
    """
    quiet = published.state in ("quiet", "moved")
    if isinstance(outcome, Waiting) and not quiet:
        await _settle_waiting(issue_job, seen, run, outcome, published, left_over=left_over)
        return
    await issue_job.store.runs.settle(
        run.number,
        _STATUS.get(published.state, "finished"),
        issue_job.job,
        last_signal=outcome.state.last_signal if isinstance(outcome, Waiting | Finished) else 0,
        result=_result(outcome, seen, published),
        reported=_reported(outcome) if not quiet else None,
        ending=ending_of(outcome.state.report if isinstance(outcome, Finished) else None),
        message=f"{published.state} {published.reason}".strip(),
        next_work=(*_triage_after_transfer(issue_job, published), *left_over),
        unread=None if quiet else lambda: Continue(ref=issue_job.ref),
        crash=None if quiet else crash_of(seen.issue, outcome, seen.found, issue_job.tools.store.clock()),
        alert=lambda storm, now: Alert(
            ref=replace(issue_job.ref, number=storm.issues[0]), fingerprint=storm.fingerprint, at=now
        ),
    )
    # After settling, as the next attempt would need the checkpoint. `prune` deletes it if a kill comes in between.
    await issue_job.tools.checkpoints.adelete_thread(issue_job.store.thread(run.number))


async def _settle_waiting(
    issue_job: IssueJob,
    seen: CurrentIssue,
    run: Run,
    outcome: Waiting,
    published: Published,
    *,
    left_over: tuple[LeftOver, ...],
) -> None:
    """Store that the run waits for an answer, and settle the job."""
    # The expiry is stored in the same transaction: a question without one could wait forever.
    expire = Expire(ref=issue_job.ref, question_id=outcome.exchange.question_id)
    await issue_job.store.runs.settle(
        run.number,
        "waiting",
        issue_job.job,
        last_signal=outcome.state.last_signal,
        message=published.state,
        next_work=(expire, *reminders(issue_job.ref, expire.question_id, seen.found.config), *left_over),
        unread=lambda: Continue(ref=issue_job.ref),
    )


def _result(outcome: Outcome, seen: CurrentIssue, published: Published) -> str | None:
    """Return the result to store, with the comment as it was posted; None without a report."""
    if not isinstance(outcome, Finished):
        return None
    result = build_result(outcome.state, language=seen.found.config.language, posted=published.comment)
    return result.model_dump_json()


def _reported(outcome: Outcome) -> Reported | None:
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if report is None:
        return None
    named = tuple(dict.fromkeys(suspect.path for suspect in report.suspects))
    return Reported(report.root_cause is not None, report.confidence if named else 0.0, named)


def ending_of(report: TriageReport | None) -> Ending | None:
    """Return the fields of a report that lists show; None without a report."""
    if report is None:
        return None
    ending = Ending(report.kind, report.root_cause is not None, report.confidence)
    # Lists show the same fields to all viewers, and only the operator may see the place of a weakness.
    if not ending.claimed or not report.suspects or report.kind == "security":
        return ending
    symbol = function_of(report) if report.statement == "claim" else None
    return replace(ending, place=mask(report.suspects[0].path), symbol=mask(symbol or ""))


def _triage_after_transfer(issue_job: IssueJob, published: Published) -> tuple[Work, ...]:
    """Return a triage job for the issue's new place, if it was moved during the run."""
    if published.moved_to is None:
        return ()
    return (Triage(ref=published.moved_to, why="opened", moved_from=issue_job.ref.key),)


def describe_publication(outcome: Outcome, published: Published) -> str:
    """Return one line on what was written, or why nothing was."""
    if published.state == "moved":
        return "nothing was written: the issue was moved, and is triaged at its new place"
    if published.state == "quiet":
        return f"nothing was written: {published.reason or 'the run was stopped'}"
    result = _describe_outcome(outcome)
    if published.state == "dry-run":
        return f"nothing was written, since the mode is dry-run: {result}"
    if published.state == "labelled":
        return f"no comment, since the mode is label: {result}"
    if published.comment_id is None:
        return f"no comment, since it would say too little: {result}"
    return f"comment {published.comment_id} contains {result}"


def _describe_outcome(outcome: Outcome) -> str:
    if isinstance(outcome, Waiting):
        return "a question to the reporter"
    if isinstance(outcome, Withheld):
        return "a request to revoke a secret"
    report = outcome.state.report if isinstance(outcome, Finished) else None
    return "no report" if report is None else _describe_report(report)


def _describe_report(report: TriageReport) -> str:
    places = f"{len(report.suspects)} {'place' if len(report.suspects) == 1 else 'places'}"
    if report.root_cause is not None:
        found = "the place of its change" if report.kind == "feature" else "a cause"
        return f"a report ({report.kind}) with {found}, {places}, confidence {report.confidence:.2f}"
    return f"a report ({report.kind}) without a cause, {places}"
