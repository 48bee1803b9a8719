"""Store on disk what was learnt about endpoints, so that the next process does not repeat refused requests."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nodes.brains.model import METHODS, Abilities

_FORGET = 7 * 86_400.0
"""Seconds. Servers are updated, so what was refused is tried again after this time."""


class LearntRefusals:
    """The abilities of models by endpoint and name; with no file, nothing is stored."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def load(self, key: str) -> Abilities | None:
        """Return what is known under this key; None if nothing is, or if it is old or malformed."""
        entry = self._entries().get(key)
        if not isinstance(entry, dict) or not _is_recent(entry.pop("learnt", 0)):
            return None
        known = {f.name for f in fields(Abilities)}
        sound = set(entry) == known and entry["method"] in METHODS
        return Abilities(**entry) if sound else None

    def save(self, key: str, abilities: Abilities) -> None:
        """Store what is known. A file that cannot be written costs only a few refused requests later."""
        if self._file is None:
            return
        entries = {**self._entries(), key: {**asdict(abilities), "learnt": int(time.time())}}
        part = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            part.replace(self._file)

    def _entries(self) -> dict[str, Any]:
        try:
            read = json.loads(self._file.read_text(encoding="utf-8")) if self._file is not None else {}
        except (OSError, ValueError):
            return {}
        return read if isinstance(read, dict) else {}


def _is_recent(learnt: object) -> bool:
    return isinstance(learnt, int) and 0 <= time.time() - learnt < _FORGET
