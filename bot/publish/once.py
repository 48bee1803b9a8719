"""Post once: an intent is committed before the POST, and after a doubt the thread is searched for our marker."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.errors import GoneError, OutcomeUnknownError, RetryableError, StoppedError
from bot.limits import WHOLE, Share
from bot.ports import Comment, Effect, EffectsPort, GitHubPort, IssueRef, OwnerCheck
from bot.report.thread import REPORT_MARKER, stamped, unstamped

GRACE = timedelta(seconds=15)
"""For so long a POST whose answer was lost may still be on its way."""

_RUN = re.compile(rf"\A({REPORT_MARKER}[^\n>]{{0,80}}) run=\d{{1,18}}")


def utc_now() -> datetime:
    """The time, aware."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Poster:
    """Comments on one issue, each found again by the marker it begins with."""

    github: GitHubPort
    effects: EffectsPort
    ref: IssueRef
    owner_check: OwnerCheck
    now: Callable[[], datetime] = utc_now
    share: Share = WHOLE
    """What its comments may fill of the writes."""

    async def put(
        self, kind: str, subject: str, marker: str, body: str, *, adopt: bool = False, anew: bool = False
    ) -> int:
        """Make a comment be there once and say this; returns its id.

        Args:
            kind: of the effect.
            subject: of the effect.
            marker: what the comment, and no other of ours, begins with.
            body: without a time; it is sent with one.
            adopt: look for a comment of ours even if the store knows of none, as after a transfer.
            anew: where a person deleted the comment, post another one.

        Raises:
            StoppedError: the comment was there and a person deleted it.
            RetryableError: whether it is there cannot be told yet, or GitHub asks to wait.
        """
        wanted = _digest(body)
        effect = await self.effects.want(self.ref.key, kind, subject, wanted, body)
        if effect.github_id is not None and anew and not await self.github.has_comment(effect.github_id):
            await self.effects.forget(self.ref.key, kind, subject)
            effect = await self.effects.want(self.ref.key, kind, subject, wanted, body)
        if effect.github_id is not None:
            if effect.done_hash != wanted:
                await self._edit(effect.github_id, body)
                await self.effects.done(self.ref.key, kind, subject, wanted)
            return effect.github_id
        found = await self._find(marker) if adopt or effect.intent_at is not None else None
        if found is None:
            comment_id = await self._post(effect, body)
        else:
            comment_id = found.id
            if _digest(unstamped(found.body)) != wanted:
                await self._edit(found.id, body)
        await self.effects.done(self.ref.key, kind, subject, wanted, comment_id)
        return comment_id

    async def _post(self, effect: Effect, body: str) -> int:
        self._wait_out(effect.intent_at)
        await self.owner_check()
        await self.effects.intent(self.ref.key, effect.kind, effect.subject)
        try:
            return (await self.github.create_comment(self.ref.number, self._stamped(body), self.share)).id
        except OutcomeUnknownError as error:
            raise OutcomeUnknownError(str(error), after=GRACE.total_seconds() + 1) from error

    def _wait_out(self, intent_at: datetime | None) -> None:
        """A POST that was begun a moment ago may arrive after we looked."""
        if intent_at is None:
            return
        left = (intent_at + GRACE - self.now()).total_seconds()
        if left > 0:
            raise RetryableError("a comment may be on its way", after=left + 1)

    async def _edit(self, comment_id: int, body: str) -> None:
        await self.owner_check()
        try:
            await self.github.edit_comment(comment_id, self._stamped(body), self.share)
        except GoneError as error:
            raise StoppedError("a person deleted our comment") from error

    async def _find(self, marker: str) -> Comment | None:
        comments = await self.github.comments(self.ref.number)
        return next((comment for comment in comments if comment.ours and comment.body.startswith(marker)), None)

    def _stamped(self, body: str) -> str:
        return stamped(body, self.now().strftime("%Y-%m-%d %H:%M"))


def _digest(body: str) -> str:
    """Names what a reader sees: the number of the run in the hidden marker is no difference."""
    return hashlib.sha256(_RUN.sub(r"\1", body.strip(), count=1).encode("utf-8", "surrogatepass")).hexdigest()
