"""The writes to one issue: comments that exist once, and reactions. The store knows each of them before GitHub does."""

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, get_args

from bot import errors
from bot.github.repository import RepositoryClient
from bot.limits.writes import WHOLE, WriteBudget
from bot.ports import Comment, Effect, IssueRef, OwnerCheck, Reaction, RepositoryRef
from bot.report.comment.thread import REPORT_MARKER, marker, with_time, without_time
from bot.report.sanitise import prose
from bot.settings.repository import PATH, FoundConfig
from bot.store.effects import Effects

GRACE = timedelta(seconds=15)
"""Seconds for which a POST whose response was lost may still be executed."""
# The repetition is bounded, so that a hostile body costs linear time.
_RUN = re.compile(rf"\A({REPORT_MARKER}[^\n>]{{0,80}}) run=\d{{1,18}}")
_KIND: Final = "reaction"
Lacks = Callable[[errors.MissingPermissionError], Awaitable[None]]
"""Called with a permission that the installation lacks."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Target:
    """One issue as a job may write to it; any operation may be repeated, after any failure and by another process."""

    ref: IssueRef
    found: FoundConfig
    effects: Effects
    shared: Effects
    """The effects of the repository."""
    github_for: Callable[[RepositoryRef], RepositoryClient]
    owner_check: OwnerCheck
    """Precedes every write."""
    now: Callable[[], datetime]
    lacks: Lacks

    @property
    def github(self) -> RepositoryClient:
        """The client of the issue's repository."""
        return self.github_for(self.ref.repository)

    async def put(
        self,
        kind: str,
        subject: str,
        body: str,
        *,
        begins: str = "",
        adopt: bool = False,
        repost: bool = False,
        budget: WriteBudget = WHOLE,
    ) -> int:
        """Ensure that a comment exists exactly once with this text; return its id.

        Args:
            kind: The effect's kind.
            subject: The effect's subject.
            body: The text without a time; the time is added when it is sent.
            begins: The beginning of the comment, which no other of ours has; by default its kind's marker.
            adopt: Search for a comment of ours even if the store has none, as after a transfer.
            repost: If a person deleted the comment, post another one.
            budget: The part of the write budget that the comment may use.

        Raises:
            StoppedError: A person deleted the comment.
            RetryableError: It is still unknown whether the comment exists, or GitHub asks to wait.
        """
        wanted = _digest(body)
        effect = await self.effects.set_wanted(kind, subject, wanted, body)
        # Only a command may repost. Otherwise a person who deleted the comment did not want it.
        if effect.github_id is not None and repost and not await self.github.has_comment(effect.github_id):
            await self.effects.forget(kind, subject)
            effect = await self.effects.set_wanted(kind, subject, wanted, body)
        comment_id, is_current = effect.github_id, effect.is_done
        # An intent without an id: a POST may have been executed whose response was lost.
        if comment_id is None and (adopt or effect.intent_at is not None):
            found = await self._ours(begins or marker(kind, subject))
            comment_id = found.id if found is not None else None
            is_current = found is not None and _digest(without_time(found.body)) == wanted
        if comment_id is None:
            comment_id = await self._post(effect, body, budget)
        elif not is_current:
            await self._edit(comment_id, body, budget)
        if not effect.is_done or effect.github_id is None:
            await self.effects.record_done(kind, subject, wanted, comment_id)
        return comment_id

    async def _ours(self, begins: str) -> Comment | None:
        """Return our comment with a beginning: people quote our marker, and may write it themselves."""
        comments = await self.github.comments(self.ref.number)
        return next((item for item in comments if item.ours and item.body.startswith(begins)), None)

    async def _edit(self, comment_id: int, body: str, budget: WriteBudget) -> None:
        await self.owner_check()
        try:
            await self.github.edit_comment(comment_id, self._stamped(body), budget)
        except errors.GoneError as error:
            raise errors.StoppedError("a person deleted our comment") from error

    async def _post(self, effect: Effect, body: str, budget: WriteBudget) -> int:
        if effect.intent_at is not None:
            # A POST that was just sent may be executed after our search.
            seconds_left = (effect.intent_at + GRACE - self.now()).total_seconds()
            if seconds_left > 0:
                raise errors.RetryableError("a comment may still be in transit", after=seconds_left + 1)
        # Checked right before the write: a stop may arrive, or another attempt start, during the search.
        await self.owner_check()
        # Stored before the POST, so that the attempt after a crash searches the thread instead of posting again.
        await self.effects.record_intent(effect.kind, effect.subject)
        try:
            return (await self.github.create_comment(self.ref.number, self._stamped(body), budget)).id
        except errors.OutcomeUnknownError as error:
            raise errors.OutcomeUnknownError(str(error), after=GRACE.total_seconds() + 1) from error
        except (errors.RateLimitedError, errors.RefusedError):
            # GitHub created nothing, so another comment on this issue need not wait for it.
            await self.effects.record_intent(effect.kind, effect.subject, refused=True)
            raise

    def _stamped(self, body: str) -> str:
        return with_time(body, self.now().strftime("%Y-%m-%d %H:%M"))

    async def react(self, content: Reaction, comment_id: int | None = None) -> None:
        """React to a comment, or to the issue (None). What GitHub does not accept now is retried later."""
        await self.want_reaction(content, comment_id)
        await self.add_reactions()

    async def want_reaction(self, content: Reaction, comment_id: int | None = None) -> None:
        """Store that a reaction is wanted, if the configuration allows visible reactions."""
        if self._may_react:
            await self.effects.set_wanted(_KIND, f"{comment_id or 'issue'}:{content}", content, "")

    async def correct_reaction(self, comment_id: int) -> None:
        """Replace a pending success reaction on a comment by a refusal."""
        subject = f"{comment_id}:rocket"
        effect = await self.effects.get(_KIND, subject)
        # A reaction that is on GitHub already stays: the client cannot delete reactions.
        if effect is not None and effect.done_hash is None:
            await self.effects.forget(_KIND, subject)
            await self.want_reaction("confused", comment_id)

    async def add_reactions(self) -> None:
        """Add the reactions that are still pending."""
        for effect in await self.effects.pending() if self._may_react else ():
            if effect.kind == _KIND:
                await self._react(effect.subject)

    @property
    def _may_react(self) -> bool:
        return self.found.config.mode == "comment" and self.found.config.enabled

    async def _react(self, subject: str) -> None:
        on, _, name = subject.partition(":")
        content: Reaction = next(known for known in get_args(Reaction) if known == name)
        await self.owner_check()
        where = {"issue": self.ref.number} if on == "issue" else {"comment": int(on)}
        try:
            await self.github.react(content, **where)
        except errors.RetryableError as error:
            logger.info("reaction postponed", extra={"action": "reaction.later", "reason": str(error)})
            return
        except errors.RefusedError as error:
            logger.info("reaction refused", extra={"action": "reaction.refused", "reason": str(error)})
        # A refused reaction counts as done too, because GitHub would refuse it again.
        await self.effects.record_done(_KIND, subject, content)

    async def config_note(self) -> str:
        """Return the faults of the configuration for the first comment after they appeared; else an empty string."""
        if self.found.config.mode != "comment" or not await self._claims_faults():
            return ""
        return f"{first_faults(self.found)} Until it is fixed, the last valid version applies."

    async def post_config_faults(self) -> None:
        """Post one comment per repository, if the faults alone prevent all other writes."""
        if not self.found.may_tell or not await self._claims_faults():
            return
        begins, faults = f"<!-- triage:config {self.found.digest} -->", first_faults(self.found)
        message = f"For maintainers: {faults} Until it is fixed, triage writes nothing else here."
        await self.put("config", self.found.digest, f"{begins}\n\n{message}\n", begins=begins)
        await self.record_faults_reported()

    async def record_faults_reported(self) -> None:
        """Record that a comment with the faults was posted."""
        if self.found.faults:
            await self.shared.record_done("config", self.found.digest, self.ref.key)

    async def _claims_faults(self) -> bool:
        """Return whether the faults are reported on this issue: the first issue that claims them."""
        if not self.found.faults:
            return False
        key = self.ref.key
        claimed = await self.shared.set_wanted("config", self.found.digest, key, key, first_wins=True)
        return claimed.payload == key


def _digest(body: str) -> str:
    """Return a hash of the visible text, which excludes the run's number in the hidden marker."""
    return hashlib.sha256(_RUN.sub(r"\1", body.strip(), count=1).encode("utf-8", "surrogatepass")).hexdigest()


def first_faults(found: FoundConfig) -> str:
    """Return the first three faults, each with its line."""
    message = "; ".join(prose(str(fault)) for fault in found.faults[:3])
    return f"`{PATH}`, {message}{'' if message.endswith('?') else '.'}"
