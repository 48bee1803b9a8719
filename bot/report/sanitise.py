"""Sanitise untrusted text for GitHub's Markdown: text of an issue, a model or a repository must trigger nothing."""

import re
import unicodedata
from collections.abc import Iterable

from nodes.trust.secrets import mask

_PIPE = re.compile(r"(?<!\\)(\\*)\|")
_TICKS = re.compile(r"`+")
_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#!~&])")
_MENTION = re.compile(r"@(?!\s)")
_COMMAND = re.compile(r"^([^\S\n]*)/(?=\w)", re.MULTILINE)
_LIVE = re.compile(
    # GitHub links an address after any character but an ASCII letter, so no pattern here checks the preceding
    # character.
    r":(?=//)|(?:mailto|xmpp)(?=:)|www(?=\.)"
    r"|@(?!\s)|(?:#|GH-)(?=\d|$)"
    # An emoji code; a number between colons is a position in a file, except the two numbers that GitHub has emoji for.
    r"|:(?=(?!\d+:)[a-z0-9_+-]+:|(?:100|1234):)",
    re.IGNORECASE,
)
"""Characters that make the following text a link, a mention, a reference or an emoji."""
_AS_CODE = re.compile(
    r"(?:(?<![\w.{/-])[\w.{/-]{1,60})?\$(?:[\w{}$@/\\-]|[.:\[\]](?=\w))*"
    r"|(?<!\w)(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?!\w)",
    re.IGNORECASE,
)
"""A dollar sign (renders mathematics) or a commit's SHA (renders a link); neither is active in a code span."""
_OPENING = re.compile(r"([-+=]|\d{1,9}(?=[.)]))(?=[-=]*(?:\s|$)|[.)](?:\s|$))")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Categories of Unicode; zero-width characters and the soft hyphen are in Cf."""
_WORD_JOINER = "\u2060"
"""Inserted between a character and the text on which it would act; removed from input, so it cannot be forged."""


def visible(text: str) -> str:
    """Remove invisible characters: control, zero-width and bidirectional characters, and lone surrogates."""
    # Each character once: a text has far fewer different characters than characters.
    invisible = {ord(c): None for c in set(text) if unicodedata.category(c) in _INVISIBLE and c not in "\n\t"}
    return text.translate(invisible) if invisible else text


def prose(text: str) -> str:
    """Return one line of untrusted prose without mark-up except code spans, and without active syntax; mask secrets."""
    line = " ".join(visible(mask(text)).split())
    # An empty code span becomes white space, and asterisks around white space alone are a rule.
    escaped = _joined(_piece(is_code, piece) for is_code, piece in split_code(line)).strip()
    # At the start of a line these would be a list, a rule or a heading.
    opening = _OPENING.match(escaped)
    if opening is None:
        return escaped
    return (f"{opening[1]}\\" if opening[1].isdecimal() else f"\\{opening[1]}") + escaped[opening.end() :]


def plain(text: str) -> str:
    """Return one line for a context without mark-up; mask secrets, and break mentions in case the text is copied."""
    return _MENTION.sub("@" + _WORD_JOINER, " ".join(visible(mask(text)).split()))


def code(text: str) -> str:
    """Return a code span with exactly this text, including its backticks."""
    line = " ".join(visible(mask(text)).split())
    longest = max((len(run) for run in _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}" if line else ""


def block(text: str, language: str = "") -> str:
    """Return a fenced block that its content cannot close."""
    # Bots read commands at the start of raw lines, fenced or not.
    lines = _COMMAND.sub(rf"\1{_WORD_JOINER}/", visible(mask(text)))
    longest = max((len(run) for run in _TICKS.findall(lines)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{lines}\n{fence}"


def cell(markdown: str) -> str:
    """Return sanitised Markdown for a table cell, in which a pipe must be escaped even inside a code span."""
    # An odd number of backslashes is an escape for every parser.
    odd = _PIPE.sub(lambda found: found[1] + "\\" * (1 + len(found[1]) % 2) + "|", markdown)
    return odd.replace("\n", " ")


def split_code(line: str) -> list[tuple[bool, str]]:
    """Split a line at single-backtick code spans; an unmatched backtick is text, and an empty span is dropped."""
    pieces = line.split("`")
    if len(pieces) % 2 == 0:
        pieces[-2:] = [pieces[-2] + "`" + pieces[-1]]
    cut: list[tuple[bool, str]] = []
    text = [pieces[0]]
    for span, after in zip(pieces[1::2], pieces[2::2], strict=True):
        if span.strip():
            cut += ((False, "".join(text)), (True, span))
            text = []
        text.append(after)
    # Without the white space of a dropped span at the end, which would separate a character from what may follow.
    return [*cut, (False, "".join(text).rstrip())]


def _piece(is_code: bool, text: str) -> str:  # noqa: FBT001  a pair of split_code
    if is_code:
        return code(text)
    pieces: list[str] = []
    at = 0
    for found in _AS_CODE.finditer(text):
        pieces += (_escape_active(text[at : found.start()]), code(found[0]))
        at = found.end()
    return _joined((*pieces, _escape_active(text[at:])))


def _escape_active(text: str) -> str:
    """Return text outside code with every active character escaped or separated from the following text."""
    separate = _LIVE.sub(lambda found: found[0] + _WORD_JOINER, text)
    return _COMMAND.sub(r"\1\\/", _ACTIVE.sub(r"\\\1", separate))


def _joined(pieces: Iterable[str]) -> str:
    """Concatenate pieces; adjacent runs of backticks would merge into one."""
    parts = [""]
    for piece in filter(None, pieces):
        parts += (_WORD_JOINER, piece) if parts[-1].endswith("`") and piece.startswith("`") else (piece,)
    return "".join(parts)
