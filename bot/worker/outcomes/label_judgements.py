"""Judge the last report by the labels that people changed after it: a label mapped to a folder names a place."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from bot.errors import RefusedError, SuspendedError
from bot.jobs import JudgeLabels
from bot.ports import Permission
from bot.settings.paths import is_below, path_inside
from bot.settings.repository import Labels
from bot.store.runs.label_judgements import LabelChange, LabelJudgement, LabelsAfter
from bot.store.runs.outcomes import Outcome
from bot.worker.issue_job import IssueJob
from bot.worker.outcomes.permissions import permissions_of
from nodes.search.git import Repository
from nodes.search.git.errors import SearchError

_AREA = re.compile(r"area: ?(\S.{0,199})", re.IGNORECASE)


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
    return tuple(one for one in found if one is not None)


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
