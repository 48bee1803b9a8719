"""Publish the outcome of a run, then store its status and settle the job in one transaction."""

import time
from dataclasses import replace
from datetime import datetime

from bot.errors import MissingPermissionError, RefusedError, StoppedError, SuspendedError
from bot.jobs import Expire, Remind, Triage, Work
from bot.limits.writes import FIRST_REPORTS, WHOLE
from bot.ports import Issue, Outcome, Withheld, report_of
from bot.report.document import Result, build_result
from bot.report.record import read_record
from bot.settings.repository import FoundConfig
from bot.store.issues.past_issues import Crash
from bot.store.runs.issue_runs import Ending, Settlement
from bot.store.runs.outcomes import Reported
from bot.store.runs.rows import ListedRun, RunStatus
from bot.worker.issue_job import CurrentIssue, IssueJob, body_hash, explain_refusal
from bot.worker.publish.publisher import Publication, Published
from nodes.agents.writing.statement import function_of
from nodes.report import TriageReport
from nodes.state import Finished, Waiting
from nodes.trust.secrets import mask

_STATUS: dict[str, RunStatus] = {"quiet": "stopped", "moved": "failed"}
"""Status of a run whose publication wrote nothing.

"moved" is a failure, because the run left nothing at the issue's new place: a new run starts there.
"""


async def conclude(issue_job: IssueJob, seen: CurrentIssue, run: ListedRun, outcome: Outcome) -> None:
    """Publish, then store the run's status and settle the job in one transaction."""
    started = time.perf_counter()
    try:
        # Published before it is settled: after a crash in between, the next attempt publishes again, and markers and
        # stored intents prevent a second comment.
        published = await publish(issue_job, seen, run, outcome)
    except StoppedError as error:
        # Unless the issue itself ended, a person stopped triage or deleted our comment: mute it from now on.
        if (await issue_job.store.row.state()).ended is None:
            await issue_job.store.row.mute()
        published = Published("quiet", str(error))
    except SuspendedError:
        raise  # a RefusedError too, but the job is parked until the installation is active again
    except RefusedError as error:
        if isinstance(error, MissingPermissionError):
            await issue_job.record_missing_permission(error)
        published = Published("quiet", f"refused: {error}")
    if published.state == "quiet":
        await explain_refusal(issue_job, seen.found, seen.asked_in, f"No comment was written: {published.reason}.")
    await _settle(issue_job, seen, run, outcome, published)
    seconds = time.perf_counter() - started
    issue_job.log("run_published", f"{describe_publication(outcome, published)}; published in {seconds:.2f} s")


async def publish(
    issue_job: IssueJob, seen: CurrentIssue, run: ListedRun, outcome: Outcome, *, first: bool = False
) -> Published:
    """Publish an outcome with the stored data of its issue. ``first``: the model's report will replace this one."""
    await issue_job.check_writes_paused(seen.found, FIRST_REPORTS if first else WHOLE)
    inputs = await issue_job.store.report_inputs()
    # Limits are reported only where comments are allowed, once per repository and day.
    reports_limits = inputs.limited and seen.found.config.mode == "comment"
    before = await issue_job.store.runs.result_before(run.number) if seen.why == "answer" else None
    publication = Publication(
        issue_job.target(seen.found),
        run.number,
        outcome,
        inputs,
        why=seen.why,
        record=read_record(*inputs.standing),
        commanded=seen.commanded,
        limited=await issue_job.store.repository.limited.unreported(issue_job.ref.key) if reports_limits else (),
        before=Result.model_validate_json(before).report if before else None,
        text_hash=body_hash(seen.issue),
        first=first,
    )
    return await publication.publish()


