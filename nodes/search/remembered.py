"""What git said of objects named by their full ids, kept for a while: it cannot become untrue."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

LARGEST = 16_000_000
"""Bytes of one repository's answers."""
_PART = 16
"""An answer larger than this part of it all is not kept: it would drive everything else out."""


class Remembered:
    """Answers by what was asked, least recently used ones dropped first. Safe to use from several threads."""

    def __init__(self, largest: int = LARGEST) -> None:
        """Keep nothing yet.

        Args:
            largest: bytes that all answers may take together.
        """
        self._largest = largest
        self._taken = 0
        self._answers: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._lock = Lock()

    def get(self, asked: Hashable) -> Any:
        """What was answered, or None."""
        with self._lock:
            found = self._answers.get(asked)
            if found is None:
                return None
            self._answers.move_to_end(asked)
            return found[0]

    def keep(self, asked: Hashable, answer: Any, size: int) -> None:
        """Keep an answer of about so many bytes, unless it is too large."""
        if size * _PART > self._largest:
            return
        with self._lock:
            _, before = self._answers.pop(asked, (None, 0))
            self._answers[asked] = (answer, size)
            self._taken += size - before
            while self._taken > self._largest:
                _, (_, freed) = self._answers.popitem(last=False)
                self._taken -= freed
