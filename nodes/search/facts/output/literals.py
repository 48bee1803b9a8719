"""String literals of a few lines, joined across ``+`` and line breaks, with a placeholder for each inserted value."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nodes.search.languages.by_lines import SYNTAX, comment_of
from nodes.search.languages.table import language_of
from nodes.search.lazy import lazy
from nodes.search.tokens import WORD, load_sections, normalise_space

HOLE = "\0"
"""Placeholder for a value."""
BEFORE, AFTER = 6, 14
"""Number of lines before and after a literal that belong to its message."""
MAX_WIDTH = 1_500
_DOUBLE = r'"(?:[^"\\\n]|\\[\s\S])*"'
_SINGLE = r"'(?:[^'\\\n]|\\[\s\S])*'"
_TICK = r"`(?:\$\{(?:[^{}`]|\{[^{}`]*\}|`[^`]*`)*+\}|[^`\\]|\\[\s\S])*+`"
_TRIPLE = r'"""(?:[^"\\]|\\[\s\S]|"(?!""))*"""'
_TRIPLE_SINGLE = r"'''(?:[^'\\]|\\[\s\S]|'(?!''))*'''"
_RUST_RAW = r'b?r"[^"]*"|b?r#"(?:[^"]|"(?!#))*"#'
_CHAR = r"'(?:[^'\\\n]|\\[^\n]{1,8})'"
_LIFETIME = r"'\w+(?!')"
_COMMENTS = {"python": r"#[^\n]*", "ruby": r"#[^\n]*", "php": r"(?://|#)[^\n]*"}
_SLASHES = r"//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/"
_STRINGS = {
    "python": f"{_TRIPLE}|{_TRIPLE_SINGLE}|{_DOUBLE}|{_SINGLE}",
    "cython": f"{_TRIPLE}|{_TRIPLE_SINGLE}|{_DOUBLE}|{_SINGLE}",
    "javascript": f"{_TICK}|{_DOUBLE}|{_SINGLE}",
    "typescript": f"{_TICK}|{_DOUBLE}|{_SINGLE}",
    "tsx": f"{_TICK}|{_DOUBLE}|{_SINGLE}",
    "component": f"{_TICK}|{_DOUBLE}|{_SINGLE}",
    "ruby": f"{_DOUBLE}|{_SINGLE}",
    "php": f"{_DOUBLE}|{_SINGLE}",
    "go": f"{_TICK}|{_DOUBLE}",
    "rust": f"{_RUST_RAW}|{_DOUBLE}",
}
_OTHERS = f"{_TRIPLE}|{_DOUBLE}"
_PREFIX = r"(?:\b[rRbBuUfFtTL]{1,2}|\$@?|@\$?|\bu8)?"
_FORMS = load_sections(Path(__file__).with_name("literals.txt"))
_PLACE, _ESCAPE, _APPENDED, _NOTHING_BETWEEN, _VALUE_BETWEEN, _COMPARED = (
    lazy("".join(_FORMS[name])) for name in "place escape appended nothing_between value_between compared".split()
)
_COMPARED_AFTER, _VALUE_AFTER = (lazy("".join(_FORMS[name])) for name in ("compared_after", "value_after"))
_JOINTS = ('"', "'", "`", "\\", "+", "<<", "&", " .")
"""Endings of a line whose message continues; from the fifth on, beginnings of the continuation line."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A message as the code writes it."""

    parts: tuple[str, ...]
    """The fixed text between values, with normalised white space."""
    line: int
    """1-based line on which the longest part begins."""
    start: int
    """Line of the first quote."""
    before: str
    """Code before the literal, on its line and the lines above."""
    takes_value: bool
    """Whether a value follows its last fixed word."""
    is_compared: bool
    """Whether the code looks for it in another text."""


def literals_at(path: str, lines: Sequence[str], line: int) -> list[Literal]:
    """Return the messages that have a string literal beginning on a line (1-based)."""
    first = _statement(lines, line)
    window = "\n".join(text[:MAX_WIDTH] for text in lines[first - 1 : line + AFTER])
    return [item for item in _joined(path, window, first) if item.start <= line <= max(item.line, item.start + BEFORE)]


def _statement(lines: Sequence[str], line: int) -> int:
    """Return the first line of the statement; preceding lines may contain the beginning of the same message."""
    first = line
    while (
        first > 1 and line - first < BEFORE and _continues(lines[first - 2][:MAX_WIDTH], lines[first - 1][:MAX_WIDTH])
    ):
        first -= 1
    return max(1, first - 3)


def _continues(above: str, text: str) -> bool:
    return above.rstrip().endswith(_JOINTS) or text.lstrip().startswith(_JOINTS[4:])


@cache
def _tokens(language: str | None) -> re.Pattern[str]:
    syntax = SYNTAX.get(language or "")
    comment = comment_of(syntax) if syntax else _COMMENTS.get(language or "", _SLASHES)
    others = f"{_OTHERS}|{_SINGLE}" if syntax and "'" in syntax.quotes else _OTHERS
    strings = _STRINGS.get(language or "", others)
    # Where single quotes enclose characters, the character of a double quote would seem to begin a string.
    other = "" if "'" in strings.replace(_RUST_RAW, "") and language != "rust" else f"|{_CHAR}|{_LIFETIME}"
    return re.compile(f"(?P<comment>{comment})|(?P<string>{_PREFIX}(?:{strings})){other}")


def _joined(path: str, window: str, first: int) -> Iterator[Literal]:
    run: list[tuple[int, int, str]] = []
    for token in _tokens(language_of(path)).finditer(window):
        if token["string"] is None:
            continue
        gap = _gap(window[run[-1][1] : token.start()]) if run else None
        if run and gap is None:
            yield _literal(window, run, first)
            run = []
        run.append((token.start(), token.end(), (gap or "") + _content(token["string"])))
    if run:
        yield _literal(window, run, first)


def _gap(between: str) -> str | None:
    """Return the placeholder for the code between two literals, or None if they are separate messages."""
    # So far apart, two literals are separate arguments or statements.
    if len(between) > 200:
        return None
    if _NOTHING_BETWEEN.fullmatch(between):
        return ""
    appended = _APPENDED.fullmatch(between)
    if appended:
        return HOLE if appended["value"] else ""
    return HOLE if _VALUE_BETWEEN.fullmatch(between) else None


def _content(quoted: str) -> str:
    text = re.sub(r"^[^\"'`]{0,4}#?(\"\"\"|'''|[\"'`])", "", quoted)
    text = re.sub(r"(\"\"\"|'''|[\"'`])#?$", "", text)
    return _ESCAPE.sub(_plain, _PLACE.sub(HOLE, text))


def _plain(escape: re.Match[str]) -> str:
    code = escape[1]
    return " " if code[0] in "nrt0 \n\r" else (HOLE if code[0] in "xu" and len(code) > 1 else code)


def _literal(window: str, run: Sequence[tuple[int, int, str]], first: int) -> Literal:
    fixed = "".join(text for *_, text in run).split(HOLE)
    parts = tuple(part for item in fixed if (part := normalise_space(item)))
    # A reader recognises the message by its longest part, which may not be on the first line.
    longest = max(run, key=lambda item: len(item[2]))
    start = run[0][0]
    return Literal(
        parts,
        line=first + window.count("\n", 0, longest[0]),
        start=first + window.count("\n", 0, start),
        before=window[:start],
        takes_value=not WORD.search(fixed[-1]) or _VALUE_AFTER.match(window, run[-1][1]) is not None,
        is_compared=bool(_COMPARED.search(window[:start][-80:]) or _COMPARED_AFTER.match(window, run[-1][1])),
    )
