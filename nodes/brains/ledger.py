"""What one conversation about code may cost, in tokens; the table is in docs/decisions.md."""

from __future__ import annotations

import math
from collections.abc import Iterable

from nodes.brains.token_count import estimate
from nodes.state import Usage

TOTAL = 8_000
"""The last request and all answers of a conversation together."""
RANKING = 600
"""Kept for the last answer, however much is looked up: the longest that its shape allows has some 500."""
LOOK = 420
"""The answer to one look at the most, its fence included."""
ASKING = 150
"""The least that an answer with looks is given."""
_PER_MESSAGE = 5


class Ledger:
    """Counts a conversation by its own estimate or, once the server reported more, by the server's count."""

    def __init__(self, schema: str) -> None:
        self._schema = estimate(schema)
        self._scale = 1.0
        self._answers = 0
        self._longest = 0

    def room(self, messages: Iterable[tuple[str, str]]) -> int:
        """Tokens that are left for the answer, were these messages sent now."""
        return TOTAL - math.ceil(self._scale * self._counted(messages)) - self._answers

    def room_for_looks(self, messages: Iterable[tuple[str, str]]) -> int:
        """Tokens that an answer may have which asks for a look, so that the look and the ranking still fit."""
        # A model that thinks before it answers will do so for the ranking as well.
        ranking = max(RANKING, self._longest + self._longest // 4)
        return self.room(messages) - ranking - math.ceil(self._scale * LOOK)

    def may_look(self, messages: Iterable[tuple[str, str]]) -> bool:
        """Whether one more look can be asked for, at the length of the answers so far, and answered."""
        return self.room_for_looks(messages) >= max(ASKING, self._longest)

    def note(self, messages: Iterable[tuple[str, str]], answer: str, usage: Usage) -> None:
        """Count an answer and what the server said it cost, corrections included."""
        spent = max(estimate(answer), usage.output_tokens)
        self._answers += spent
        self._longest = max(self._longest, spent)
        reported = usage.input_tokens / max(usage.calls, 1)
        self._scale = max(self._scale, reported / max(self._counted(messages), 1))

    def _counted(self, messages: Iterable[tuple[str, str]]) -> int:
        return self._schema + sum(_PER_MESSAGE + estimate(text) for _, text in messages)
