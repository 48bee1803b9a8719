"""Keep what is known of earlier issues up to date: learnt once, then told by every delivery."""

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
    """Have a repository's newest issues at hand for its first report; older ones follow as jobs.

    Where maintainers do not want that, what was learnt before is forgotten.
    """
    past = turn.store.repository.past
    begun = await past.begun()
    if begun and not config.earlier_issues:
        await past.clear()
    if begun or not config.earlier_issues:
        return
    rest = LearnPast(ref=turn.ref.repository)
    guid = f"learn_past:{turn.job.id}:{turn.job.attempt}"
    await turn.tools.store.inbox.accept(Arrival(guid, "learn_past", b"", (rest,)))
    await past.walked((), Walk())
    try:
        await learn_page(past, turn.github)
    except SuspendedError:
        raise
    except BotError as error:
        turn.log("past_issues_later", str(error))


async def learn(job: Job, ref: RepositoryRef, tools: Tools) -> None:
    """Read one page of a repository's old issues; the next one is another job, so that limits only delay it."""
    past = tools.store.for_repository(ref).past
    walk = await past.walk()
    if walk is None:
        return await tools.store.jobs.settle(job, "no longer wanted")
    if not is_enough(walk):
        walk = await learn_page(past, tools.github.for_repository(ref))
    more = [] if is_enough(walk) else [LearnPast(ref=ref)]
    return await tools.store.jobs.settle(job, f"{walk.seen} issues learnt", next_work=more)


async def look_again(turn: Turn) -> None:
    """Keep an issue as it is now, though nothing else is done about it."""
    await saw(turn, await turn.github.issue(turn.ref.number))


async def saw(turn: Turn, issue: Issue | None) -> None:
    """Keep an issue as it was just read; one that was moved is no longer here.

    Before a repository's issues are learnt nothing is kept of any.
    """
    if not await turn.store.repository.past.begun():
        return
    here = issue if issue is not None and issue.ref.key == turn.ref.key else None
    await see(turn.store.repository.past, turn.ref.number, here)


async def is_over(turn: Turn, work: Ended) -> None:
    """A closed issue is kept as closed; one that was deleted or moved away is forgotten."""
    past = turn.store.repository.past
    if work.how == "closed":
        await past.mark(turn.ref.number, is_open=False)
    else:
        await past.forget(turn.ref.number)
