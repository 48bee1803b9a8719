"""Outlines code in a language without a grammar by its lines: words that define at their start, blocks by indentation.

A block ends before the next line that is not indented further; a line that closes it, such as ``end`` or ``}``, is its
last one.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import accumulate
from pathlib import Path

from nodes.search.git.objects import decode
from nodes.search.languages.grammar import MAX_NAME, MAX_STRINGS, FoundBlock, Language, message, nested
from nodes.search.tokens import indent_of
from nodes.search.types import Outline

_NAME = r"[^\W\d][\w.:]*[?!]?"
_TYPED = (
    r"(?:(?!(?:return|await|throw|new|else|case|yield|assert|in|if|for|while|switch|catch|delete|echo|print|const)\b)"
    r"[\w<>\[\],.?*&]+[ \t]+)"
)
_NO_CALL = r"(?!(?:if|for|while|switch|catch|return|elseif|foreach|synchronized|with|do|try|when|until|unless)\b)"
METHODS = (
    (
        "function",
        rf"{_TYPED}{{0,6}}{_NO_CALL}(?P<name>[^\W\d]\w*)(?:<[^<>()\n]{{0,80}}>)?[ \t]*"
        r"\([^()\n]{0,400}\)(?:[^;(){}=,\n]{0,200}(?:\{|=>)|[ \t]*$(?=\s{0,80}\{))",
    ),
    ("function", rf"{_TYPED}{{1,6}}{_NO_CALL}(?P<name>[^\W\d]\w*)[ \t]*\([\[{{]?[ \t]*$"),
)
"""A method as C, Java and Dart write it: types, name and parameters, then a body here or below; or only its first
line, if each parameter has a line."""
_IMPORT = re.compile(
    r"^[ \t]{0,40}(?:local[ \t]+\w{1,60}[ \t]*=[ \t]*)?(?:import|use|require|alias|open|source|library|include|using)\b"
    r"[ \t(]*(?:qualified[ \t]+)?[\"'<]?(?P<module>[\w./:@-]{1,200})",
    re.MULTILINE,
)
_HEREDOC = re.compile(r"<<[-~]?[\"']?([A-Z_][A-Z_\d]*)\b")
_CLOSES = re.compile(r"(?:end|End|fi|done|esac|endfunction|endfunc|enddef)\b|[)}\]]|;;")
_OPENS = re.compile(r"(?:[{(\[=:]|->|\b(?:do|then|begin|where|is))$")
_CONTINUES = re.compile(r"[{|]|(?:begin|do|then|where|is)$")
"""A line at the indentation of its block's head that is part of the block."""


@dataclass(frozen=True, slots=True)
class Syntax:
    """The forms of one language without a grammar: a table of ``forms.toml``."""

    name: str
    endings: str
    files: str = ""
    """Names of files without such an ending."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The words before a definition's name, by its kind."""
    before: str = ""
    """Words that may precede these keywords, such as ``pub``."""
    comment: str = "#"
    """The pattern that starts a comment up to the end of the line."""
    spans: tuple[tuple[str, str], ...] = ()
    """Patterns that start and end a comment or a string of several lines."""
    quotes: str = "\"'"
    """Characters that enclose strings."""
    across: bool = False
    """Whether an ordinary string may extend over lines."""
    named: str = _NAME
    """The pattern of a name after a word."""
    methods: bool = False
    """Whether methods are written as in C, without a word that defines."""
    others: tuple[tuple[str, str], ...] = ()
    """Kinds and patterns of further definitions; ``name`` is the name, ``owner`` what precedes it with a dot."""
    clauses: bool = False
    """Whether a function may have several clauses, each of which repeats its name."""

    def __hash__(self) -> int:
        """Identify a language by its name."""
        return hash(self.name)


SYNTAX = {
    name: Syntax(name, **row)
    for name, row in tomllib.loads(Path(__file__).with_name("forms.toml").read_text(encoding="utf-8")).items()
}


def outline_by_lines(syntax: Syntax, source: bytes) -> Outline:
    """Outline a file in time linear in its size."""
    text = decode(source).replace("\r\n", "\n")
    page = _Page(text)
    strings = tuple(_read_spans(syntax, page))[:MAX_STRINGS]
    _hide_documents(page)
    heads = _heads(syntax, page)
    _close(page, heads, syntax)
    found = [FoundBlock(head.kind, head.name, head.line, head.end, head.line, head.end) for head in heads.values()]
    imports = dict.fromkeys(match["module"] for match in _IMPORT.finditer(text))
    return Outline(syntax.name, nested(_joined(found) if syntax.clauses else found), tuple(imports), strings)


