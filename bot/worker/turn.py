"""One attempt at one issue: what it is about, what it may use, and whether it may still write."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from bot.errors import MissingPermissionError, StoppedError
from bot.github.repository import RepositoryClient
from bot.jobs import Job, LeftOver
from bot.metrics.measures import LIMITS
from bot.ports import Issue, IssueRef, OwnerCheck
from bot.publish import Publisher
from bot.publish.later import LATER
from bot.publish.replies import ANSWER, LABELS
from bot.repo_config import FoundConfig
from bot.repo_config.find import find_config
from bot.store.tables import IssueStore
from bot.worker.permissions import note_missing
from bot.worker.tools import Tools

_LABELS = (LABELS, LATER)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Turn:
    """A job's claim on an issue."""

    job: Job
    ref: IssueRef
    tools: Tools
    store: IssueStore
    github: RepositoryClient

    @classmethod
    def of(cls, job: Job, ref: IssueRef, tools: Tools) -> Turn:
        """The turn of a job."""
        return cls(job, ref, tools, tools.store.for_issue(ref), tools.github.for_repository(ref.repository))

    async def may_write(self) -> None:
        """Return if this attempt still has the job and nobody told us to stop.

        Raises:
            NotOursError: another attempt has it.
            StoppedError: a person said stop, or the issue came to an end.
        """
        row = await self.store.row.state_for(self.job)
        if row.muted or row.ended:
            raise StoppedError(row.ended or "a person said stop")

    async def still_ours(self) -> None:
        """Return if this attempt still has the job; commands are answered on a muted issue too.

        Raises:
            NotOursError: another attempt has it.
        """
        await self.tools.store.jobs.check(self.job)

    def publisher(self, check: OwnerCheck | None = None) -> Publisher:
        """Writes what a run came to, or with a check of its own what a command did."""
        effects = self.store.repository.effects
        github = self.tools.github.for_repository
        return Publisher(github, effects, check or self.may_write, self._now, self.lacks)

    async def lacks(self, error: MissingPermissionError) -> None:
        """Say that the installation lacks a permission."""
        await note_missing(self.tools.store, self.ref.repository, error)

    def _now(self) -> datetime:
        """By the clock that intents are noted with: a wrong one here would cut short how long they are waited for."""
        return datetime.fromtimestamp(self.tools.store.clock(), UTC)

    async def left_over(self, found: FoundConfig, *, again: int = 0) -> tuple[LeftOver, ...]:
        """The job that tries again, if GitHub still lacks a reaction, an answer or labels that it may have."""
        if found.config.mode == "dry-run" or not found.config.enabled:
            return ()
        pending = await self.store.repository.effects.pending(self.ref.key)
        kinds = _LABELS if found.config.mode == "label" else (*_LABELS, "reaction", ANSWER)
        wanted = any(effect.kind in kinds for effect in pending)
        return (LeftOver(ref=self.ref, again=again),) if wanted else ()

    async def config(self) -> FoundConfig:
        """The configuration that holds for the repository; a valid one is kept as the last valid one."""
        kept = self.store.repository.config
        found = await find_config(self.github, await kept.last_valid())
        if not found.faults and found.text:
            await kept.keep(found.text)
        if not self.tools.bots:
            return found
        return _with_bots(found, self.tools.bots)

    async def done(self, said: str) -> None:
        """Settle the job without anything more."""
        await self.tools.store.jobs.settle(self.job, said)

    async def limited(self, code: str, said: str) -> None:
        """Count that a limit was met, and say so."""
        LIMITS.labels(code).inc()
        await self.met(code, said)

    async def met(self, code: str, said: str) -> None:
        """Say which limit was met: in the log, and later once to maintainers."""
        logger.warning(said, extra={"action": "limited", "limit": code})
        await self.store.repository.limited.note(code)

    def log(self, action: str, said: str) -> None:
        """One line on what became of the job."""
        logger.info(said, extra={"action": action, "job": self.job.id, "issue": self.ref.key})


def _with_bots(found: FoundConfig, bots: frozenset[str]) -> FoundConfig:
    config = found.config.model_copy(update={"bots": (*found.config.bots, *bots)})
    return replace(found, config=config)


def body_hash(issue: Issue) -> str:
    """Names what an issue says; white space makes it no other."""
    said = "\x00".join((" ".join(issue.title.split()), " ".join(issue.body.split())))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:16]
