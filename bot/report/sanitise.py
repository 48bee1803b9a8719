"""Make foreign text harmless in Markdown: what an issue, a model or a repository says may not act."""

from __future__ import annotations

import re
import unicodedata

from nodes.trust.secrets import mask

_PIPE = re.compile(r"(?<!\\)(\\*)\|")
_TICKS = re.compile(r"`+")
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#!~&])")
_MENTION = re.compile(r"@(?=\w)")
_REFERENCE = re.compile(r"(#|GH-)(?=\d)", re.IGNORECASE)
_COMMAND = re.compile(r"^([^\S\n]*)/(?=\w)", re.MULTILINE)
_LINK = re.compile(r"\b(https?|ftp|mailto|www)(:|\.)", re.IGNORECASE)
_OPENING = re.compile(r"([-+=]|\d{1,9}(?=[.)]))(?=[-=]*(?:\s|$)|[.)](?:\s|$))")
_INVISIBLE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_WORD_JOINER = "\u2060"
"""Stands between a sign and what it would act on; it is never taken from input, so it cannot be forged away."""


def visible(text: str) -> str:
    """Drop what cannot be seen: control characters, zero-width and bidirectional ones; lone surrogates too."""
    return "".join(
        c
        for c in text
        if c in "\n\t" or not (c in _INVISIBLE or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn"))
    )


def prose(text: str) -> str:
    """One line of foreign prose: no mark-up but code spans, no mention, reference, link or command; secrets masked."""
    line = " ".join(visible(mask(text)).split())
    said = "".join(_piece(piece) for piece in _split_code(line))
    # At the start of a line these would be a list, a rule or a heading.
    opening = _OPENING.match(said)
    return _as_text(opening) + said[opening.end() :] if opening else said


def plain(text: str) -> str:
    """One line for where no mark-up is read: secrets masked, and nobody mentioned should it be pasted elsewhere."""
    return _MENTION.sub("@" + _WORD_JOINER, " ".join(visible(mask(text)).split()))


def code(text: str) -> str:
    """A code span that holds exactly this text, whatever backticks are in it."""
    line = " ".join(visible(mask(text)).split())
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def block(text: str, language: str = "") -> str:
    """A fenced block that nothing inside can close."""
    # Bots read commands at the start of raw lines, fenced or not.
    lines = _COMMAND.sub(rf"\1{_WORD_JOINER}/", visible(mask(text)))
    longest = max((len(run) for run in _TICKS.findall(lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{lines}\n{fence}"


def cell(markdown: str) -> str:
    """Sanitised Markdown as a table cell: a pipe would end it, even inside a code span."""
    # An odd number of backslashes is an escape however a parser counts them.
    odd = _PIPE.sub(lambda found: found[1] + "\\" * (1 + len(found[1]) % 2) + "|", markdown)
    return odd.replace("\n", " ")


def _split_code(line: str) -> list[tuple[bool, str]]:
    """Cut a line at single-backtick code spans; an unmatched backtick is text."""
    pieces = line.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = [pieces[-2] + "`" + pieces[-1]]
    return [(number % 2 == 1, piece) for number, piece in enumerate(pieces)]


def _as_text(found: re.Match[str]) -> str:
    return f"{found[1]}\\" if found[1].isdecimal() else f"\\{found[1]}"


def _piece(piece: tuple[bool, str]) -> str:
    is_code, text = piece
    if is_code:
        return code(text)
    text = _ACTIVE.sub(r"\\\1", text)
    text = _MENTION.sub("@" + _WORD_JOINER, text)
    text = _REFERENCE.sub(r"\1" + _WORD_JOINER, text)
    text = _LINK.sub(r"\1" + _WORD_JOINER + r"\2", text)
    return _COMMAND.sub(r"\1\\/", text)
