"""Remembers answers with their ETags, so that GitHub may say 304, which costs nothing of the rate limit."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace

from bot.github.answers import Answer

MOST, MOST_BYTES, LARGEST = 2_000, 4_000_000, 131_072
"""Answers, bytes of all of them, and bytes of one; a longer one is asked for in full each time."""
_ABSENT, _ABSENCES = 300.0, 1_000
"""Seconds for which an absence is believed, and how many are remembered."""


class Remembered:
    """The latest answers of one process; keys name the token's scope, so that nothing crosses tenants."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._size = 0
        self._absent: OrderedDict[Hashable, float] = OrderedDict()

    def etag(self, key: Hashable) -> str:
        """The ETag of what is remembered under a key; empty where nothing is."""
        known = self._answers.get(key)
        return known.etag if known is not None else ""

    def get(self, key: Hashable) -> Answer | None:
        """The answer that GitHub has just confirmed."""
        known = self._answers.get(key)
        if known is None:
            return None
        self._answers.move_to_end(key)
        return replace(known, data=json.loads(known.content))

    def put(self, key: Hashable, answer: Answer) -> None:
        """Remember an answer with an ETag in place of an earlier one; the least recently used ones make room."""
        earlier = self._answers.pop(key, None)
        self._size -= len(earlier.content) if earlier is not None else 0
        if answer.status_code != 200 or not answer.etag or len(answer.content) > LARGEST:
            return
        # Only the bytes are stored: decoded JSON takes several times as much memory.
        self._answers[key] = replace(answer, data=None)
        self._size += len(answer.content)
        while len(self._answers) > MOST or self._size > MOST_BYTES:
            _, oldest = self._answers.popitem(last=False)
            self._size -= len(oldest.content)

    def is_absent(self, key: Hashable) -> bool:
        """Whether something was missing a short while ago. GitHub answers 404 without an ETag, and counts it."""
        return self._absent.get(key, 0.0) > self._clock()

    def note_absent(self, key: Hashable) -> None:
        """Something is missing now."""
        self._absent[key] = self._clock() + _ABSENT
        self._absent.move_to_end(key)
        while len(self._absent) > _ABSENCES:
            self._absent.popitem(last=False)
