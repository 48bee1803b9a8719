"""Keep what is known of earlier issues up to date: learnt once, then told by every delivery."""

from __future__ import annotations

from bot.errors import BotError, SuspendedError
from bot.jobs import Ended, Job, LearnPast
from bot.past.learn import is_enough, learn_page, see
from bot.ports import Issue, RepositoryRef
from bot.store.deliveries import Arrival
from bot.worker.tools import Tools
from bot.worker.turn import Turn


async def begin_learning(turn: Turn) -> None:
    """Have a repository's newest issues at hand for its first report; older ones follow as jobs."""
    past = turn.store.repository.past
    if await past.walk() is not None:
        return
    rest = LearnPast(ref=turn.ref.repository)
    await turn.tools.store.inbox.accept(Arrival(f"learn_past:{turn.job.id}", "learn_past", b"", (rest,)))
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
    if walk is None or not is_enough(walk):
        walk = await learn_page(past, tools.github.for_repository(ref))
    more = [] if is_enough(walk) else [LearnPast(ref=ref)]
    await tools.store.jobs.settle(job, f"{walk.seen} issues learnt", next_work=more)


async def look_again(turn: Turn) -> None:
    """Keep an issue as it is now, though nothing else is done about it."""
    await saw(turn, await turn.github.issue(turn.ref.number))


async def saw(turn: Turn, issue: Issue | None) -> None:
    """Keep an issue as it was just read; one that was moved is no longer here."""
    here = issue if issue is not None and issue.ref.key == turn.ref.key else None
    await see(turn.store.repository.past, turn.ref.number, here)


async def is_over(turn: Turn, work: Ended) -> None:
    """A closed issue is kept as closed; one that was deleted or moved away is forgotten."""
    past = turn.store.repository.past
    if work.how == "closed":
        await past.mark(turn.ref.number, is_open=False)
    else:
        await past.forget(turn.ref.number)
