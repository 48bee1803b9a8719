"""Outlines plainly written Python by its lines: the grammar's result in a fifth of the time.

Python's blocks are its indentation, so definitions can be read from the lines once strings and comments are masked. Any
other file (with tabs, an open bracket or quote, or an unknown form) needs the parser.
"""

import re
from collections.abc import Iterator
from functools import cache

from nodes.search.languages.grammar import MAX_STRINGS, FoundBlock, message, nested
from nodes.search.types import Outline

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
DEEPEST = 100
"""Maximum spaces before a definition: each level reads its block once more, so deeper files go to the parser."""
# Groups are repeated within (?>…), because before Python 3.11.5 the possessive *+ of a group loses matches.
_HEAD = re.compile(rb"\n( *+)(?:(@)|(?:async +)?(def|class) +([\w\x80-\xff]+))")
_HEAD_ENDS = re.compile(rb" *+(?:\([^()]*+\))? *+:")
"""The end of a common head; one with nested brackets or a return annotation takes the slower path."""
_FROM = re.compile(rb"from *+(\.[. ]*+[\w.\x80-\xff]*|[\w.\x80-\xff]+) *+")
_IMPORT = re.compile(rb"import\b(?<!\wimport)(?<!\.import)")
_MODULE = re.compile(rb" *+([\w.\x80-\xff]+)(?: +as +[\w\x80-\xff]+)? *+")
_TURN = re.compile(rb"[()\[\]{}:\n]")
_BLOCK = re.compile(rb"[ \r]*+#*+[ \r]*+(?>(?:\n[ \r]*+#*+[ \r]*+(?=\n))*)\n( *+)(?=[^\s#])")
_NOTHING = re.compile(rb"(?>(?:[ \r]*+#*+\r?\n)*)")


class NotPlain(Exception):  # noqa: N818 - not an error
    """The file needs a parser."""


def code_of(source: bytes) -> tuple[bytes, tuple[tuple[int, str], ...]]:
    """Return the masked code and the first messages of a source, each with its 1-based line.

    The code is the source after a line feed, with comments and strings masked by as many bytes without line feeds.

    Raises:
        NotPlain: brackets or strings are open, or indentation has characters other than spaces.
    """
    # Lines end with a line feed here, but the grammar also accepts a lone carriage return.
    require_plain(source.count(b"\r") == source.count(b"\r\n"))
    strings: list[tuple[int, str]] = []
    code = b"".join([b"\n", *_pieces(source, strings)])
    # A tab counts as up to eight columns and a form feed resets the column, so the number of spaces is not the
    # indentation.
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
            # The parser must read an f-string with possible messages inside.
            if b"{" in quoted and any(letter in b"fF" for letter in source[max(0, at - 2) : at]):
                require_plain(quoted.count(b"{") == quoted.count(b"}") and not _QUOTED_INSIDE.search(quoted))
            if len(strings) < MAX_STRINGS and (text := message(quoted)):
                # Counted from the last message on: counting from the start each time would take quadratic time.
                line, counted = line + source.count(b"\n", counted, at), at
                strings.append((line, text))
            # Masked by as many bytes, so that offsets in the code are offsets in the source.
            yield b'"' * len(quoted)
        elif other:
            yield (b"#" if other[0] == ord("#") else b" ") * len(other)
        at += len(quoted) + len(other)


def is_closed(code: bytes, start: int, end: int) -> bool:
    """Return whether the numbers of opening and closing brackets match for each kind."""
    return all(code.count(one, start, end) == code.count(other, start, end) for one, other in _PAIRS)


def require_plain(what: bool) -> None:  # noqa: FBT001 - reads like an assertion
    """Raise NotPlain unless a condition that plain source meets is true."""
    if not what:
        raise NotPlain


def require_match(match: re.Match[bytes] | None) -> re.Match[bytes]:
    """Return a match; raise NotPlain if there is none."""
    if match is None:
        raise NotPlain
    return match


def outline_by_lines(source: bytes) -> Outline | None:
    """Outline a Python file by its lines; None if only a parser can do that."""
    try:
        source.decode()
        return _Reader(source).outline()
    except (NotPlain, UnicodeDecodeError):
        return None


