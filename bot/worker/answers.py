"""Does a comment answer a question? Told by rules: it says something, beyond thanks and votes."""

from __future__ import annotations

import re

from bot.handlers.issue_comment import PREFIX
from bot.ports import AskedQuestion, Comment

_WORD = re.compile(r"\w+")
_EMPTY = frozenset(
    {
        "thanks",
        "thank",
        "you",
        "thx",
        "ty",
        "cheers",
        "much",
        "same",
        "here",
        "me",
        "too",
        "also",
        "bump",
        "any",
        "news",
    }
    | {"update", "please", "ping", "following", "for", "the", "a", "an", "and", "is", "it", "this", "on", "i", "have"}
    | {"1", "up", "cool", "great", "nice", "ok", "okay"}
)


def answers(comment: Comment, question: AskedQuestion) -> bool:
    """Whether a comment that came after the question says anything that is not thanks, a vote or a nudge."""
    if comment.author_is_bot or comment.created_at < question.asked_at:
        return False
    return any(word.casefold() not in _EMPTY for word in _WORD.findall(answer_text(comment)))


def answer_text(comment: Comment) -> str:
    """What the author wrote: without quotes of others and commands."""
    lines = [line for line in comment.body.splitlines() if not line.lstrip().startswith((">", PREFIX))]
    return "\n".join(lines).strip()
