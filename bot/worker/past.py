"""Keeps the index of a repository's earlier issues up to date: built once, then updated by every delivery."""

from __future__ import annotations

from bot.errors import BotError, SuspendedError
from bot.jobs import Ended, Job, LearnPast
from bot.past.learn import is_enough, learn_page, see
from bot.ports import Issue, RepositoryRef
from bot.repo_config import RepositoryConfig
from bot.store.deliveries import Arrival
from bot.store.past_issues import Walk
from bot.worker.tools import Tools
from bot.worker.turn import Turn


async def begin_learning(turn: Turn, config: RepositoryConfig) -> None:
    """Index a repository's newest issues before its first report; jobs index the older ones.

    If the configuration does not want earlier issues, the index is deleted.
    """
    past = turn.store.repository.past
    begun = await past.begun()
    if begun and not config.earlier_issues:
        await past.clear()
    if begun or not config.earlier_issues:
        return
    rest = LearnPast(ref=turn.ref.repository)
    guid = f"learn_past:{turn.job.id}:{turn.job.attempt}"
    # Queued before the first page is read: if that read fails, the job still indexes every page.
    await turn.tools.store.inbox.accept(Arrival(guid, "learn_past", b"", (rest,)))
    await past.walked((), Walk())
    try:
        await learn_page(past, turn.github)
    except SuspendedError:
        raise
    except BotError as error:
        turn.log("past_issues_later", str(error))


async def learn(job: Job, ref: RepositoryRef, tools: Tools) -> None:
    """Index one page of a repository's old issues. A new job reads the next page, so limits only delay it."""
    past = tools.store.for_repository(ref).past
    walk = await past.walk()
    if walk is None:
        return await tools.store.jobs.settle(job, "no longer wanted")
    if not is_enough(walk):
        walk = await learn_page(past, tools.github.for_repository(ref))
    more = [] if is_enough(walk) else [LearnPast(ref=ref)]
    return await tools.store.jobs.settle(job, f"{walk.seen} issues learnt", next_work=more)


async def look_again(turn: Turn) -> None:
    """Read an issue and update the index only; nothing else is done about the issue."""
    await saw(turn, await turn.github.issue(turn.ref.number))


async def saw(turn: Turn, issue: Issue | None) -> None:
    """Update the index with an issue as it was just read. An issue that was transferred or deleted is removed.

    Nothing is stored before the repository's index was begun.
    """
    if not await turn.store.repository.past.begun():
        return
    here = issue if issue is not None and issue.ref.key == turn.ref.key else None
    await see(turn.store.repository.past, turn.ref.number, here)


async def is_over(turn: Turn, work: Ended) -> None:
    """Mark a closed issue as closed in the index; remove one that was deleted or transferred."""
    past = turn.store.repository.past
    if work.how == "closed":
        await past.mark(turn.ref.number, is_open=False)
    else:
        await past.forget(turn.ref.number)