class _Page:
    """The lines of a text, and which of them begin inside a string or a comment."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.inside = bytearray(len(self.lines) + 2)
        self._starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def line_at(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return bisect_right(self._starts, offset)

    def hide(self, first: int, last: int) -> None:
        """Mark lines as the inside of a string or a comment."""
        self.inside[first : last + 1] = b"\1" * max(0, last + 1 - first)


@dataclass(slots=True)
class _Head:
    """A definition whose end is not known yet."""

    kind: str
    name: str
    line: int
    indent: int
    end: int = field(default=0)


def _read_spans(syntax: Syntax, page: _Page) -> Iterator[tuple[int, str]]:
    """Hide the lines that begin inside a string or a comment; yield the messages with their lines."""
    for token in tokens(syntax).finditer(page.text):
        if token.lastgroup == "comment":
            continue
        line = page.line_at(token.start())
        page.hide(line + 1, line + token[0].count("\n"))
        if token.lastgroup == "string" and (text := message(token[0].encode())):
            yield line, text


@cache
def tokens(syntax: Syntax) -> re.Pattern[str]:
    """Return the pattern of a language's comments and strings; an unclosed one ends with its line, or with the text."""
    spans = "|".join(rf"{start}(?s:.*?)(?:{end}|\Z)" for start, end in syntax.spans) or r"(?!)"
    inside = r"[^{0}\\]" if syntax.across else r"[^{0}\\\n]"
    strings = "|".join(rf"{quote}(?>(?:\\.|{inside.format(quote)})*){quote}?" for quote in syntax.quotes)
    return re.compile(rf"(?P<span>{spans})|(?P<comment>{comment_of(syntax)})|(?P<string>{strings})", re.MULTILINE)


def comment_of(syntax: Syntax) -> str:
    """Return the pattern of a comment up to the end of its line."""
    # Only after white space: the mark may be part of an address, of ``$#`` or of ``${a#b}``.
    return rf"(?<!\S)(?:{syntax.comment})[^\n]*"


def _hide_documents(page: _Page) -> None:
    """Hide the lines of here-documents, which have no indentation of their own."""
    if "<<" not in page.text:
        return
    ends: dict[str, list[int]] = {}
    for number, line in enumerate(page.lines, 1):
        ends.setdefault(line.strip().rstrip(";"), []).append(number)
    past = 0
    for number, line in enumerate(page.lines, 1):
        if number > past and (opened := _HEREDOC.search(line)):
            closing = ends.get(opened[1], [])
            at = bisect_right(closing, number)
            if at < len(closing):
                past = closing[at]
                page.hide(number + 1, past)


def _heads(syntax: Syntax, page: _Page) -> dict[int, _Head]:
    """Return the first line of each definition, by its number."""
    found: dict[int, _Head] = {}
    for kind, pattern in patterns(syntax):
        for match in pattern.finditer(page.text):
            # From the name backwards, because white space at the start of a match may contain line feeds.
            line = page.line_at(match.start("name"))
            name = _name(match)
            if name and line not in found and not page.inside[line]:
                found[line] = _Head(kind, name, line, indent_of(page.lines[line - 1]))
    return dict(sorted(found.items()))


@cache
def patterns(syntax: Syntax) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the kinds and patterns of a language's definitions."""
    before = rf"(?:(?:{'|'.join(syntax.before.split())})[ \t]+){{0,6}}" if syntax.before else ""
    rows = [
        (kind, rf"{before}(?:{'|'.join(words.split())})[ \t]*(?<!\w)(?P<name>{syntax.named})")
        for kind, words in syntax.words.items()
    ]
    others = METHODS if syntax.methods else ()
    # The first pattern that matches a line counts.
    return tuple((kind, re.compile(rf"^[ \t]*{form}", re.MULTILINE)) for kind, form in (*rows, *syntax.others, *others))


def _name(match: re.Match[str]) -> str:
    parts = match.groupdict()
    written = parts["name"].rpartition("=>")[2].split()[-1:]
    name = "".join(written).removeprefix("self.").strip("`\"'^").replace("::", ".").replace(":", ".").strip(".")
    return ".".join(filter(None, (parts.get("owner"), name)))[:MAX_NAME]


def _close(page: _Page, heads: dict[int, _Head], syntax: Syntax) -> None:
    """Set the last line of each definition."""
    open_: list[_Head] = []
    last, first = 0, next(iter(heads), len(page.lines) + 1)
    comment = re.compile(syntax.comment)
    for number, line in enumerate(page.lines[first - 1 :], first):
        text = line.strip()
        # A comment with less indentation may be code that is switched off.
        if not text or (number not in heads and not page.inside[number] and comment.match(text)):
            continue
        if open_ and not page.inside[number]:
            _end_before(open_, indent_of(line), text, (last, number))
        if number in heads:
            open_.append(heads[number])
        last = number
    for head in open_:
        head.end = last


def _end_before(open_: list[_Head], indent: int, text: str, lines: tuple[int, int]) -> None:
    """End the blocks that a line does not belong to; ``lines`` are the last one with text and this one."""
    if open_[-1].indent < indent:
        return
    closes = _CLOSES.match(text)
    continues = _CONTINUES.match(text) or (closes and _OPENS.search(text))
    while open_ and open_[-1].indent >= indent:
        same = open_[-1].indent == indent
        if same and continues:
            return
        open_.pop().end = lines[1] if same and closes else lines[0]
        closes = None if same else closes


def _joined(found: Sequence[FoundBlock]) -> list[FoundBlock]:
    """Join the clauses of one function that follow each other."""
    result: list[FoundBlock] = []
    for item in found:
        if result and (result[-1].kind, result[-1].name) == (item.kind, item.name) and result[-1].end < item.start:
            result[-1].end = result[-1].end_line = item.end
        else:
            result.append(item)
    return result


LANGUAGES = {
    name: Language(
        name,
        tuple(syntax.endings.split()),
        files=tuple(syntax.files.split()),
        outline_by_lines=partial(outline_by_lines, syntax),
    )
    for name, syntax in SYNTAX.items()
}
