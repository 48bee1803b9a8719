"""What commands want of GitHub: noted first, then done, so that a crash in between loses nothing."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import RefusedError
from bot.ports import CommandEffects, Effect, GitHubPort, IssueRef
from bot.publish.once import Poster
from bot.publish.reactions import Reactions
from bot.repo_config import FoundConfig

if TYPE_CHECKING:
    from bot.publish.publisher import Publisher

logger = logging.getLogger(__name__)
_REPLY: Final = "reply"
_LABELS: Final = "command-labels"


def reply_marker(subject: str) -> str:
    """The line by which a reply to a command is found again."""
    return f"<!-- triage:reply to={subject} -->"


@dataclass(frozen=True, slots=True)
class Replies:
    """The answers to the commands of one issue."""

    github: GitHubPort
    poster: Poster
    reactions: Reactions
    comments: bool
    """Does the configuration let us comment?"""
    labels: bool
    """Does it let us set labels?"""

    @classmethod
    def of(cls, publisher: Publisher, ref: IssueRef, found: FoundConfig) -> Replies:
        """Those of an issue, as its repository allows them."""
        github = publisher.github_for(ref.repository)
        return cls(
            github=github,
            poster=Poster(github, publisher.effects, ref, publisher.owner_check, publisher.now),
            reactions=publisher.reactions(ref, found),
            comments=found.config.mode == "comment",
            labels=found.config.mode != "dry-run",
        )

    async def note(self, comment_id: int, ordinal: int, effects: CommandEffects) -> None:
        """Keep what a command wants of GitHub."""
        subject = f"{comment_id}.{ordinal}"
        if effects.reply is not None and self.comments:
            await self._want(_REPLY, subject, f"{reply_marker(subject)}\n\n{effects.reply}\n")
        if (effects.add_labels or effects.remove_labels) and self.labels:
            await self._want(_LABELS, subject, json.dumps([effects.add_labels, effects.remove_labels]))
        if effects.reaction is not None:
            await self.reactions.note(effects.reaction, comment_id)

    async def tell_why_not(self, comment_id: int, why: str) -> None:
        """Note that nothing comes of a command that was taken, and why."""
        if self.comments:
            subject = f"{comment_id}.why"
            await self._want(_REPLY, subject, f"{reply_marker(subject)}\n\n{why}\n")
        await self.reactions.note("confused", comment_id)

    async def catch_up(self) -> None:
        """Do what was noted and not done, from this comment or an earlier one."""
        for effect in await self.poster.effects.pending(self.poster.ref.key):
            if effect.kind in (_REPLY, _LABELS):
                await self._settle(effect)
        await self.reactions.catch_up()

    async def _want(self, kind: str, subject: str, payload: str) -> None:
        digest = hashlib.sha256(payload.strip().encode("utf-8", "surrogatepass")).hexdigest()
        await self.poster.effects.want(self.poster.ref.key, kind, subject, digest, payload)

    async def _settle(self, effect: Effect) -> None:
        try:
            if effect.kind == _REPLY:
                await self.poster.put(_REPLY, effect.subject, reply_marker(effect.subject), effect.payload)
                return
            await self._labels(effect)
        except RefusedError as error:
            logger.info("reply refused", extra={"action": "reply.refused", "reason": str(error)})
            await self.reactions.correct(int(effect.subject.partition(".")[0]))
        await self.poster.effects.done(self.poster.ref.key, effect.kind, effect.subject, effect.wanted_hash)

    async def _labels(self, effect: Effect) -> None:
        add, remove = json.loads(effect.payload)
        if add:
            await self.poster.owner_check()
            await self.github.add_labels(self.poster.ref.number, add)
        for label in remove:
            await self.poster.owner_check()
            await self.github.remove_label(self.poster.ref.number, label)
