"""What a control-lane job means: it never waits behind a run, and a run in flight sees what it wrote."""

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
    """Run what is new of a comment's commands; a run in flight sees at once what they left."""
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
    """Try again what GitHub's limits postponed, as long as something is left.

    What fails now becomes a new job with a time of its own: one that is put off would delay the commands behind it.
    """
    try:
        found = await turn.config()
        await Replies.of(turn.publisher(turn.still_ours), turn.ref, found).catch_up()
        await _labels_left_over(turn, found)
        again = await turn.left_over(found, again=work.again + 1)
    except StoreError:
        raise
    except RetryableError as error:
        turn.log("left_over_postponed", str(error))
        again = (LeftOver(ref=turn.ref, again=work.again + 1),)
    await turn.tools.store.jobs.settle(turn.job, "again" if again else "all is done", next_work=again)


async def _labels_left_over(turn: Turn, found: FoundConfig) -> None:
    """Set a report's labels, unless a person said stop meanwhile."""
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
    """A person who deletes our report wants no other, until a person's command asks for one."""
    sticky = await turn.store.repository.effects.get(turn.ref.key, "sticky")
    if sticky is None or sticky.github_id != work.comment_id:
        return await turn.done("not the report")
    await turn.store.row.mute(muted=True)
    await turn.store.repository.effects.forget(turn.ref.key, "sticky")
    return await turn.done("muted")


async def ended(turn: Turn, work: Ended) -> None:
    """Note that the issue is over; only of a deleted one is nothing expected any more.

    A closed issue may be opened again, and one that was moved is taken over at its new place: what waits still waits.
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
    """Deliveries may come in any order; GitHub is asked only where a run would be cut off by an old one."""
    run = await turn.store.runs.last()
    if run is None or not run.unfinished:
        return False
    issue = await turn.github.issue(turn.ref.number)
    return issue is not None and issue.ref.key == turn.ref.key and issue.state == "open"


async def labelled(turn: Turn, work: Labelled) -> None:
    """Remember what a person did with a label, so that it is never undone."""
    await turn.store.people.labelled(work.label, work.actor, added=work.added)
    await turn.done("noted")


_STATES: dict[str, InstallationState] = {"deleted": "deleted", "suspend": "suspended"}


async def installation(job: Job, work: InstallationChanged, tools: Tools) -> None:
    """Note what is ours to read; what was laid aside while it was suspended is taken up again."""
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
    """Note what a repository is called and whether it can be written to."""
    known = tools.store.installations
    await known.add([work.ref])
    await known.archive(work.ref.key, archived=work.archived, private=work.private)
    if work.how == "deleted":
        await _remove(tools, [work.ref.key])
    await tools.store.jobs.settle(job, work.how)


async def _remove(tools: Tools, keys: Sequence[str]) -> None:
    """What was learnt of issues that are no longer ours to read is forgotten."""
    await tools.store.installations.remove(keys)
    for key in keys:
        await tools.store.past_of(key).clear()
