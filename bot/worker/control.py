"""Control-lane jobs: they never wait behind a run, and a running run sees at once what they stored."""

from __future__ import annotations

from collections.abc import Sequence

from bot.commands.edited import Edit
from bot.commands.obey import Heard, obey
from bot.errors import RetryableError, StoppedError
from bot.jobs import (
    Commands,
    CommentDeleted,
    Ended,
    InstallationChanged,
    Job,
    Labelled,
    LeftOver,
    RepositoryChanged,
    Score,
    Work,
)
from bot.publish.later import LATER, ReportLabels
from bot.publish.replies import Replies
from bot.repo_config import FoundConfig
from bot.store.database import StoreError
from bot.store.installations import InstallationState
from bot.worker.admission import may_answer
from bot.worker.past import is_over
from bot.worker.tools import Tools
from bot.worker.turn import Turn


async def commands(turn: Turn, work: Commands) -> None:
    """Run the new commands of a comment; a running run sees at once what they stored."""
    found = await turn.config()
    by_author = work.sender_id is not None and work.sender_id == work.comment.author_id
    edit = Edit(work.before, by_author) if work.edited else None
    may = lambda: may_answer(turn, work, found)  # noqa: E731
    heard = Heard(turn.ref, work.comment, work.sender, work.sender_id, found, may, edit)
    obeyed = await obey(heard, turn.store.control, turn.publisher(turn.still_ours))
    follows: list[Work] = [*await turn.left_over(found)]
    if obeyed.moved_to is not None:
        follows.append(work.model_copy(update={"ref": obeyed.moved_to}))
    await turn.tools.store.jobs.settle(turn.job, f"{obeyed.new} commands", next_work=follows)


async def left_over(turn: Turn, work: LeftOver) -> None:
    """Retry writes that GitHub's limits postponed; queue another job while some are left.

    A failure also queues a new job with its own time: retrying this one would delay the commands behind it.
    """
    try:
        found = await turn.config()
        await Replies.of(turn.publisher(turn.still_ours), turn.ref, found).catch_up()
        await _labels_left_over(turn, found)
        again = await turn.left_over(found, again=work.again + 1)
    # A StoreError is retryable, but the new job could not be stored either.
    except StoreError:
        raise
    except RetryableError as error:
        turn.log("left_over_postponed", str(error))
        again = (LeftOver(ref=turn.ref, again=work.again + 1),)
    await turn.tools.store.jobs.settle(turn.job, "again" if again else "all is done", next_work=again)


async def _labels_left_over(turn: Turn, found: FoundConfig) -> None:
    """Set the postponed labels of a report, or drop them if a person stopped triage meanwhile."""
    effects, key = turn.store.repository.effects, turn.ref.key
    if not any(one.kind == LATER for one in await effects.pending(key)):
        return
    labels, known = ReportLabels(turn.github, effects, turn.may_write, turn.lacks), await turn.store.known()
    row = await turn.store.row.state()
    issue = None if row.muted or row.ended else await turn.github.issue(turn.ref.number)
    try:
        await labels.catch_up(key, issue, found.config, set(known.touched))
    except StoppedError as error:
        turn.log("labels_dropped", str(error))
        await labels.catch_up(key, None, found.config, set())


async def comment_deleted(turn: Turn, work: CommentDeleted) -> None:
    """Mute the issue if a person deleted our report: no other is posted until a command asks for one."""
    sticky = await turn.store.repository.effects.get(turn.ref.key, "sticky")
    if sticky is None or sticky.github_id != work.comment_id:
        return await turn.done("not the report")
    await turn.store.row.mute(muted=True)
    await turn.store.repository.effects.forget(turn.ref.key, "sticky")
    return await turn.done("muted")


async def ended(turn: Turn, work: Ended) -> None:
    """Record that the issue was closed, deleted or transferred. Only deletion withdraws questions and stops the run.

    A closed issue may be reopened, and a transferred one is taken over at its new place: a waiting run still waits.
    """
    if work.how == "closed" and await _is_open_again(turn):
        return await turn.done("it is open again")
    await turn.store.row.end(work.how, work.moved_to)
    await is_over(turn, work)
    if work.how != "deleted":
        reported = work.how == "closed" and await turn.store.outcome.get() is not None
        then = [Score(ref=turn.ref)] if reported else []
        return await turn.tools.store.jobs.settle(turn.job, work.how, next_work=then)
    for question in await turn.store.repository.questions.all(turn.ref.key):
        await turn.store.repository.questions.settle(turn.ref.key, question.question_id, "withdrawn")
    run = await turn.store.runs.last()
    if run is None or run.status != "waiting":
        return await turn.done(work.how)
    await turn.store.runs.settle(run.number, "stopped", turn.job, said=work.how)
    return await turn.tools.checkpoints.adelete_thread(turn.store.thread(run.number))


async def _is_open_again(turn: Turn) -> bool:
    """Whether the issue was reopened, so that the "closed" delivery is outdated: deliveries may come in any order.

    GitHub is asked only if an unfinished run would be stopped.
    """
    run = await turn.store.runs.last()
    if run is None or not run.unfinished:
        return False
    issue = await turn.github.issue(turn.ref.number)
    return issue is not None and issue.ref.key == turn.ref.key and issue.state == "open"


async def labelled(turn: Turn, work: Labelled) -> None:
    """Store which label a person added or removed, so that the App never undoes it."""
    await turn.store.people.labelled(work.label, work.actor, added=work.added)
    await turn.done("noted")


_STATES: dict[str, InstallationState] = {"deleted": "deleted", "suspend": "suspended"}


async def installation(job: Job, work: InstallationChanged, tools: Tools) -> None:
    """Record which repositories are accessible. Jobs that were parked during a suspension are queued again."""
    known = tools.store.installations
    state = _STATES.get(work.how, "active")
    await known.note(work.host, work.id, work.account, state)
    await known.add(work.added)
    await _remove(tools, [f"{work.host}/{number}" for number in work.removed])
    ours = await known.of(work.host, work.id)
    if state == "deleted":
        await _remove(tools, ours)
    elif state == "active":
        await tools.store.jobs.unpark(ours)
    await tools.store.jobs.settle(job, work.how)


async def repository(job: Job, work: RepositoryChanged, tools: Tools) -> None:
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
        await tools.store.past_of(key).clear()
