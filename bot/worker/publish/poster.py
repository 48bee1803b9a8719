"""Comments that exist once, reactions, and the comment on faults of the configuration: the intent is stored first."""

import hashlib
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, get_args

from bot.errors import GoneError, OutcomeUnknownError, RateLimitedError, RefusedError, RetryableError, StoppedError
from bot.github.repository import RepositoryClient
from bot.limits.writes import WHOLE, WriteBudget
from bot.ports import Comment, Effect, IssueRef, OwnerCheck, Reaction
from bot.report.comment.thread import REPORT_MARKER, with_time, without_time
from bot.report.sanitise import prose
from bot.settings.repository_file import PATH, FoundConfig
from bot.store.effects import Effects

GRACE = timedelta(seconds=15)
"""Seconds for which a POST whose response was lost may still be executed."""
# The repetition is bounded, so that a hostile body costs linear time.
_RUN = re.compile(rf"\A({REPORT_MARKER}[^\n>]{{0,80}}) run=\d{{1,18}}")
logger = logging.getLogger(__name__)
_KIND: Final = "reaction"


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


@dataclass(frozen=True, slots=True)
class Reactions:
    """The reactions on one issue and its comments, each added once."""

    github: RepositoryClient
    effects: Effects
    ref: IssueRef
    owner_check: OwnerCheck
    allowed: bool
    """Whether the configuration allows visible reactions."""

    async def react(self, content: Reaction, comment_id: int | None = None) -> None:
        """React to a comment, or to the issue (None). What GitHub does not accept now is retried later."""
        effect = await self.note(content, comment_id)
        if effect is not None and effect.done_hash != content:
            await self._react(effect.subject)

    async def note(self, content: Reaction, comment_id: int | None = None) -> Effect | None:
        """Store that a reaction is wanted, if the configuration allows it."""
        if not self.allowed:
            return None
        return await self.effects.set_wanted(self.ref.key, _KIND, f"{comment_id or 'issue'}:{content}", content, "")

    async def correct(self, comment_id: int) -> None:
        """Replace a pending success reaction on a comment by a refusal."""
        done: Reaction = "rocket"
        subject = f"{comment_id}:{done}"
        effect = await self.effects.get(self.ref.key, _KIND, subject)
        # A reaction that is on GitHub already stays: the client cannot delete reactions.
        if effect is not None and effect.done_hash is None:
            await self.effects.forget(self.ref.key, _KIND, subject)
            await self.note("confused", comment_id)

    async def catch_up(self) -> None:
        """Add the reactions that are still pending."""
        for effect in await self.effects.pending(self.ref.key):
            if effect.kind == _KIND and self.allowed:
                await self._react(effect.subject)

    async def _react(self, subject: str) -> None:
        target, _, name = subject.partition(":")
        content: Reaction = next(known for known in get_args(Reaction) if known == name)
        await self.owner_check()
        try:
            where = {"issue": self.ref.number} if target == "issue" else {"comment": int(target)}
            await self.github.react(content, **where)
        except RetryableError as error:
            logger.info("reaction postponed", extra={"action": "reaction.later", "reason": str(error)})
            return
        except RefusedError as error:
            logger.info("reaction refused", extra={"action": "reaction.refused", "reason": str(error)})
        # A refused reaction counts as done too, because GitHub would refuse it again.
        await self.effects.record_done(self.ref.key, _KIND, subject, content)


@dataclass(frozen=True, slots=True)
class ConfigFaults:
    """The faults of the configuration that one issue's run read."""

    effects: Effects
    ref: IssueRef
    found: FoundConfig

    async def note(self) -> str:
        """Return the faults for the first comment after they appeared; else an empty string."""
        if self.found.config.mode != "comment" or not await self._claims_report():
            return ""
        return f"{first_faults(self.found)} Until it is fixed, the last valid version applies."

    async def post(self, poster: Poster) -> None:
        """Post one comment per repository, if the faults alone prevent all other writes."""
        if not self.found.may_tell or not await self._claims_report():
            return
        marker = f"<!-- triage:config {self.found.digest} -->"
        faults = first_faults(self.found)
        message = f"For maintainers: {faults} Until it is fixed, triage writes nothing else here."
        await poster.put("config", self.found.digest, marker, f"{marker}\n\n{message}\n")
        await self.record_reported()

    async def record_reported(self) -> None:
        """Record that a comment with the faults was posted."""
        if self.found.faults:
            await self.effects.record_done(self._key, "config", self.found.digest, self.ref.key)

    async def _claims_report(self) -> bool:
        """Return whether the faults are reported on this issue: the first issue that claims them."""
        if not self.found.faults:
            return False
        claimed = await self.effects.claim(self._key, "config", self.found.digest, self.ref.key)
        return claimed.payload == self.ref.key

    @property
    def _key(self) -> str:
        """The key of the repository's own effects: issue #0, which cannot exist on GitHub."""
        return f"{self.ref.repository.key}#0"


def first_faults(found: FoundConfig) -> str:
    """Return the first three faults, each with its line."""
    message = "; ".join(prose(str(fault)) for fault in found.faults[:3])
    return f"`{PATH}`, {message}{'' if message.endswith('?') else '.'}"
