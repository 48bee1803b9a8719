"""Results of a backtest, one line each, so that an interrupted backtest resumes after the last line."""

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
    """One file of JSON lines that are appended and synced. A line that was cut off by a kill is removed."""

    def __init__(self, path: Path, *, fresh: bool) -> None:
        """Open the file, or start a new one.

        Raises:
            UserError: the file cannot be written.
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
        """Return the result of a case that was run before under the same key; None otherwise."""
        return self._scored.get(key)

    def store_scored(self, key: str, scored: Scored) -> None:
        """Store the result of a case durably."""
        self._scored[key] = scored
        self._append({"case": key, "scored": scored.document()})

    def store_text(self, number: int, text: Text | None) -> None:
        """Store GitHub's answer for a number durably; None means that the number is not an issue."""
        self._append({"number": number, "text": dump(text)})

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self) -> None:
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        # A kill can cut the last line. It is removed, or the next line would be appended to it.
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
        for line in whole.splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            payload = json.loads(line)
            if "case" in payload:
                self._scored[str(payload["case"])] = Scored.load(payload["scored"])
            else:
                self.texts[int(payload["number"])] = load(payload["text"])
        except (ValueError, KeyError, TypeError):
            return  # from another release, or damaged: it is computed again

    def _append(self, payload: dict[str, Any]) -> None:
        self._file.write(json.dumps(payload, ensure_ascii=True).encode() + b"\n")
        os.fsync(self._file.fileno())


def digest(*payload: str) -> str:
    """Return a short digest of the given texts."""
    return hashlib.sha256("\x00".join(payload).encode("utf-8", "surrogatepass")).hexdigest()[:16]
