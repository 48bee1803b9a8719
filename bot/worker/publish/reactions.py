"""Reactions for "seen", "done" and "refused". One that GitHub does not accept now never delays other work."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final, get_args

from bot.errors import RefusedError, RetryableError
from bot.github.repository import RepositoryClient
from bot.ports import Effect, IssueRef, OwnerCheck, Reaction
from bot.store.effects import Effects

logger = logging.getLogger(__name__)
_KIND: Final = "reaction"


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
            if target == "issue":
                await self.github.react_to_issue(self.ref.number, content)
            else:
                await self.github.react_to_comment(int(target), content)
        except RetryableError as error:
            logger.info("reaction postponed", extra={"action": "reaction.later", "reason": str(error)})
            return
        except RefusedError as error:
            logger.info("reaction refused", extra={"action": "reaction.refused", "reason": str(error)})
        # A refused reaction counts as done too, because GitHub would refuse it again.
        await self.effects.record_done(self.ref.key, _KIND, subject, content)
