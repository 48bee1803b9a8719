"""Posts a comment once: the intent is stored before the POST; if its result is unknown, the marker is searched for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.errors import GoneError, OutcomeUnknownError, RateLimitedError, RefusedError, RetryableError, StoppedError
from bot.github.repository import RepositoryClient
from bot.limits.writes import WHOLE, WriteBudget
from bot.ports import Comment, Effect, IssueRef, OwnerCheck
from bot.report.comment.thread import REPORT_MARKER, with_time, without_time
from bot.store.effects import Effects

GRACE = timedelta(seconds=15)
"""Seconds for which a POST whose response was lost may still be executed."""

# The repetition is bounded, so that a hostile body costs linear time.
_RUN = re.compile(rf"\A({REPORT_MARKER}[^\n>]{{0,80}}) run=\d{{1,18}}")


def utc_now() -> datetime:
    """Return the current time with its time zone."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Poster:
    """Posts and edits comments on one issue, and finds each by the marker at its beginning."""

    github: RepositoryClient
    effects: Effects
    ref: IssueRef
    owner_check: OwnerCheck
    now: Callable[[], datetime] = utc_now
    budget: WriteBudget = WHOLE
    """The part of the write budget that its comments may use."""

    async def put(
        self, kind: str, subject: str, marker: str, body: str, *, adopt: bool = False, repost: bool = False
    ) -> int:
        """Ensure that a comment exists exactly once with this text; return its id.

        Args:
            kind: The effect's kind.
            subject: The effect's subject.
            marker: The beginning of the comment; no other comment of ours has it.
            body: The text without a time; the time is added when it is sent.
            adopt: Search for a comment of ours even if the store has none, as after a transfer.
            repost: If a person deleted the comment, post another one.

        Raises:
            StoppedError: A person deleted the comment.
            RetryableError: It is still unknown whether the comment exists, or GitHub asks to wait.
        """
        wanted = _digest(body)
        effect = await self.effects.set_wanted(self.ref.key, kind, subject, wanted, body)
        # Only a command may repost. Otherwise a person who deleted the comment did not want it.
        if effect.github_id is not None and repost and not await self.github.has_comment(effect.github_id):
            await self.effects.forget(self.ref.key, kind, subject)
            effect = await self.effects.set_wanted(self.ref.key, kind, subject, wanted, body)
        if effect.github_id is not None:
            if effect.done_hash != wanted:
                await self._edit(effect.github_id, body)
                await self.effects.record_done(self.ref.key, kind, subject, wanted)
            return effect.github_id
        # An intent without an id: a POST may have been executed whose response was lost.
        found = await self._find(marker) if adopt or effect.intent_at is not None else None
        if found is None:
            comment_id = await self._post(effect, body)
        else:
            comment_id = found.id
            if _digest(without_time(found.body)) != wanted:
                await self._edit(found.id, body)
        await self.effects.record_done(self.ref.key, kind, subject, wanted, comment_id)
        return comment_id

    async def _post(self, effect: Effect, body: str) -> int:
        self._wait_out(effect.intent_at)
        # Checked right before the write: a stop may arrive, or another attempt start, during the search.
        await self.owner_check()
        # Stored before the POST, so that the attempt after a crash searches the thread instead of posting again.
        await self.effects.record_intent(self.ref.key, effect.kind, effect.subject)
        try:
            return (await self.github.create_comment(self.ref.number, self._stamped(body), self.budget)).id
        except OutcomeUnknownError as error:
            raise OutcomeUnknownError(str(error), after=GRACE.total_seconds() + 1) from error
        except (RateLimitedError, RefusedError):
            # GitHub created nothing, so another comment on this issue need not wait for it.
            await self.effects.record_refusal(self.ref.key, effect.kind, effect.subject)
            raise

    def _wait_out(self, intent_at: datetime | None) -> None:
        """Raise RetryableError during the grace period: a POST that was just sent may be executed after our search."""
        if intent_at is None:
            return
        seconds_left = (intent_at + GRACE - self.now()).total_seconds()
        if seconds_left > 0:
            raise RetryableError("a comment may still be in transit", after=seconds_left + 1)

    async def _edit(self, comment_id: int, body: str) -> None:
        await self.owner_check()
        try:
            await self.github.edit_comment(comment_id, self._stamped(body), self.budget)
        except GoneError as error:
            raise StoppedError("a person deleted our comment") from error

    async def _find(self, marker: str) -> Comment | None:
        # By author and by the beginning of the text: people quote our marker, and may write it themselves.
        comments = await self.github.comments(self.ref.number)
        return next((comment for comment in comments if comment.ours and comment.body.startswith(marker)), None)

    def _stamped(self, body: str) -> str:
        return with_time(body, self.now().strftime("%Y-%m-%d %H:%M"))


def _digest(body: str) -> str:
    """Return a hash of the visible text, which excludes the run's number in the hidden marker."""
    return hashlib.sha256(_RUN.sub(r"\1", body.strip(), count=1).encode("utf-8", "surrogatepass")).hexdigest()