class _Reader:
    """One file and its masked code."""

    def __init__(self, source: bytes) -> None:
        self._source = source.removeprefix(MARK)
        self._code, self._strings = code_of(self._source)

    def outline(self) -> Outline:
        """Return the outline that the grammar would give."""
        found: list[FoundBlock] = []
        decorated = after = end = counted = -1
        line = 0
        for head in _HEAD.finditer(self._code):
            # A definition starts at its first decorator; ``after`` is where the definition of the last decorator has
            # to begin.
            start = decorated if head.start() == after else head.start()
            require_plain(start >= end and after in (-1, head.start()))
            if head[2]:
                line_end = self._turn(head.end(), b"\n")
                # After the decorator, blank and comment lines may follow.
                nothing = _NOTHING.match(self._code, line_end)
                decorated, after = start, nothing.end() - 1 if nothing else head.end()
            else:
                line += self._source.count(b"\n", max(0, counted), start)
                counted, after = start, -1
                definition, end = self._definition(head, start, line + 1)
                found.append(definition)
        return Outline("python", nested(found), tuple(dict.fromkeys(self._imports())), self._strings)

    def _imports(self) -> Iterator[str]:
        """Yield the imported modules; in masked code the word ``import`` occurs in import statements only."""
        code, last, line = self._code, 0, -1
        for word in _IMPORT.finditer(code):
            begin = 1 + max(code.rfind(mark, last, word.start()) for mark in (b"\n", b";", b":"))
            before, last = code[begin : word.start()].lstrip(), word.end()
            if not before:
                if line < last:  # computed once per line, because a line may contain a hundred thousand imports
                    line = code.find(b"\n", last)
                    line = line if line >= 0 else len(code)
                semicolon = code.find(b";", last, line)
                for listed in code[last : semicolon if semicolon >= 0 else line].rstrip(b" \r#").split(b","):
                    yield require_match(_MODULE.fullmatch(listed))[1].decode()
                continue
            module = require_match(_FROM.fullmatch(before))
            if module[1] != b"__future__":
                yield module[1].decode().strip()

    def _definition(self, head: re.Match[bytes], start: int, line: int) -> tuple[FoundBlock, int]:
        """Return the definition of a head, and where the head ends."""
        indent, code = len(head[1]), self._code
        # Most heads match this; ``_turn`` walks over brackets and takes longer.
        simple = _HEAD_ENDS.match(code, head.end())
        colon = simple.end() if simple else self._turn(head.end(), b":")
        block = _BLOCK.match(code, colon)
        if block:
            require_plain(indent < len(block[1]) and indent <= DEEPEST)
            end = self._end(block.end(), indent, len(block[1]))
        else:
            end = colon + len(code[colon : self._turn(colon, b"\n")].rstrip(b" \r\n#"))
            require_plain(code[colon:end].strip() != b"")
        last = line + self._source.count(b"\n", start, end - 1)
        kind = "function" if head[3] == b"def" else "class"
        return FoundBlock(kind, head[4].decode(), start, end, line, last), colon

    def _end(self, start: int, indent: int, inner: int) -> int:
        """Return the end of a block: after its last line and the following comments with at least its indentation."""
        follows = _outside(indent).search(self._code, start)
        at = follows.start() if follows else len(self._code)
        # A line with little indentation may be inside an open bracket, and then does not end the block.
        require_plain(is_closed(self._code, start, at))
        comments = []
        while True:
            begin = self._code.rfind(b"\n", 0, at)
            line = self._code[begin + 1 : at].rstrip()
            text = line.lstrip()
            at = begin + 1 + len(line)
            if text and text[:1] != b"#":
                break
            if text:
                comments.append((len(line) - len(text), at))
            at = begin
        # The grammar adds a comment to the block above it if it is indented like that block.
        for column, end in reversed(comments):
            if column < inner:
                break
            at = end
        return at

    def _turn(self, at: int, mark: bytes) -> int:
        """Return the end of the first mark of this kind outside brackets."""
        depth = 0
        for turn in _TURN.finditer(self._code, at):
            if turn[0] in b"([{":
                depth += 1
            elif turn[0] in b")]}":
                depth -= 1
            elif depth == 0 and turn[0] == mark:
                return turn.end()
            require_plain(depth > 0 or turn[0] != b"\n")
        require_plain(mark == b"\n")
        return len(self._code)


@cache
def _outside(indent: int) -> re.Pattern[bytes]:
    """Return the pattern of the next code line that is indented by at most ``indent`` spaces."""
    return re.compile(rb"\n {0,%d}[^ \r\n#]" % indent)
