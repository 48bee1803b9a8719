"""Control-lane jobs: they never wait behind a run, and a running run sees at once what they stored."""

from collections.abc import Sequence

from bot import jobs
from bot.errors import RefusedError, RetryableError, StoppedError
from bot.limits.writes import REPLIES
from bot.ports import IssueRef
from bot.report.comment.sticky import alert_comment
from bot.settings.repository import FoundConfig
from bot.store.databases.database import StoreError
from bot.store.installations import InstallationState
from bot.store.runs.issue_runs import Settlement
from bot.worker.commands.execute import execute
from bot.worker.issue_job import IssueJob, may_answer
from bot.worker.publish import replies
from bot.worker.publish.labels import LATER, put_postponed
from bot.worker.publish.wanted import reason_to_skip
from bot.worker.runs.steps import mark_ended
from bot.worker.tools import Tools

_STATES: dict[str, InstallationState] = {"deleted": "deleted", "suspend": "suspended"}


async def commands(issue_job: IssueJob, work: jobs.Commands) -> None:
    """Run the new commands of a comment; a running run sees at once what they stored."""
    found = await issue_job.config()
    # The installation of a stored job may be an earlier one.
    work = work.model_copy(update={"ref": issue_job.ref})
    target = issue_job.target(found, issue_job.check_ownership)
    result = await execute(work, issue_job.store, target, lambda: may_answer(issue_job, work))
    follows: list[jobs.Work] = [*await issue_job.pending_writes(found)]
    if isinstance(result, IssueRef):
        follows.append(work.model_copy(update={"ref": result}))
        result = 0
    await issue_job.settle(f"{result} commands", follows)


async def left_over(issue_job: IssueJob, work: jobs.LeftOver) -> None:
    """Retry writes that GitHub's limits postponed; another job, which delays no command, does what is left."""
    try:
        found = await issue_job.config()
        await replies.catch_up(issue_job.target(found, issue_job.check_ownership))
        await _labels_left_over(issue_job, found)
        again = await issue_job.pending_writes(found, again=work.again + 1)
    # A StoreError is retryable too, but is raised here, because the new job could not be stored either.
    except StoreError:
        raise
    except RetryableError as error:
        issue_job.log("left_over_postponed", str(error))
        again = (jobs.LeftOver(ref=issue_job.ref, again=work.again + 1),)
    await issue_job.settle("again" if again else "all is done", again)


async def _labels_left_over(issue_job: IssueJob, found: FoundConfig) -> None:
    """Set the postponed labels of a report, or drop them if a person stopped triage meanwhile."""
    target = issue_job.target(found)
    if not any(item.kind == LATER for item in await target.effects.pending()):
        return
    known = await issue_job.store.report_inputs()
    row = await issue_job.store.row.state()
    # A second check after the one before each write: labels that a stop overtook must be dropped, not retried forever.
    issue = None if row.muted or row.ended else await issue_job.github.issue(issue_job.ref.number)
    try:
        await put_postponed(target, issue, known.touched, typed=known.typed)
    except StoppedError as error:
        issue_job.log("labels_dropped", str(error))
        await put_postponed(target, None, ())


async def comment_deleted(issue_job: IssueJob, work: jobs.CommentDeleted) -> None:
    """Mute the issue if a person deleted our report: no other is posted until a command asks for one."""
    if await issue_job.store.effects.comment_id("sticky") != work.comment_id:
        return await issue_job.settle("not our report")
    await issue_job.store.row.mute()
    # Forgotten, so that a later `/triage` posts a new report instead of editing the deleted one.
    await issue_job.store.effects.forget("sticky")
    return await issue_job.settle("muted")


