"""Compare a report with the fix that landed, and with the judgements of people: reactions and changed labels."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from bot.errors import BotError, RefusedError, SuspendedError
from bot.github.repository import RepositoryClient
from bot.jobs import JudgeLabels, Score
from bot.ports import Judgement, Permission, RepositoryRef
from bot.runs.fixes import gold_of
from bot.settings.repository import Labels, is_below, path_inside
from bot.store.access import StoredPermissions
from bot.store.runs.feedback import Feedback, LabelChange, LabelJudgement, LabelsAfter
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
_AREA = re.compile(r"area: ?(\S.{0,199})", re.IGNORECASE)


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


async def judge_labels(issue_job: IssueJob, work: JudgeLabels) -> None:  # noqa: ARG001  the signature of all functions in the table
    """Store the judgements of the current labels in place of the earlier ones; a removed label judges nothing.

    All is computed from the current state, so a repeated delivery or job changes nothing.
    """
    outcome = await issue_job.store.outcome.get()
    if outcome is None or not outcome.sha or not outcome.reported.named:
        return await issue_job.settle("no place was reported")
    labels = await issue_job.store.label_judgements.changes_after(outcome.run)
    config = (await issue_job.config()).config
    folders = folders_of([change.label for change in labels.changes], config.labels) if config.enabled else {}
    found = await _judged(issue_job, outcome, labels, folders) if folders else ()
    await issue_job.store.label_judgements.keep(outcome.run, found)
    return await issue_job.settle(f"{len(found)} labels judge the report")


def folders_of(labels: Sequence[str], known: Labels) -> dict[str, str]:
    """Return the path that each label is mapped to, by the configuration or by the form ``area: FOLDER``."""
    by_name = {label.casefold(): path for label, path in known.paths.items()}
    found = dict[str, str]()
    for label in labels:
        written = _AREA.fullmatch(label)
        path = by_name.get(label.casefold()) or (path_inside(written[1]) if written else None)
        if path is not None:
            found[label] = path
    return found


async def _judged(
    issue_job: IssueJob, outcome: Outcome, labels: LabelsAfter, folders: Mapping[str, str]
) -> tuple[LabelJudgement, ...]:
    issue = await issue_job.github.issue(issue_job.ref.number)
    if issue is None:
        return ()
    changes = [change for change in labels.changes if change.label in folders]
    stored, now = issue_job.store.repository.permissions, issue_job.tools.store.clock()
    may = await permissions_of((change.actor for change in changes), stored, issue_job.github, now)
    allowed = [change for change in changes if may.get(change.actor, Permission.NONE) >= Permission.WRITE]
    if not allowed:
        return ()
    existing = await _existing(issue_job, outcome.sha, {folders[change.label] for change in allowed})
    place = outcome.reported.named[0]
    present, ours = frozenset(map(str.casefold, issue.labels)), frozenset(map(str.casefold, labels.ours))
    found = (
        judgement_of(change, folders[change.label], place, present=present, ours=ours)
        for change in allowed
        if folders[change.label] in existing
    )
    return tuple(item for item in found if item is not None)


def judgement_of(
    change: LabelChange, folder: str, place: str, *, present: frozenset[str], ours: frozenset[str]
) -> LabelJudgement | None:
    """Return a label's judgement of the place of a report; None if it judges nothing.

    Args:
        change: the latest change of the label.
        folder: the path that the label is mapped to.
        place: the report's first file.
        present: the issue's current labels, casefolded.
        ours: labels that the App had set, casefolded. Only the removal of one of them is a judgement; a person who
        removes a person's label withdraws that judgement.
    """
    name, inside = change.label.casefold(), is_below(place, folder)
    if change.added and name in present:
        return LabelJudgement(change.label, change.actor, inside, "" if inside else f"`{folder}`", change.at)
    if not change.added and name not in present and name in ours and inside:
        return LabelJudgement(change.label, change.actor, right=False, why="", at=change.at)
    return None


async def _existing(issue_job: IssueJob, sha: str, folders: set[str]) -> frozenset[str]:
    """Return the paths that exist at the report's commit; a label for any other path judges nothing."""
    try:
        async with issue_job.tools.mirrors.ready(issue_job.ref.repository, issue_job.github) as mirror:
            return await asyncio.to_thread(existing_paths, mirror.directory, sha, sorted(folders))
    except SuspendedError:
        raise
    except (RefusedError, SearchError):
        return frozenset()


def existing_paths(directory: Path, sha: str, paths: Sequence[str]) -> frozenset[str]:
    """Return which paths are files or folders of a commit."""
    repository = Repository.open(directory)
    return frozenset(path for path in paths if repository.under(sha, path))
