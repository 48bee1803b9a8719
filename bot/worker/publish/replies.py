"""Writes the results of commands to GitHub: stored first, then posted, with one reply for all commands of a comment."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bot.errors import RateLimitedError, RefusedError, StoppedError
from bot.limits.writes import REPLIES
from bot.ports import CommandEffects, Effect, IssueRef
from bot.report.sanitise import code
from bot.settings.repository_file import FoundConfig
from bot.worker.publish.poster import Poster, Reactions
from bot.worker.publish.publisher import Publisher

if TYPE_CHECKING:
    from bot.worker.commands.parse import Command

logger = logging.getLogger(__name__)
ANSWER: Final = "answer"
"""The answer to one command. The reply to its comment consists of these."""
_REPLY: Final = "reply"
LABELS: Final = "command-labels"
_LONGEST = 60_000
"""Characters of a reply; GitHub accepts at most 65,536."""
_TOO_LONG = "The reply does not fit here. Write this command in a separate comment."


def reply_marker(subject: str) -> str:
    """Return the line that identifies a reply to a comment."""
    return f"<!-- triage:reply to={subject} -->"


@dataclass(frozen=True, slots=True)
class Replies:
    """The replies to the commands of one issue, as far as the configuration allows comments and labels."""

    poster: Poster
    reactions: Reactions
    comments: bool
    labels: bool

    @classmethod
    def of(cls, publisher: Publisher, ref: IssueRef, found: FoundConfig) -> Replies:
        """Return the replies on an issue, as its repository's configuration allows them."""
        return cls(
            poster=publisher.poster(ref, REPLIES),
            reactions=publisher.reactions(ref, found),
            comments=found.config.mode == "comment",
            labels=found.config.mode != "dry-run",
        )

    async def note(self, comment_id: int, command: Command, effects: CommandEffects) -> None:
        """Store the reply, labels and reaction that a command leads to."""
        subject = f"{comment_id}.{command.ordinal}"
        if effects.reply is not None and self.comments:
            await self._want(ANSWER, subject, json.dumps([command.canonical, effects.reply]))
        if (effects.add_labels or effects.remove_labels) and self.labels:
            await self._want(LABELS, subject, json.dumps([effects.add_labels, effects.remove_labels]))
        if effects.reaction is not None:
            await self.reactions.note(effects.reaction, comment_id)

    async def explain_refusal(self, comment_id: int, why: str) -> None:
        """Store the reason why a command that was accepted does nothing."""
        if self.comments:
            subject = f"{comment_id}.why"
            await self._want(_REPLY, subject, f"{reply_marker(subject)}\n\n{why}\n")
        await self.reactions.note("confused", comment_id)

    async def catch_up(self) -> None:
        """Write what is stored but not written yet, for this comment or an earlier one.

        What GitHub's limits do not allow now stays stored for a later job, so that no command waits for it.
        """
        pending = await self.poster.effects.pending(self.poster.ref.key)
        try:
            # Labels come before the reply, which would otherwise announce a change that is not made yet.
            for effect in pending:
                if effect.kind == LABELS:
                    await self._settle(effect)
        except RateLimitedError as error:
            logger.info("labels postponed: %s", error, extra={"action": "labels.later"})
        try:
            for comment in dict.fromkeys(item.subject.partition(".")[0] for item in pending if item.kind == ANSWER):
                await self._reply(comment)
            for effect in pending:  # releases before 0.2 wrote one reply per command
                if effect.kind == _REPLY and "." in effect.subject:
                    await self._put(effect.subject, effect.payload)
        except RateLimitedError as error:
            logger.info("reply postponed: %s", error, extra={"action": "reply.later"})
        await self.reactions.catch_up()

    async def _want(self, kind: str, subject: str, payload: str) -> None:
        digest = hashlib.sha256(payload.strip().encode("utf-8", "surrogatepass")).hexdigest()
        await self.poster.effects.set_wanted(self.poster.ref.key, kind, subject, digest, payload)

    async def _reply(self, comment: str) -> None:
        """Write one reply with the answers to all commands of a comment."""
        effects, key = self.poster.effects, self.poster.ref.key
        answers = await effects.with_prefix(key, ANSWER, f"{comment}.")
        await self._put(comment, f"{reply_marker(comment)}\n\n{_combined(answers)}\n")
        for answer in answers:
            if answer.done_hash != answer.wanted_hash:
                await effects.record_done(key, ANSWER, answer.subject, answer.wanted_hash)

    async def _put(self, subject: str, body: str) -> None:
        poster = self.poster
        try:
            await poster.put(_REPLY, subject, reply_marker(subject), body)
        except (RefusedError, StoppedError) as error:  # a locked conversation, or a reply that a person deleted
            logger.info("reply refused", extra={"action": "reply.refused", "reason": str(error)})
            await self.reactions.correct(int(subject.partition(".")[0]))
            known = await poster.effects.get(poster.ref.key, _REPLY, subject)
            if known is not None:
                await poster.effects.record_done(poster.ref.key, _REPLY, subject, known.wanted_hash)

    async def _settle(self, effect: Effect) -> None:
        try:
            await self._labels(effect)
        except RefusedError as error:
            logger.info("labels refused", extra={"action": "labels.refused", "reason": str(error)})
            await self.reactions.correct(int(effect.subject.partition(".")[0]))
        await self.poster.effects.record_done(self.poster.ref.key, effect.kind, effect.subject, effect.wanted_hash)

    async def _labels(self, effect: Effect) -> None:
        add, remove = json.loads(effect.payload)
        if add:
            await self.poster.owner_check()
            await self.poster.github.add_labels(self.poster.ref.number, add)
        for label in remove:
            await self.poster.owner_check()
            await self.poster.github.remove_label(self.poster.ref.number, label)


def _combined(answers: list[Effect]) -> str:
    """Return the distinct answers in the order of their commands. If several remain, each names its commands."""
    # The length is bounded here, because GitHub refuses a comment that is too long as a whole.
    texts: dict[str, list[str]] = {}
    for answer in sorted(answers, key=lambda item: int(item.subject.rpartition(".")[2])):
        canonical, text = json.loads(answer.payload)
        texts.setdefault(text, []).append(canonical)
    if len(texts) == 1:
        return next(iter(texts))
    parts = list[str]()
    for text, commands in texts.items():
        command_names = ", ".join(code(f"/triage {command}"[:80]) for command in dict.fromkeys(commands))
        remaining = _LONGEST - sum(map(len, parts))
        parts.append(f"**{command_names}**\n\n{text if len(command_names) + len(text) < remaining else _TOO_LONG}")
    return "\n\n---\n\n".join(parts)
