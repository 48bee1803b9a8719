"""The model requests and responses of a backtest in one file, from which it can be repeated without the model."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from bot.errors import UserError
from nodes.brains.calls.abilities import Abilities, read_abilities

Fault = Literal["", "timeout", "connection"]
_FORMAT = 1
_CHUNK = 65_536
_GZIP = 31
"""zlib's number for the gzip format."""
_MAX_MEMBER = 64_000_000
"""Bytes of one issue's requests and responses, decompressed."""
_MAX_READ = 4_000_000_000
"""Bytes of the whole file, decompressed; a small file can expand to more than a disk holds."""
MAX_STORED = 512_000_000
"""Bytes of the file on disk."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request, and how the server answered it."""

    key: str
    """The digest of the request."""
    status: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    body: str = ""
    fault: Fault = ""
    """Why no response arrived; empty if one did."""
    seconds: float = 0.0
    request: str = ""
    """The body of the request. It is stored for readers and not loaded."""


@dataclass(frozen=True, slots=True)
class RecordedCase:
    """The requests of one issue, in their order."""

    exchanges: tuple[Exchange, ...]
    known: dict[str, Abilities | None]
    """The abilities of each model that were known when the issue started, by the model's name."""


def digest(*payload: str) -> str:
    """Return a short digest of the given texts."""
    return hashlib.sha256("\x00".join(payload).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def request_key(path: str, body: bytes) -> str:
    """Return the digest of a request: its path and body, without headers, which contain the key."""
    return hashlib.sha256(path.encode() + b"\x00" + body).hexdigest()[:32]


class Recording:
    """A file of compressed JSON lines: the settings of the models, then the requests of each issue.

    Each issue is one gzip member, so that ``zcat`` prints the file, and a kill can cut off the last issue only.
    """

    def __init__(self, path: Path, settings: dict[str, Any], cases: dict[str, RecordedCase]) -> None:
        self.path = path
        self.settings = settings
        """The settings of the models, as ``judges.stored_settings`` returned them."""
        self._cases = cases

    @classmethod
    def open(cls, path: Path, settings: dict[str, Any], *, fresh: bool) -> Recording:
        """Continue the recording of this path, or start one, readable by its owner only.

        Raises:
            UserError: the file cannot be read or written.
        """
        recording, stored = cls(path, settings, {}), dict[str, Any]()
        try:
            if fresh:
                path.unlink(missing_ok=True)
            if path.exists():
                path.chmod(0o600)
                (stored, cases), whole = _read(path)
                os.truncate(path, whole)
                recording = cls(path, settings, cases)
            # The settings of a continued recording differ at most in prices, which the latest ones replace.
            if stored != settings:
                recording._append([{"recording": _FORMAT, "settings": settings}])
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}; set TRIAGE_DATA_DIR") from error
        return recording

    @classmethod
    def load(cls, path: Path) -> Recording:
        """Read a recording to replay it.

        Raises:
            UserError: the file is not a recording, or is damaged.
        """
        try:
            (settings, cases), whole = _read(path)
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from error
        if not whole:
            raise UserError(f"{path} is not a recording of model requests")
        return cls(path, settings, cases)

    def case(self, key: str) -> RecordedCase | None:
        """Return the requests of an issue; None if it was not recorded."""
        return self._cases.get(key)

    def store(self, key: str, number: int, case: RecordedCase) -> None:
        """Append an issue durably. A later recording of the same issue replaces an earlier one.

        Raises:
            UserError: the file is full, or cannot be written.
        """
        known = {name: asdict(abilities) if abilities else None for name, abilities in case.known.items()}
        exchanges = [asdict(exchange) for exchange in case.exchanges]
        head = {"case": key, "number": number, "known": known, "requests": len(exchanges)}
        try:
            if self.path.stat().st_size > MAX_STORED:
                raise UserError(f"{self.path} is full ({MAX_STORED:,} bytes): start again with --fresh, or copy it")
            self._append([head, *exchanges])
        except OSError as error:
            raise UserError(f"cannot write {self.path}: {error.strerror}") from error
        self._cases[key] = case

    def _append(self, lines: Sequence[dict[str, Any]]) -> None:
        # No time in the header of a member, so equal requests are equal bytes.
        payload = "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines)
        member = gzip.compress(payload.encode(), mtime=0)
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "ab") as file:
            file.write(member)
            file.flush()
            os.fsync(file.fileno())


def _read(path: Path) -> tuple[tuple[dict[str, Any], dict[str, RecordedCase]], int]:
    """Return settings and cases, and the number of bytes up to the last complete issue.

    Raises:
        UserError: the content is not that of a recording.
    """
    settings: dict[str, Any] = {}
    cases: dict[str, RecordedCase] = {}
    whole = 0
    try:
        for member, end in _members(path):
            lines = [json.loads(line) for line in member.splitlines()]
            if "recording" in lines[0]:
                settings = _settings(lines[0], path)
            else:
                cases[str(lines[0]["case"])] = _case(lines)
            whole = end
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise UserError(f"{path} is damaged, or not a recording of model requests") from error
    if whole and not settings:
        raise UserError(f"{path} is not a recording of model requests: it has no settings")
    return (settings, cases), whole


def _members(path: Path) -> Iterator[tuple[bytes, int]]:
    """Yield each complete gzip member and the offset behind it; a member that was cut off ends the file."""
    total = offset = 0
    with path.open("rb") as file:
        rest = file.read(_CHUNK)
        while rest:
            inflate, parts, size = zlib.decompressobj(wbits=_GZIP), list[bytes](), 0
            while rest and not inflate.eof:
                parts.append(_inflated(inflate, rest))
                size += len(parts[-1])
                if inflate.unconsumed_tail or size > _MAX_MEMBER or total + size > _MAX_READ:
                    raise ValueError("too large")
                offset += len(rest) - len(inflate.unused_data)
                rest = inflate.unused_data or file.read(_CHUNK)
            if not inflate.eof:
                return
            total += size
            yield b"".join(parts), offset


def _inflated(inflate: zlib._Decompress, chunk: bytes) -> bytes:
    try:
        return inflate.decompress(chunk, _MAX_MEMBER)
    except zlib.error as error:
        raise ValueError("not a gzip file, or damaged") from error


def _settings(head: dict[str, Any], path: Path) -> dict[str, Any]:
    if head["recording"] != _FORMAT:
        raise UserError(f"{path} was written by another release: record again with --fresh")
    settings = head["settings"]
    if not isinstance(settings, dict):
        raise TypeError("the settings are not an object")
    return settings


def _case(lines: Sequence[dict[str, Any]]) -> RecordedCase:
    head, rows = lines[0], lines[1:]
    if head["requests"] != len(rows):
        raise ValueError("requests are missing")
    known = {str(name): read_abilities(entry) if entry else None for name, entry in head["known"].items()}
    return RecordedCase(tuple(_exchange(row) for row in rows), known)


def _exchange(row: dict[str, Any]) -> Exchange:
    fault: Fault = row["fault"] if row["fault"] in ("timeout", "connection") else ""
    headers = tuple((str(name), str(value)) for name, value in row["headers"])
    return Exchange(str(row["key"]), int(row["status"]), headers, str(row["body"]), fault, float(row["seconds"]))
