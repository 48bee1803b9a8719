"""What a backtest has found out so far, a line each: whatever ends it, the next one goes on behind the last line."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from bot.backtest.score import Scored
from bot.backtest.texts import Text, dump, load
from bot.errors import UserError


class Notes:
    """One file of JSON lines, appended to and synced; a line that a kill cut short is left out."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        """Open it, or begin anew.

        Raises:
            UserError: it cannot be written.
        """
        self.path = path
        self.texts: dict[int, Text | None] = {}
        self._scored: dict[str, Scored] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if fresh:
                path.unlink(missing_ok=True)
            self._read()
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}; set TRIAGE_DATA_DIR") from error

    def scored(self, key: str) -> Scored | None:
        """What came of a case, if it was run before under the same key."""
        return self._scored.get(key)

    def keep_scored(self, key: str, scored: Scored) -> None:
        """Note what came of a case, durably."""
        self._scored[key] = scored
        self._append({"case": key, "scored": scored.document()})

    def keep_text(self, number: int, text: Text | None) -> None:
        """Note what GitHub said of a number, durably."""
        self._append({"number": number, "text": dump(text)})

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _read(self) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for line in whole.splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            said = json.loads(line)
            if "case" in said:
                self._scored[str(said["case"])] = Scored.load(said["scored"])
            else:
                self.texts[int(said["number"])] = load(said["text"])
        except (ValueError, KeyError, TypeError):
            return  # another release's, or damaged: it is found out again

    def _append(self, said: dict[str, Any]) -> None:
        self._file.write(json.dumps(said, ensure_ascii=True).encode() + b"\n")
        os.fsync(self._file.fileno())


def digest(*said: str) -> str:
    """A short name for what was said."""
    return hashlib.sha256("\x00".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:16]