async def ended(issue_job: IssueJob, work: jobs.Ended) -> None:
    """Record that the issue was closed, deleted or transferred. Only deletion withdraws questions and stops the run.

    A closed issue may be reopened, and a transferred one is taken over at its new place: a waiting run still waits.
    """
    if work.how == "closed" and await _is_open_again(issue_job):
        return await issue_job.settle("it is open again")
    await issue_job.store.row.end(work.how, work.moved_to)
    await mark_ended(issue_job, work)
    if work.how != "deleted":
        reported = work.how == "closed" and await issue_job.store.outcome.get() is not None
        then = [jobs.Score(ref=issue_job.ref)] if reported else []
        return await issue_job.settle(work.how, then)
    # The issue is deleted: an answer is no longer possible, so the run ends too.
    for question in await issue_job.store.questions.all():
        await issue_job.store.questions.settle(question.question_id, "withdrawn")
    run = await issue_job.store.runs.last()
    if run is None or run.status != "waiting":
        return await issue_job.settle(work.how)
    await issue_job.store.runs.settle(run.number, Settlement("stopped"), issue_job.job, work.how)
    return await issue_job.tools.checkpoints.adelete_thread(issue_job.store.thread(run.number))


async def _is_open_again(issue_job: IssueJob) -> bool:
    """Return whether an issue was reopened since: deliveries come in any order. Asked only before a run stops."""
    run = await issue_job.store.runs.last()
    if run is None or not run.unfinished:
        return False
    issue = await issue_job.github.issue(issue_job.ref.number)
    return issue is not None and issue.ref.key == issue_job.ref.key and issue.state == "open"


async def labelled(issue_job: IssueJob, work: jobs.Labelled) -> None:
    """Store which label a person added or removed, so that the App never undoes it."""
    await issue_job.store.control.labelled(work.label, work.actor, added=work.added)
    await issue_job.settle("noted")


async def typed(issue_job: IssueJob, work: jobs.Typed) -> None:  # noqa: ARG001  the signature of all functions in the table
    """Store that a person set or removed the issue's type, so that the App leaves it alone."""
    await issue_job.store.row.decide_type()
    await issue_job.settle("noted")


async def alert(issue_job: IssueJob, work: jobs.Alert) -> None:
    """Comment on the first issue, unless the App leaves that issue alone; a repeated attempt writes nothing more."""
    storm = await issue_job.store.repository.past.recent_crashes(work.fingerprint, work.at)
    found = await issue_job.config()
    config = found.config
    if not config.crash_alerts:
        return await issue_job.settle("alerts are off")
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is not None and config.mode == "comment" and reason_to_skip(issue, config) is None:
        others = [number for number in storm.issues if number != issue_job.ref.number]
        try:
            body = alert_comment(storm.fingerprint, storm.reporters, others)
            target = issue_job.target(found, ref=issue.ref)
            await target.put("alert", storm.fingerprint, body, budget=REPLIES)
        except (RefusedError, StoppedError) as error:
            issue_job.log("alert.refused", f"alert refused: {error}")
    return await issue_job.settle(f"{storm.reporters} reporters")


async def installation(job: jobs.Job, work: jobs.InstallationChanged, tools: Tools) -> None:
    """Record which repositories are accessible. Jobs that were parked during a suspension are queued again."""
    known = tools.store.installations
    state = _STATES.get(work.how, "active")
    await known.note(work.host, work.id, work.account, state)
    await known.add(work.added)
    await _remove(tools, [f"{work.host}/{number}" for number in work.removed])
    keys = await known.of(work.host, work.id)
    if state == "deleted":
        await _remove(tools, keys)
    elif state == "active":
        await tools.store.jobs.unpark(keys)
    await tools.store.jobs.settle(job, work.how)


async def repository(job: jobs.Job, work: jobs.RepositoryChanged, tools: Tools) -> None:
    """Record a repository's name and whether it is archived, private or deleted."""
    known = tools.store.installations
    await known.add([work.ref])
    await known.archive(work.ref.key, archived=work.archived, private=work.private)
    if work.how == "deleted":
        await _remove(tools, [work.ref.key])
    await tools.store.jobs.settle(job, work.how)


async def _remove(tools: Tools, keys: Sequence[str]) -> None:
    """Remove repositories, and delete what was learnt from their issues."""
    await tools.store.installations.remove(keys)
    for key in keys:
        await tools.store.of_repository(key).past.clear()
