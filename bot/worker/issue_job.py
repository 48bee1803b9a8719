"""One attempt of a job on one issue: its data, its permission to write, and whether the budgets admit its run."""

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from bot.errors import MissingPermissionError, RateLimitedError, RefusedError, StoppedError
from bot.github.repository import RepositoryClient
from bot.jobs import Commands, Job, LeftOver, Work
from bot.limits.ceilings import PERMISSION, Amount, ReachedCeiling, Scope, seconds_until_tomorrow
from bot.limits.writes import WHOLE, WriteBudget, installation_key
from bot.observability.measures import REACHED_LIMITS
from bot.ports import Issue, IssueRef, OwnerCheck, Permission, RepositoryRef
from bot.settings.repository import FoundConfig, find_config
from bot.store.runs.rows import ListedRun
from bot.store.tables import IssueStore, Store
from bot.worker.publish import replies
from bot.worker.publish.labels import LATER
from bot.worker.publish.publisher import Why
from bot.worker.publish.target import Target
from bot.worker.tools import Tools

_KNOWN = frozenset({"issues", "contents", "metadata"})
"""Permissions that the App asks for. Others count as "unknown", or GitHub would choose the values of a metric label."""
logger = logging.getLogger(__name__)
_LABELS = (replies.LABELS, LATER)
_QUESTION, _ANSWER = Amount(questions=1), Amount(answers=1)


async def note_missing(store: Store, ref: RepositoryRef, error: MissingPermissionError) -> None:
    """Record which permissions are missing. Reports and `/triage status` repeat it to maintainers."""
    named = ", ".join(sorted(set(error.permissions))) or "unknown"
    for name in sorted(_KNOWN & set(error.permissions)) or ["unknown"]:
        code = f"{PERMISSION}.{name}"
        message = f"the installation lacks a permission ({named}): grant it in the installation's settings on GitHub"
        logger.warning("%s: %s", message, error, extra={"action": "permission_missing", "limit": code})
        REACHED_LIMITS.labels(code).inc()
        await store.for_repository(ref).limited.note(code)


@dataclass(frozen=True, slots=True)
class CurrentIssue:
    """The issue as it is now, its repository's configuration, and the reason for the run."""

    issue: Issue
    found: FoundConfig
    why: Why
    commanded: bool = False
    asked_in: int | None = None
    """Id of the comment with that command."""
    asked_by: str = ""


@dataclass(frozen=True, slots=True)
class IssueJob:
    """One attempt of a job on an issue."""

    job: Job
    ref: IssueRef
    tools: Tools
    store: IssueStore
    github: RepositoryClient

    @classmethod
    def of(cls, job: Job, ref: IssueRef, tools: Tools) -> Self:
        """Build the attempt of a job."""
        return cls(job, ref, tools, tools.store.for_issue(ref), tools.github.for_repository(ref.repository))

    async def may_write(self) -> None:
        """Raise ``JobTakenOverError`` unless this attempt owns the job; ``StoppedError`` if a stop was requested."""
        row = await self.store.row.state_for(self.job)
        if row.muted or row.ended:
            raise StoppedError(row.ended or "a person stopped triage")

    async def check_ownership(self) -> None:
        """Raise ``JobTakenOverError`` unless this attempt owns the job; commands are answered on a muted issue too."""
        await self.tools.store.jobs.check(self.job)

    def target(self, found: FoundConfig, check: OwnerCheck | None = None, ref: IssueRef | None = None) -> Target:
        """Return the issue as this job writes to it.

        ``check`` precedes each write: `may_write`, as runs need it, or one for commands. ``ref`` is the issue as GitHub
        names it now.
        """
        return Target(
            ref or self.ref,
            found,
            self.store.effects,
            self.store.repository.effects,
            self.tools.github.for_repository,
            check or self.may_write,
            self._now,
            self.record_missing_permission,
        )

    async def check_writes_paused(self, found: FoundConfig, budget: WriteBudget = WHOLE) -> None:
        """Raise ``RateLimitedError`` if a publication would write while GitHub refuses writes."""
        if found.config.mode != "dry-run" and found.config.enabled:
            installation = installation_key(self.ref.host, self.ref.installation_id)
            await self.tools.store.writes.check_writes_paused(installation, budget)

    async def record_missing_permission(self, error: MissingPermissionError) -> None:
        """Record that the installation lacks a permission."""
        await note_missing(self.tools.store, self.ref.repository, error)

    def _now(self) -> datetime:
        """Return the time by the store's clock, which also stamps intents."""
        return datetime.fromtimestamp(self.tools.store.clock(), UTC)

    async def pending_writes(self, found: FoundConfig, *, again: int = 0) -> tuple[LeftOver, ...]:
        """Return a job that retries a reaction, answer or label that is allowed but not yet on GitHub; else nothing."""
        if found.config.mode == "dry-run" or not found.config.enabled:
            return ()
        pending = await self.store.effects.pending()
        kinds = _LABELS if found.config.mode == "label" else (*_LABELS, "reaction", replies.ANSWER)
        return (LeftOver(ref=self.ref, again=again),) if any(effect.kind in kinds for effect in pending) else ()

    async def config(self) -> FoundConfig:
        """Return the repository's current configuration. A valid one is stored as the last valid one."""
        stored = self.store.repository.config
        found = await find_config(self.github, await stored.last_valid())
        # Used while a later version is invalid, so that a typo in the file does not change what triage may do.
        if not found.faults and found.text:
            await stored.keep(found.text)
        if "language" in found.config.model_fields_set:
            return found
        # The operator's language applies where the configuration names none.
        language = {"language": self.tools.settings.triage_language}
        return replace(found, config=found.config.model_copy(update=language))

    async def settle(self, message: str, next_work: Sequence[Work] = ()) -> None:
        """Settle the job, with its follow-up work."""
        await self.tools.store.jobs.settle(self.job, message, next_work=next_work)

    async def limit_reached(self, code: str, message: str, *, count: bool = True) -> None:
        """Log and store which limit was reached, for a later report to say so once; ``count`` it as a metric too."""
        if count:
            REACHED_LIMITS.labels(code).inc()
        logger.warning(message, extra={"action": "limited", "limit": code})
        await self.store.repository.limited.note(code)

    def log(self, action: str, message: str) -> None:
        """Log the result of one step of the job, on one line."""
        logger.info(message, extra={"action": action, "job": self.job.id, "issue": self.ref.key})


