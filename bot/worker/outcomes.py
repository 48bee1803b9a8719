"""Compare a report with the fix that landed, and read the reactions of people to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from bot.errors import BotError, RefusedError, SuspendedError
from bot.github.repository import RepositoryClient
from bot.jobs import Score
from bot.ports import Judgement, Permission, RepositoryRef
from bot.runs.fixes import gold_of
from bot.store.access import StoredPermissions
from bot.store.runs.feedback import Feedback
from bot.store.runs.outcomes import Outcome, Unrated, Verdict
from bot.store.tables import Store
from bot.worker.issue_job import IssueJob
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.history.mainline import MainlineCommit, files_of, read_mainline, references, reverted

_NO_FIX = "no commit on the default branch closes the issue"
FRESH = 7 * 86_400.0
"""Seconds after which a permission is read again."""
MAX_READS = 5
"""Permissions that one call reads from GitHub."""
WITHIN, PAUSE = 14 * 86_400.0, 20 * 3_600.0
"""Seconds after a publication in which the ratings of a report are read, and seconds between two reads."""
MAX_REPORTS = 50
"""Maximum number of reports in one round."""
logger = logging.getLogger(__name__)


async def score(issue_job: IssueJob, work: Score) -> None:  # noqa: ARG001  the signature of all functions in the table
    """Search the mirror for the commit that closed the issue. If there is none yet, upkeep queues another search."""
    outcome, row = await issue_job.store.outcome.get(), await issue_job.store.row.state()
    if outcome is None or outcome.state == "scored" or row.ended != "closed":
        return await issue_job.settle("scored already, open again, or never reported")
    verdict = await _compared(issue_job, outcome)
    await issue_job.store.outcome.keep(verdict)
    issue_job.log("report_scored", f"{verdict.state} {verdict.why or f'rank {verdict.rank}'}")
    return await issue_job.settle(f"{verdict.state} {verdict.why}".strip())


async def _compared(issue_job: IssueJob, outcome: Outcome) -> Verdict:
    ref = issue_job.ref
    try:
        async with issue_job.tools.mirrors.ready(ref.repository, issue_job.github) as mirror:
            arguments = (mirror.directory, mirror.sha, outcome, ref.number, f"{ref.owner}/{ref.name}")
            return await asyncio.to_thread(compare, *arguments)
    except SuspendedError:
        raise
    except (RefusedError, SearchError):
        return Verdict("unknown", why="the code could not be read")


def compare(directory: Path, tip: str, outcome: Outcome, number: int, project: str) -> Verdict:
    """Find the first commit after the reported one that closes the issue, and rank the files that it changed.

    ``project`` is owner/name, to recognize references in commit messages that include it.

    Returns:
        "scored" with the 1-based rank of the first reported file that the fix changed (0: none), or "unknown" with
        the reason.
    """
    repository = Repository.open(directory)
    if not outcome.sha or repository.output("cat-file", "-e", f"{outcome.sha}^{{commit}}") is None:
        return Verdict("unknown", why="the reported commit no longer exists")
    fix = _fix(read_mainline(repository, tip, after=outcome.sha), number, project)
    if fix is None:
        return Verdict("unknown", why=_NO_FIX)
    gold = gold_of(repository, files_of(repository, [fix]).get(fix.sha, ()), fix.parent)
    if not gold:
        return Verdict("unknown", fix=fix.sha, why="the fix changed no source file that existed before it")
    rank = next((at for at, path in enumerate(outcome.reported.named, 1) if path in gold), 0)
    return Verdict("scored", rank, fix.sha)


def _fix(mainline: list[MainlineCommit], number: int, project: str) -> MainlineCommit | None:
    undone = {sha for landed in mainline for message in landed.messages for sha in reverted(message)}
    # Oldest first, because a part of the fix exists already when a later commit closes the issue.
    for landed in reversed(mainline):
        closes = any(number in references(message, project).closes for message in landed.messages)
        if closes and landed.parent and landed.sha not in undone:
            return landed
    return None


async def permissions_of(
    logins: Iterable[str], stored: StoredPermissions, github: RepositoryClient, now: float
) -> dict[str, Permission]:
    """Return the permissions of people by login; those that are not known yet are left out.

    People whose permission was never read come first, then those whose was read longest ago, so that each of many
    people has a turn after some calls.
    """
    names = list(dict.fromkeys(logins))
    known = await stored.of(names)
    never = (Permission.NONE, 0.0)
    due = [name for name in names if now - known.get(name.lower(), never)[1] > FRESH]
    # The sort is stable, so people of the same age stay in the order of their reactions.
    for name in sorted(due, key=lambda item: known.get(item.lower(), never)[1])[:MAX_READS]:
        permission = await github.permission(name)
        await stored.keep(name, permission)
        known[name.lower()] = (permission, now)
    return {name: known[name.lower()][0] for name in names if name.lower() in known}


async def read_ratings(store: Store, github_for: Callable[[RepositoryRef], RepositoryClient]) -> int:
    """Store the reactions to recent reports, those read longest ago first. Returns the number of reports read.

    Only reactions of people with at least the triage permission are stored, as with ``/triage right``.
    """
    due = await store.outcomes.unrated(within=WITHIN, pause=PAUSE, most=MAX_REPORTS)
    for item in due:
        try:
            found = await _ratings(store, github_for(item.ref.repository), item)
        except RefusedError:
            found = []  # archived or no longer accessible: nothing can be read there
        except BotError as error:
            logger.info("%s", error, extra={"action": "not_rated", "repository": item.ref.repository.key})
            continue
        await store.outcomes.keep_ratings(item, found)
    return len(due)


async def _ratings(store: Store, github: RepositoryClient, one: Unrated) -> list[Feedback]:
    # GitHub's times have whole seconds.
    ratings = [rating for rating in await github.ratings(one.comment_id) if rating.at >= int(one.published_at)]
    stored = store.for_repository(one.ref.repository).permissions
    # Each round reads the permissions of few people: many strangers must neither cost much nor hide a maintainer.
    may = await permissions_of((rating.login for rating in ratings), stored, github, store.clock())
    return [
        Feedback("reaction", rating.login, Judgement(right=rating.up), rating.at)
        for rating in ratings
        if may.get(rating.login, Permission.NONE) >= Permission.TRIAGE
    ]
