"""Writes the results of commands to GitHub: stored first, then posted, with one reply for all commands of a comment."""

import hashlib
import json
import logging
from typing import Final

from bot.errors import RateLimitedError, RefusedError, StoppedError
from bot.limits.writes import REPLIES
from bot.ports import CommandEffects, Effect
from bot.report.comment.thread import marker
from bot.report.sanitise import code
from bot.worker.commands.parse import Command
from bot.worker.publish.labels import change_labels
from bot.worker.publish.target import Target

logger = logging.getLogger(__name__)
ANSWER: Final = "answer"
"""The answer to one command. The reply to its comment consists of these."""
_REPLY: Final = "reply"
LABELS: Final = "command-labels"
_MAX_REPLY = 60_000
"""Characters of a reply; GitHub accepts at most 65,536."""
_TOO_LONG = "The reply does not fit here. Write this command in a separate comment."


async def note(target: Target, comment_id: int, command: Command, effects: CommandEffects) -> None:
    """Store the reply, labels and reaction that a command leads to, as far as the configuration allows them."""
    subject, mode = f"{comment_id}.{command.ordinal}", target.found.config.mode
    if effects.reply is not None and mode == "comment":
        await _want(target, ANSWER, subject, json.dumps([command.canonical, effects.reply]))
    if (effects.add_labels or effects.remove_labels) and mode != "dry-run":
        await _want(target, LABELS, subject, json.dumps([effects.add_labels, effects.remove_labels]))
    if effects.reaction is not None:
        await target.want_reaction(effects.reaction, comment_id)


async def note_refusal(target: Target, comment_id: int, why: str) -> None:
    """Store the reason why a command that was accepted does nothing."""
    if target.found.config.mode == "comment":
        subject = f"{comment_id}.why"
        await _want(target, _REPLY, subject, f"{marker(_REPLY, subject)}\n\n{why}\n")
    await target.want_reaction("confused", comment_id)


async def catch_up(target: Target) -> None:
    """Write what is stored for this comment or an earlier one; what limits do not allow now stays for a later job."""
    pending = await target.effects.pending()
    try:
        # Labels come before the reply, which would otherwise announce a change that is not made yet.
        for effect in pending:
            if effect.kind == LABELS:
                await _set_labels(target, effect)
    except RateLimitedError as error:
        logger.info("labels postponed: %s", error, extra={"action": "labels.later"})
    try:
        for comment in dict.fromkeys(item.subject.partition(".")[0] for item in pending if item.kind == ANSWER):
            await _reply(target, comment)
        for effect in pending:  # releases before 0.2 wrote one reply per command
            if effect.kind == _REPLY and "." in effect.subject:
                await _put(target, effect.subject, effect.payload)
    except RateLimitedError as error:
        logger.info("reply postponed: %s", error, extra={"action": "reply.later"})
    await target.add_reactions()


async def _want(target: Target, kind: str, subject: str, payload: str) -> None:
    digest = hashlib.sha256(payload.strip().encode("utf-8", "surrogatepass")).hexdigest()
    await target.effects.set_wanted(kind, subject, digest, payload)


async def _reply(target: Target, comment: str) -> None:
    """Write one reply with the answers to all commands of a comment."""
    answers = await target.effects.with_prefix(ANSWER, f"{comment}.")
    await _put(target, comment, f"{marker(_REPLY, comment)}\n\n{_combined(answers)}\n")
    for answer in answers:
        if not answer.is_done:
            await target.effects.record_done(ANSWER, answer.subject, answer.wanted_hash)


async def _put(target: Target, subject: str, body: str) -> None:
    try:
        await target.put(_REPLY, subject, body, budget=REPLIES)
    except (RefusedError, StoppedError) as error:  # a locked conversation, or a reply that a person deleted
        logger.info("reply refused", extra={"action": "reply.refused", "reason": str(error)})
        await target.correct_reaction(int(subject.partition(".")[0]))
        known = await target.effects.get(_REPLY, subject)
        if known is not None:
            await target.effects.record_done(_REPLY, subject, known.wanted_hash)


async def _set_labels(target: Target, effect: Effect) -> None:
    try:
        await change_labels(target, *json.loads(effect.payload))
    except RefusedError as error:
        logger.info("labels refused", extra={"action": "labels.refused", "reason": str(error)})
        await target.correct_reaction(int(effect.subject.partition(".")[0]))
    await target.effects.record_done(effect.kind, effect.subject, effect.wanted_hash)


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
        remaining = _MAX_REPLY - sum(map(len, parts))
        parts.append(f"**{command_names}**\n\n{text if len(command_names) + len(text) < remaining else _TOO_LONG}")
    return "\n\n---\n\n".join(parts)
