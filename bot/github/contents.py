"""Decodes files from GitHub's contents API. An unreadable file is an error and never counts as absent."""

from __future__ import annotations

import base64
import binascii
import codecs
import hashlib
from collections.abc import Mapping

from bot.errors import UnreadableFileError
from bot.github.values import text

MAX_FILE = 131_072
"""Bytes; a larger file is an error."""
_GLIMPSE = 1_000_000
"""Bytes; GitHub omits the content of files above about this size."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def text_file(answer: object) -> str:
    """The text of a file in a response of GitHub's contents API.

    Raises:
        UnreadableFileError: It is not a file, too large, or not UTF-8.
    """
    if not isinstance(answer, Mapping):
        raise UnreadableFileError("not a file but a directory", digest=_digest(b"directory"))
    sha, kind = text(answer.get("sha")), text(answer.get("type"))
    if kind != "file":
        raise UnreadableFileError(
            f"not a file but a {kind[:20] or 'thing without a type'}", digest=_digest(sha.encode())
        )
    content = _content(answer)
    size = max(int(answer.get("size") or 0), len(content))
    if size > MAX_FILE:
        problem = f"larger than {MAX_FILE:,} bytes"
        raise UnreadableFileError(problem, digest=_digest(sha.encode() or content), glimpse=_glimpse(content))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 text" + (" but UTF-16" if content.startswith(_UTF_16) else "")
        raise UnreadableFileError(problem, line=line, digest=_digest(content), glimpse=_glimpse(content)) from error


def _content(answer: Mapping[str, object]) -> bytes:
    """The decoded bytes; empty if GitHub omits them because the file is large."""
    try:
        return base64.b64decode(text(answer.get("content")))
    except binascii.Error as error:
        raise UnreadableFileError("not decodable", digest=_digest(text(answer.get("sha")).encode())) from error


def _glimpse(content: bytes) -> str:
    """The readable part of a file, whatever its encoding."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "latin-1"
    return content[:_GLIMPSE].decode(encoding, "replace").replace("\x00", "")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
