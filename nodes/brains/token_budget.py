"""The token budget of one conversation about code; docs/decisions.md has the table."""

from __future__ import annotations

import math
from collections.abc import Iterable

from nodes.brains.token_count import estimate
from nodes.state import Usage

TOTAL = 8_000
"""The total for the last request and all answers of a conversation."""
RANKING = 600
"""Reserved for the last answer, independent of the lookups. The longest answer that its schema allows has about 500."""
LOOK = 420
"""The maximum for the answer to one lookup, including its fence."""
ASKING = 150
"""The minimum for a model's answer that asks for lookups."""
_PER_MESSAGE = 5


class TokenBudget:
    """Counts a conversation's tokens by its own estimate, scaled up once the server reports a higher count."""

    def __init__(self, schema: str) -> None:
        self._schema = estimate(schema)
        self._scale = 1.0
        self._answers = 0
        self._longest = 0

    def room(self, messages: Iterable[tuple[str, str]]) -> int:
        """Return the tokens that remain for the answer if these messages are sent now."""
        return TOTAL - math.ceil(self._scale * self._counted(messages)) - self._answers

    def room_for_lookups(self, messages: Iterable[tuple[str, str]]) -> int:
        """Return the tokens for an answer that asks for a lookup, so that the lookup and the ranking still fit."""
        # A model that reasons before it answers will also do so for the ranking.
        ranking = max(RANKING, self._longest + self._longest // 4)
        return self.room(messages) - ranking - math.ceil(self._scale * LOOK)

    def may_look_up(self, messages: Iterable[tuple[str, str]]) -> bool:
        """Return whether one more lookup can be requested, at the length of the answers so far, and answered."""
        return self.room_for_lookups(messages) >= max(ASKING, self._longest)

    def note(self, messages: Iterable[tuple[str, str]], answer: str, usage: Usage) -> None:
        """Count an answer, with the usage that the server reported for it, including corrections."""
        spent = max(estimate(answer), usage.output_tokens)
        self._answers += spent
        self._longest = max(self._longest, spent)
        reported = usage.input_tokens / max(usage.calls, 1)
        self._scale = max(self._scale, reported / max(self._counted(messages), 1))

    def _counted(self, messages: Iterable[tuple[str, str]]) -> int:
        return self._schema + sum(_PER_MESSAGE + estimate(text) for _, text in messages)