async def _settle(
    issue_job: IssueJob, seen: CurrentIssue, run: ListedRun, outcome: Outcome, published: Published
) -> None:
    """Store the run's status and settle the job; of a run that ended, the checkpoint is deleted."""
    ref, quiet = issue_job.ref, published.state in ("quiet", "moved")
    report = report_of(outcome)
    follows: list[Work] = []
    waits = isinstance(outcome, Waiting) and not quiet
    if isinstance(outcome, Waiting) and waits:
        # The expiry is stored in the same transaction: a question without one could wait forever.
        question = outcome.exchange.question_id
        follows.append(Expire(ref=ref, question_id=question))
        days = seen.found.config.remind_after_days
        follows += [Remind(ref=ref, question_id=question, after=days * 86_400.0)] if days else []
    if published.moved_to is not None:
        follows.append(Triage(ref=published.moved_to, why="opened", moved_from=ref.key))
    end = Settlement(
        "waiting" if waits else _STATUS.get(published.state, "finished"),
        outcome.state.last_signal if isinstance(outcome, Waiting | Finished) else 0,
        unread=not quiet,
        result=_result(outcome, seen, published),
        reported=_reported(report) if report is not None and not quiet else None,
        ending=ending_of(report) if report is not None else None,
        crash=None if quiet else crash_of(seen.issue, outcome, seen.found, issue_job.tools.store.clock()),
    )
    message = f"{published.state} {published.reason}".strip()
    follows += await issue_job.pending_writes(seen.found)
    await issue_job.store.runs.settle(run.number, end, issue_job.job, message, next_work=follows)
    # After settling, as the next attempt would need the checkpoint. `prune` deletes it if a kill comes in between.
    if not waits:
        await issue_job.tools.checkpoints.adelete_thread(issue_job.store.thread(run.number))


def crash_of(issue: Issue, outcome: Outcome, found: FoundConfig, now: float) -> Crash | None:
    """Return the crashes that an issue's report names; None if there are none or alerts are off."""
    report = report_of(outcome)
    if report is None or not found.config.crash_alerts or report.kind == "security":
        return None
    if not report.fingerprints or issue.author_id is None:
        return None
    return Crash(report.fingerprints, issue.author_id, min(_seconds(issue.created_at), now))


def _seconds(timestamp: str) -> float:
    """Return GitHub's timestamp in seconds since 1970; infinity if it is not a time, which counts as now."""
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return float("inf")


def _result(outcome: Outcome, seen: CurrentIssue, published: Published) -> str | None:
    """Return the result to store, with the comment as it was posted; None without a report."""
    if not isinstance(outcome, Finished):
        return None
    result = build_result(outcome.state, language=seen.found.config.language, posted=published.comment)
    return result.model_dump_json()


def _reported(report: TriageReport) -> Reported:
    named = tuple(dict.fromkeys(suspect.path for suspect in report.suspects))
    return Reported(report.root_cause is not None, report.confidence if named else 0.0, named)


def ending_of(report: TriageReport) -> Ending:
    """Return the fields of a report that lists show."""
    ending = Ending(report.kind, report.root_cause is not None, report.confidence)
    # Lists show the same fields to all viewers, and only the operator may see the place of a weakness.
    if not ending.claimed or not report.suspects or report.kind == "security":
        return ending
    symbol = function_of(report) if report.statement == "claim" else None
    return replace(ending, place=mask(report.suspects[0].path), symbol=mask(symbol or ""))


def describe_publication(outcome: Outcome, published: Published) -> str:
    """Return one line on what was written, or why nothing was."""
    result = _describe_outcome(outcome)
    match published.state:
        case "moved":
            return "nothing was written: the issue was moved, and is triaged at its new place"
        case "quiet":
            return f"nothing was written: {published.reason or 'the run was stopped'}"
        case "dry-run":
            return f"nothing was written, since the mode is dry-run: {result}"
        case "labelled":
            return f"no comment, since the mode is label: {result}"
    if published.comment_id is None:
        return f"no comment, since it would say too little: {result}"
    return f"comment {published.comment_id} contains {result}"


def _describe_outcome(outcome: Outcome) -> str:
    report = report_of(outcome)
    if report is None:
        names = {Waiting: "a question to the reporter", Withheld: "a request to revoke a secret"}
        return names.get(type(outcome), "no report")
    cause = "the place of its change" if report.kind == "feature" else "a cause"
    found = f"with {cause}" if report.root_cause is not None else "without a cause"
    sure = f", confidence {report.confidence:.2f}" if report.root_cause is not None else ""
    count = len(report.suspects)
    return f"a report ({report.kind}) {found}, {count} {'place' if count == 1 else 'places'}{sure}"
