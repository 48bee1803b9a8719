"""Python by its lines: what its grammar says of a plainly written file, in a fifth of the time.

Python's blocks are its indentation, so definitions can be read off the lines once strings and comments are out of the
way. Whatever is not plain (tabs, a bracket or a quote that is left open, a form this does not know) is the parser's.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from nodes.search.languages.code_of_python import MARK, NotPlain, be_plain, code_of, is_closed, sure
from nodes.search.languages.found import Found, nested
from nodes.search.types import Outline

if TYPE_CHECKING:
    from collections.abc import Iterator

DEEPEST = 100
"""Spaces before a definition from which a parser must look: each level reads its block once more."""
# A group is repeated within (?>…), for before Python 3.11.5 the possessive *+ of a group loses matches.
_HEAD = re.compile(rb"\n( *+)(?:(@)|(?:async +)?(def|class) +([\w\x80-\xff]+))")
_HEAD_ENDS = re.compile(rb" *+(?:\([^()]*+\))? *+:")
"""A head as most are; one with brackets in its brackets, or with a result, takes longer."""
_FROM = re.compile(rb"from *+(\.[. ]*+[\w.\x80-\xff]*|[\w.\x80-\xff]+) *+")
_IMPORT = re.compile(rb"import\b(?<!\wimport)(?<!\.import)")
_MODULE = re.compile(rb" *+([\w.\x80-\xff]+)(?: +as +[\w\x80-\xff]+)? *+")
_TURN = re.compile(rb"[()\[\]{}:\n]")
_BLOCK = re.compile(rb"[ \r]*+#*+[ \r]*+(?>(?:\n[ \r]*+#*+[ \r]*+(?=\n))*)\n( *+)(?=[^\s#])")
_NOTHING = re.compile(rb"(?>(?:[ \r]*+#*+\r?\n)*)")


def plainly(source: bytes) -> Outline | None:
    """Read the outline of a Python file off its lines; None for what only a parser can tell."""
    try:
        return _Reader(source).outline()
    except NotPlain:
        return None


class _Reader:
    """One file, and its code alone."""

    def __init__(self, source: bytes) -> None:
        self._source = source.removeprefix(MARK)
        self._code, self._strings = code_of(self._source)

    def outline(self) -> Outline:
        """Return what the grammar would say."""
        found: list[Found] = []
        decorated = after = end = counted = -1
        line = 0
        for head in _HEAD.finditer(self._code):
            start = decorated if head.start() == after else head.start()
            be_plain(start >= end and after in (-1, head.start()))
            if head[2]:
                decorated, after = start, self._after(head.end())
            else:
                line += self._source.count(b"\n", max(0, counted), start)
                counted, after = start, -1
                definition, end = self._definition(head, start, line + 1)
                found.append(definition)
        return Outline("python", nested(found), tuple(dict.fromkeys(self._imports())), self._strings)

    def _imports(self) -> Iterator[str]:
        """Yield what is imported; the word stands in nothing else."""
        code, last, line = self._code, 0, -1
        for word in _IMPORT.finditer(code):
            begin = 1 + max(code.rfind(mark, last, word.start()) for mark in (b"\n", b";", b":"))
            before, last = code[begin : word.start()].lstrip(), word.end()
            if not before:
                if line < last:  # looked for once a line, for a line may hold a hundred thousand imports
                    line = _line_end(code, last)
                yield from _modules(code[last : _stop(code, last, line)])
                continue
            module = sure(_FROM.fullmatch(before))
            if module[1] != b"__future__":
                yield module[1].decode().strip()

    def _definition(self, head: re.Match[bytes], start: int, line: int) -> tuple[Found, int]:
        """Return what a head defines, and where the head ends."""
        indent, code = len(head[1]), self._code
        simple = _HEAD_ENDS.match(code, head.end())
        colon = simple.end() if simple else self._turn(head.end(), b":")
        block = _BLOCK.match(code, colon)
        if block:
            be_plain(indent < len(block[1]) and indent <= DEEPEST)
            end = self._end(block.end(), indent, len(block[1]))
        else:
            end = colon + len(code[colon : self._turn(colon, b"\n")].rstrip(b" \r\n#"))
            be_plain(code[colon:end].strip() != b"")
        last = line + self._source.count(b"\n", start, end - 1)
        kind = "function" if head[3] == b"def" else "class"
        return Found(kind, head[4].decode(), start, end, line, last), colon

    def _end(self, start: int, indent: int, inner: int) -> int:
        """Return where a block ends: after its last line, and the comments behind it that are no less indented."""
        follows = _outside(indent).search(self._code, start)
        at = follows.start() if follows else len(self._code)
        be_plain(is_closed(self._code, start, at))
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
        for column, end in reversed(comments):
            if column < inner:
                break
            at = end
        return at

    def _turn(self, at: int, mark: bytes) -> int:
        """Return where the first such mark outside of brackets ends."""
        depth = 0
        for turn in _TURN.finditer(self._code, at):
            if turn[0] in b"([{":
                depth += 1
            elif turn[0] in b")]}":
                depth -= 1
            elif depth == 0 and turn[0] == mark:
                return turn.end()
            be_plain(depth > 0 or turn[0] != b"\n")
        be_plain(mark == b"\n")
        return len(self._code)

    def _after(self, at: int) -> int:
        """Return where the line ends behind a decorator and what is no code."""
        nothing = _NOTHING.match(self._code, self._turn(at, b"\n"))
        return nothing.end() - 1 if nothing else at


@cache
def _outside(indent: int) -> re.Pattern[bytes]:
    """The next line of code that is not indented by more."""
    return re.compile(rb"\n {0,%d}[^ \r\n#]" % indent)


def _line_end(code: bytes, at: int) -> int:
    line = code.find(b"\n", at)
    return line if line >= 0 else len(code)


def _stop(code: bytes, at: int, line: int) -> int:
    """Return where a statement without brackets ends, on a line that ends there."""
    semicolon = code.find(b";", at, line)
    return semicolon if semicolon >= 0 else line


def _modules(listed: bytes) -> Iterator[str]:
    """Yield the modules of an import statement."""
    for one in listed.rstrip(b" \r#").split(b","):
        yield sure(_MODULE.fullmatch(one))[1].decode()
