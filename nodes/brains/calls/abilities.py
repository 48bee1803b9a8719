"""The abilities of a model's server: assumed at first, learnt from refusals, and stored for later runs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal

Method = Literal["json_schema", "function_calling", "json_mode", "prompt"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode", "prompt")
"""Methods to request JSON, best first; the last one only asks for it in words."""
Reading = Literal["tools", "actions", "stages"]
"""Ways of reading code: native tool calls, one JSON object a turn, or a choice of files and then of functions."""
LimitName = Literal["max_tokens", "max_completion_tokens"]
_NO_TEMPERATURE = re.compile(r"(?:.*/)?(?:o\d|gpt-5(?!.*chat))")
"""OpenAI's reasoning models answer 400 to any temperature except their own."""
_FORGET = 7 * 86_400.0
"""Seconds. Servers are updated, so what was refused is tried again after this time."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """The request features that a model at an endpoint accepts. Each is assumed to work until the server refuses it."""

    method: Method = "json_schema"
    """The best method that was not refused."""
    temperature: bool = True
    limit_name: LimitName = "max_completion_tokens"
    system: bool = True
    effort: bool = True
    """Whether a reasoning effort may be set."""
    images: bool = True
    """Whether a message may contain images."""
    longer: bool = False
    """Whether an answer was cut off at the usual limit."""
    bounds: bool = True
    """Whether a schema may bound its lists and close its objects."""
    thinking: bool = True
    """Whether the model may think before it answers; some servers forbid it for an answer that is not streamed."""
    most_output: int | None = None
    """The highest output limit that the server accepts."""
    window: int | None = None
    """Tokens of prompt and answer together, learnt from a prompt that was too long; None if every prompt fitted."""
    reading: Reading = "tools"
    """The best way of reading code that was not refused and did not fail."""
    counts: bool = True
    """Whether the reported tokens of a prompt measure it; some servers report only what was not cached."""


def first_abilities(name: str, limit_name: LimitName) -> Abilities:
    """Return what to assume about a model of this name."""
    return Abilities(temperature=not _NO_TEMPERATURE.match(name), limit_name=limit_name)


class LearntRefusals:
    """The abilities of models by endpoint and name; with no file, nothing is stored."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def load(self, key: str) -> Abilities | None:
        """Return what is known under this key; None if nothing is, or if it is old or malformed."""
        entry = self._entries().get(key)
        if not isinstance(entry, dict) or not _is_recent(entry.pop("learnt", 0)):
            return None
        return read_abilities(entry)

    def save(self, key: str, abilities: Abilities) -> None:
        """Store what is known. A file that cannot be written costs only a few refused requests later."""
        if self._file is None:
            return
        entries = {**self._entries(), key: {**asdict(abilities), "learnt": int(time.time())}}
        # Written to a temporary file and renamed, so that another process never reads half a file.
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


def read_abilities(entry: dict[str, Any]) -> Abilities | None:
    """Read stored abilities; None if a release with other fields stored them, so that they are learnt again."""
    sound = set(entry) == {f.name for f in fields(Abilities)} and entry["method"] in METHODS
    return Abilities(**entry) if sound else None


def _is_recent(learnt: object) -> bool:
    return isinstance(learnt, int) and 0 <= time.time() - learnt < _FORGET
