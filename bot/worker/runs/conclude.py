"""Publish the outcome of a run, then store its status and settle the job in one transaction."""

from __future__ import annotations

import time

from bot.errors import (
    MissingPermissionError,
    RefusedError,
    StoppedError,
    SuspendedError,
)
from bot.jobs import Continue, Expire, LeftOver, Triage, Work
from bot.ports import Finished, Outcome, Waiting
from bot.report.document import build_result
from bot.report.record import read_record
from bot.store.runs import Ending, Run, RunStatus
from bot.store.runs.outcomes import Reported
from bot.worker.admission import explain_refusal
from bot.worker.issue_job import CurrentIssue, IssueJob
from bot.worker.publish import Publication, Published
from bot.worker.runs.posted import describe_publication

_STATUS: dict[str, RunStatus] = {"quiet": "stopped", "moved": "failed"}
"""Status of a run whose publication wrote nothing.

"moved" is a failure, because the run left nothing at the issue's new place: a new run starts there.
"""


async def conclude(issue_job: IssueJob, seen: CurrentIssue, run: Run, outcome: Outcome) -> None:
    """Publish, then store the run's status and settle the job in one transaction."""
    began = time.perf_counter()
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
    await _settle(issue_job, run, outcome, published, await issue_job.pending_writes(seen.found))
    seconds = time.perf_counter() - began
    issue_job.log("run_published", f"{describe_publication(outcome, published)}; published in {seconds:.2f} s")


async def publish(
    issue_job: IssueJob, seen: CurrentIssue, run: Run, outcome: Outcome, *, first: bool = False
) -> Published:
    """Publish an outcome with what the store knows. ``first``: a report by rules that the model's will replace."""
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
        why=seen.why,
        relations=inputs.relations,
        record=read_record(inputs.outcomes),
        commanded=seen.commanded,
        limited=await issue_job.store.repository.limited.unreported(issue_job.ref.key) if reports_limits else (),
        first=first,
    )
    return await issue_job.publisher().publish(publication)


async def _settle(
    issue_job: IssueJob, run: Run, outcome: Outcome, published: Published, left_over: tuple[LeftOver, ...]
) -> None:
    """Store the run's status and settle the job.

    The checkpoint of a run that ended is deleted: the store has its result and what people wrote.
    """
    quiet = published.state in ("quiet", "moved")
    # The expiry is stored in the same transaction: a question without one could wait for ever.
    if isinstance(outcome, Waiting) and not quiet:
        expire = Expire(ref=issue_job.ref, question_id=outcome.exchange.question_id)
        await issue_job.store.runs.settle(
            run.number,
            "waiting",
            issue_job.job,
            last_signal=outcome.state.last_signal,
            message=published.state,
            next_work=(expire, *left_over),
            unread=lambda: Continue(ref=issue_job.ref),
        )
        return
    await issue_job.store.runs.settle(
        run.number,
        _STATUS.get(published.state, "finished"),
        issue_job.job,
        last_signal=outcome.state.last_signal if isinstance(outcome, Waiting | Finished) else 0,
        result=build_result(outcome.state).model_dump_json() if isinstance(outcome, Finished) else None,
        reported=_reported(outcome) if not quiet else None,
        ending=_ending(outcome),
        message=f"{published.state} {published.reason}".strip(),
        next_work=(*_triage_after_transfer(issue_job, published), *left_over),
        unread=None if quiet else lambda: Continue(ref=issue_job.ref),
    )
    # After settling, as the next attempt would need the checkpoint. `prune` deletes it if a kill comes in between.
    await issue_job.tools.checkpoints.adelete_thread(issue_job.store.thread(run.number))


def _reported(outcome: Outcome) -> Reported | None:
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if report is None:
        return None
    named = tuple(dict.fromkeys(suspect.path for suspect in report.suspects))
    return Reported(report.root_cause is not None, report.confidence if named else 0.0, named)


def _ending(outcome: Outcome) -> Ending | None:
    report = outcome.state.report if isinstance(outcome, Finished) else None
    return Ending(report.kind, report.root_cause is not None, report.confidence) if report else None


def _triage_after_transfer(issue_job: IssueJob, published: Published) -> tuple[Work, ...]:
    """Return a triage job for the issue's new place, if it was moved during the run."""
    if published.moved_to is None:
        return ()
    return (Triage(ref=published.moved_to, why="opened", moved_from=issue_job.ref.key),)
