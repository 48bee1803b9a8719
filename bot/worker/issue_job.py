"""One attempt of a job on one issue: its data, its tools, and its permission to write."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.errors import MissingPermissionError, StoppedError
from bot.github.repository import RepositoryClient
from bot.jobs import Job, LeftOver
from bot.limits.ceilings import PERMISSION
from bot.limits.writes import WHOLE, WriteBudget, installation_key
from bot.observability.measures import LIMITS
from bot.ports import Issue, IssueRef, OwnerCheck, RepositoryRef
from bot.settings.repository_file import FoundConfig, find_config
from bot.store.tables import IssueStore, Store
from bot.worker.publish import Publisher
from bot.worker.publish.labels import LATER
from bot.worker.publish.publisher import Why
from bot.worker.publish.replies import ANSWER, LABELS
from bot.worker.tools import Tools

_KNOWN = frozenset({"issues", "contents", "metadata"})
"""Permissions that the App asks for. Others count as "unknown", or GitHub would choose the values of a metric label."""

logger = logging.getLogger(__name__)


async def note_missing(store: Store, ref: RepositoryRef, error: MissingPermissionError) -> None:
    """Record which permissions are missing. Reports and `/triage status` repeat it to maintainers."""
    named = ", ".join(sorted(set(error.permissions))) or "unknown"
    for name in sorted(_KNOWN & set(error.permissions)) or ["unknown"]:
        code = f"{PERMISSION}.{name}"
        message = f"the installation lacks a permission ({named}): grant it in the installation's settings on GitHub"
        logger.warning("%s: %s", message, error, extra={"action": "permission_missing", "limit": code})
        LIMITS.labels(code).inc()
        await store.for_repository(ref).limited.note(code)


_LABELS = (LABELS, LATER)


@dataclass(frozen=True, slots=True)
class CurrentIssue:
    """The issue as it is now, its repository's configuration, and the reason for the run."""

    issue: Issue
    found: FoundConfig
    why: Why
    commanded: bool = False
    """A person's command started the run."""
    asked_in: int | None = None
    """Id of the comment with that command."""
    asked_by: str = ""
    """Login of that person."""


@dataclass(frozen=True, slots=True)
class IssueJob:
    """One attempt of a job on an issue."""

    job: Job
    ref: IssueRef
    tools: Tools
    store: IssueStore
    github: RepositoryClient

    @classmethod
    def of(cls, job: Job, ref: IssueRef, tools: Tools) -> IssueJob:
        """Build the attempt of a job."""
        return cls(job, ref, tools, tools.store.for_issue(ref), tools.github.for_repository(ref.repository))

    async def may_write(self) -> None:
        """Return if this attempt still owns the job and no stop was requested.

        Raises:
            JobTakenOverError: Another attempt owns the job.
            StoppedError: A person stopped triage, or the issue was closed, deleted or transferred.
        """
        row = await self.store.row.state_for(self.job)
        if row.muted or row.ended:
            raise StoppedError(row.ended or "a person stopped triage")

    async def check_ownership(self) -> None:
        """Return if this attempt still owns the job. Commands are answered on a muted issue too, so muting is ignored.

        Raises:
            JobTakenOverError: Another attempt owns the job.
        """
        await self.tools.store.jobs.check(self.job)

    def publisher(self, check: OwnerCheck | None = None) -> Publisher:
        """Build a publisher.

        Args:
            check: Called before each write. None: `may_write`, as runs need it; commands pass a check of their own.
        """
        effects = self.store.repository.effects
        github = self.tools.github.for_repository
        return Publisher(github, effects, check or self.may_write, self._now, self.record_missing_permission)

    async def check_writes_paused(self, found: FoundConfig, budget: WriteBudget = WHOLE) -> None:
        """Return if a publication may write or needs no write; checked first, since a refused one would read in vain.

        Raises:
            RateLimitedError: GitHub refused a write and asked to wait.
        """
        if found.config.mode != "dry-run" and found.config.enabled:
            installation = installation_key(self.ref.host, self.ref.installation_id)
            await self.tools.store.writes.check_writes_paused(installation, budget)

    async def record_missing_permission(self, error: MissingPermissionError) -> None:
        """Record that the installation lacks a permission."""
        await note_missing(self.tools.store, self.ref.repository, error)

    def _now(self) -> datetime:
        """Return the time by the store's clock, which also stamps intents.

        Another clock would shorten the wait for them.
        """
        return datetime.fromtimestamp(self.tools.store.clock(), UTC)

    async def pending_writes(self, found: FoundConfig, *, again: int = 0) -> tuple[LeftOver, ...]:
        """Return a job that retries a reaction, answer or label that is allowed but not yet on GitHub; else nothing."""
        if found.config.mode == "dry-run" or not found.config.enabled:
            return ()
        pending = await self.store.repository.effects.pending(self.ref.key)
        kinds = _LABELS if found.config.mode == "label" else (*_LABELS, "reaction", ANSWER)
        is_pending = any(effect.kind in kinds for effect in pending)
        return (LeftOver(ref=self.ref, again=again),) if is_pending else ()

    async def config(self) -> FoundConfig:
        """Return the repository's current configuration. A valid one is stored as the last valid one."""
        stored = self.store.repository.config
        found = await find_config(self.github, await stored.last_valid())
        # Used while a later version is invalid, so that a typo in the file does not change what triage may do.
        if not found.faults and found.text:
            await stored.keep(found.text)
        return _with_defaults(found, self.tools)

    async def settle(self, message: str) -> None:
        """Settle the job without follow-up work.

        Args:
            message: The result, one line.
        """
        await self.tools.store.jobs.settle(self.job, message)

    async def count_limit_reached(self, code: str, message: str) -> None:
        """Count and record that a limit was reached."""
        LIMITS.labels(code).inc()
        await self.limit_reached(code, message)

    async def limit_reached(self, code: str, message: str) -> None:
        """Log which limit was reached, and store it so that a later report informs maintainers once."""
        logger.warning(message, extra={"action": "limited", "limit": code})
        await self.store.repository.limited.note(code)

    def log(self, action: str, message: str) -> None:
        """Log the result of one step of the job, on one line."""
        logger.info(message, extra={"action": action, "job": self.job.id, "issue": self.ref.key})


def _with_defaults(found: FoundConfig, tools: Tools) -> FoundConfig:
    """Return the configuration with the operator's bots, and with the operator's language if it names none."""
    named = "language" in found.config.model_fields_set
    update = {
        "bots": (*found.config.bots, *tools.bots),
        "language": found.config.language if named else tools.language,
    }
    return replace(found, config=found.config.model_copy(update=update))


def body_hash(issue: Issue) -> str:
    """Return a hash of an issue's title and body, independent of white space.

    Returns:
        16 hexadecimal digits of a SHA-256.
    """
    message = "\x00".join((" ".join(issue.title.split()), " ".join(issue.body.split())))
    return hashlib.sha256(message.encode("utf-8", "surrogatepass")).hexdigest()[:16]
