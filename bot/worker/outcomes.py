"""Compare a report with the fix that landed."""

import asyncio
import logging
from pathlib import Path

from bot.errors import RefusedError, SuspendedError
from bot.jobs import Score
from bot.runs.fixes import gold_of
from bot.store.runs.outcomes import Outcome, Verdict
from bot.worker.issue_job import IssueJob
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError
from nodes.search.history.mainline import MainlineCommit, files_of, read_mainline, references, reverted

_NO_FIX = "no commit on the default branch closes the issue"
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
