"""Caches responses with their ETags: GitHub answers 304 if they still hold, which does not count against the limit."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace

from bot.github.answers import Answer

MOST, MOST_BYTES, LARGEST = 2_000, 4_000_000, 131_072
"""Number of responses, bytes of all, and bytes of one; a larger one is never cached."""
_ABSENT, _ABSENCES = 300.0, 1_000
"""Seconds for which a 404 is cached, and how many of them."""


class ResponseCache:
    """Cached responses of one process. Keys contain the token's scope, so that no response crosses tenants.

    The cache is in memory: a table would hold private text and cost a write for each read.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._size = 0
        self._absent: OrderedDict[Hashable, float] = OrderedDict()

    def etag(self, key: Hashable) -> str:
        """The ETag of the cached response; empty if there is none."""
        known = self._answers.get(key)
        return known.etag if known is not None else ""

    def get(self, key: Hashable) -> Answer | None:
        """The cached response, which GitHub has just confirmed; None if it was evicted."""
        known = self._answers.get(key)
        if known is None:
            return None
        self._answers.move_to_end(key)
        return replace(known, data=json.loads(known.content))

    def put(self, key: Hashable, answer: Answer) -> None:
        """Replace the cached response if the new one has an ETag. The least recently used ones are evicted."""
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
        """Whether something was missing a short while ago. GitHub sends 404 without an ETag, and counts it."""
        return self._absent.get(key, 0.0) > self._clock()

    def note_absent(self, key: Hashable) -> None:
        """Cache that something is missing."""
        self._absent[key] = self._clock() + _ABSENT
        self._absent.move_to_end(key)
        while len(self._absent) > _ABSENCES:
            self._absent.popitem(last=False)