def body_hash(issue: Issue) -> str:
    """Return 16 hexadecimal digits of a SHA-256 of an issue's title and body, independent of white space."""
    message = "\x00".join((" ".join(issue.title.split()), " ".join(issue.body.split())))
    return hashlib.sha256(message.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class OverLimitError(RefusedError):
    """A limit is reached and the issue is left alone; a maintainer's `/triage` still starts a run."""


async def admit(issue_job: IssueJob, issue: Issue, *, leave: int | None = None, by_author: bool = True) -> ListedRun:
    """Return the issue's unfinished run, or a new one that is counted.

    ``leave`` is a waiting run that is ended first; ``by_author`` is False if a maintainer asked for it. Raises
    ``RateLimitedError`` until tomorrow, or ``OverLimitError`` at the author's limit.
    """
    now = issue_job.tools.store.clock()
    day = issue_job.tools.budgets.day(issue_job.ref.repository, now)
    writer = issue_job.tools.budgets.writer(issue, now) if by_author else ()
    opened = await issue_job.store.runs.begin((*writer, *day), leave=leave)
    # The author's limit does not apply to people who may triage, so the run counts without the author's scopes.
    if isinstance(opened, ReachedCeiling) and opened.kind == "author" and issue.author:
        permission = await issue_job.github.permission(issue.author)
        opened = await issue_job.store.runs.begin(day, leave=leave) if permission >= Permission.TRIAGE else opened
    if isinstance(opened, ListedRun):
        return opened
    await issue_job.limit_reached(opened.code, str(opened))
    if opened.kind == "author":
        raise OverLimitError(str(opened))
    # ``limit=None``, because the limit is counted above and `instrumented` would count a named one again.
    raise RateLimitedError(str(opened), after=seconds_until_tomorrow(now), limit=None)


async def may_ask(issue_job: IssueJob, run: Scope) -> bool:
    """Count one question to a reporter. Returns False, without counting, if a budget is used up."""
    day = issue_job.tools.budgets.day(issue_job.ref.repository, issue_job.tools.store.clock())
    reached = await issue_job.tools.store.usage.reserve((run, *day), _QUESTION)
    if reached is not None:
        await issue_job.limit_reached(reached.code, f"{reached}; the report is written without asking")
    return reached is None


async def may_answer(issue_job: IssueJob, work: Commands) -> bool:
    """Count one comment whose commands are answered; False at a limit, which has no effect on people who may triage."""
    now = issue_job.tools.store.clock()
    scopes = issue_job.tools.budgets.answered(issue_job.ref.repository, work.sender_id or 0, now)
    reached = await issue_job.tools.store.usage.reserve(scopes, _ANSWER)
    if reached is None:
        return True
    if reached.kind == "author" and await issue_job.github.permission(work.sender) >= Permission.TRIAGE:
        return True
    await issue_job.limit_reached(reached.code, f"{reached}; a comment is not answered")
    return False


async def explain_refusal(issue_job: IssueJob, found: FoundConfig, asked_in: int | None, why: str) -> None:
    """Reply once to a command whose run does nothing. Without a command there is no reply."""
    if asked_in is None or not found.config.enabled:
        return
    target = issue_job.target(found, issue_job.check_ownership)
    await replies.note_refusal(target, asked_in, why)
    await replies.catch_up(target)
