"""Masks the strings and comments of a plainly written Python file, and collects the messages in its strings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.languages.found import MAX_STRINGS, message

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = b"\xef\xbb\xbf"
"""The byte order mark that an editor may write before the first line."""
_APART = re.compile(
    rb"""([^#"'\\]*+)(?:(\#[^\n]*|\\\r?\n)|("{3}[^"\\]*+(?>(?:(?:\\.|"(?!""))[^"\\]*+)*)"{3}|"""
    rb"""'{3}[^'\\]*+(?>(?:(?:\\.|'(?!''))[^'\\]*+)*)'{3}|"(?!"")[^"\\\n]*+(?>(?:\\.[^"\\\n]*+)*)"|"""
    rb"""'(?!'')[^'\\\n]*+(?>(?:\\.[^'\\\n]*+)*)')|(["'\\].*)|\Z)""",
    re.DOTALL,
)
"""Code; a comment or an escaped line end; a string; or an unterminated comment, escape or string."""
_QUOTED_INSIDE = re.compile(rb"\{[^{}\"']*+[\"'](?:[^{}]*?[^\s\"'{}] +[^\s\"'{}]|[^\"']*[{}])")
"""A possible message inside an f-string's replacement field."""
_ODD_SPACE = re.compile(rb"\n *[\t\f\v]")
_PAIRS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))


class NotPlain(Exception):  # noqa: N818 - it is no error
    """The file needs a parser."""


def code_of(source: bytes) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    """Return the masked code and the messages of a source.

    Returns:
        The source after a line feed, with comments and strings masked (same number of bytes, no line feed among them);
        the first messages, each with its 1-based line.

    Raises:
        NotPlain: brackets or strings are open, or indentation has other characters than spaces.
    """
    require_plain(source.count(b"\r") == source.count(b"\r\n") and _is_utf8(source))
    strings: list[tuple[int, str]] = []
    code = b"".join([b"\n", *_pieces(source, strings)])
    require_plain(not any(space in code and _ODD_SPACE.search(code) for space in (b"\t", b"\f", b"\v")))
    require_plain(is_closed(code, 0, len(code)))
    return code, tuple(strings)


def _pieces(source: bytes, strings: list[tuple[int, str]]) -> Iterator[bytes]:
    at, line, counted = 0, 1, 0
    for plain, other, quoted, rest in _APART.findall(source):
        require_plain(not rest)
        yield plain
        at += len(plain)
        if quoted:
            _reject_messages(quoted, source[max(0, at - 2) : at])
            if len(strings) < MAX_STRINGS and (text := message(quoted)):
                line, counted = line + source.count(b"\n", counted, at), at
                strings.append((line, text))
            yield b'"' * len(quoted)
        elif other:
            yield (b"#" if other[0] == ord("#") else b" ") * len(other)
        at += len(quoted) + len(other)


def _reject_messages(quoted: bytes, before: bytes) -> None:
    """Reject an f-string with possible messages inside: the parser must read it."""
    if b"{" in quoted and any(letter in b"fF" for letter in before):
        require_plain(quoted.count(b"{") == quoted.count(b"}") and not _QUOTED_INSIDE.search(quoted))


def is_closed(code: bytes, start: int, end: int) -> bool:
    """Return whether the numbers of opening and closing brackets match for each kind."""
    return all(code.count(one, start, end) == code.count(other, start, end) for one, other in _PAIRS)


def require_plain(what: bool) -> None:  # noqa: FBT001 - reads like an assertion
    """Check a condition that plain source meets.

    Raises:
        NotPlain: the condition is false.
    """
    if not what:
        raise NotPlain


def require_match(match: re.Match[bytes] | None) -> re.Match[bytes]:
    """Return a match.

    Raises:
        NotPlain: there is no match.
    """
    if match is None:
        raise NotPlain
    return match


def _is_utf8(source: bytes) -> bool:
    try:
        return source.isascii() or bool(source.decode())
    except UnicodeDecodeError:
        return False
