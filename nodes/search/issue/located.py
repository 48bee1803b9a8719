"""Find a path with a line in any notation: ``p:L:C``, ``p(L,C)``, ``"p", line L``, ``line L of p``, ``p#L12``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote

from nodes.search.tokens import load_sections

MAX_LINE = 2_000
"""Characters of a line that are read."""
_REACH = 80
"""Characters before a path in which its line may be named."""
_NO_ENDINGS = frozenset({"com", "org", "net", "io", "dev", "edu", "gov", "local", "localdomain", "internal"})
"""Endings of hosts; a word such as ``example.com:443`` is a path only after a folder."""
_FORMS = load_sections(Path(__file__).with_name("located.txt"))
_AFTER = tuple(map(re.compile, _FORMS["afters"]))
_COLUMN, _BELOW, _BEFORE = (re.compile("".join(_FORMS[name])) for name in ("column", "below", "before"))
_PATH, _HOST, _NAME, _PROGRAM, _GLUED, _MESSAGE, _LAST, _HEADS, _ROW, _DRAWN = (
    re.compile("".join(_FORMS[name])) for name in "path host name program glued message last head row drawn".split()
)
_BETWEEN, _CELL, _CALLER, _TERSE, _FAILED, _HERE = (
    re.compile("".join(_FORMS[name])) for name in "between cell caller terse failed here".split()
)
_HEADER, _ERROR = (re.compile("".join(_FORMS[name]), re.IGNORECASE) for name in ("header", "error"))
_DOTS, _VALUE = re.compile(r"(?<=\w)\.{3}(?=\w)"), re.compile(r"=[^=<>\n]{1,80}<$")
_R = re.compile(r"#(?P<line>\d{1,6})(?![\w%])")
FAR_BELOW = 8
"""Number of lines from the path that heads a finding to the number of its line."""
_SHELL = (".sh", ".bash", ".bats", ".ksh", ".zsh")


@dataclass(frozen=True, slots=True)
class Located:
    """Lines of a file that a text names."""

    path: str
    """As written, with forward slashes, without an address's scheme and host."""
    line: int
    last: int
    """1-based, inclusive."""
    start: int
    """Offset of the first character of the path, or of the line's number if it is in front."""
    end: int
    """Offset after the last character of the path and its line."""


def find_in_lines(lines: Sequence[str]) -> Iterator[tuple[int, Located]]:
    """Yield each path with a line number in some lines of text, and the index of its line.

    The number may be below the path: ``File: p``, then ``Line: L``; or the path heads a list of ``L:C  error``.
    """
    column = -1
    for at, line in enumerate(lines):
        places = list(find_located(line))
        yield from ((at, place) for place in places)
        column = _column(line, column)
        if not places and (cell := _in_row(line, column)):
            yield at, cell
        after = at + 1 + bool(at + 2 < len(lines) and _BETWEEN.match(lines[at + 1]))
        below = _BELOW.match(lines[after]) if not places and after < len(lines) else None
        if heads := _HEADS.match(line[:MAX_LINE]) if not (places or below) else None:
            numbered = _ROW if heads["table"] else _DRAWN
            rows = takewhile(lambda text: not text.startswith("In "), lines[at + 1 : at + FAR_BELOW])
            found = list(filter(None, map(numbered.match, rows)))
            # Guile prints the innermost call of a file last.
            below = found[-1 if line.startswith("In ") else 0] if found else None
        path = _LAST.search(line[:MAX_LINE]) if below else None
        ended = path[1] if path and "(" in path[1] else path[1].rstrip(")") if path else ""
        if path and below and _is_name(written := _cleaned(ended)) and (number := _number(below)):
            yield at, Located(written, number, number, path.start(1), path.end(1))


def _cells(line: str) -> list[str]:
    return line.strip().strip("|").split("|") if line.lstrip().startswith("|") else []


def _column(line: str, known: int) -> int:
    """Return which column of a table has the numbers of lines; -1 outside such a table."""
    cells = _cells(line[:MAX_LINE])
    return next((at for at, cell in enumerate(cells) if _HEADER.match(cell)), known) if cells else -1


def _in_row(line: str, column: int) -> Located | None:
    """Return the place that a row of a table gives in two cells."""
    cells = _cells(line[:MAX_LINE]) if column >= 0 else []
    number = _CELL.match(cells[column]) if 0 <= column < len(cells) else None
    paths = (match for cell in cells if (match := _LAST.search(cell.rstrip(" *"))))
    path = next((path[1] for path in paths if _is_name(_cleaned(path[1]))), "")
    if not number or not path:
        return None
    return Located(_cleaned(path), int(number["line"]), int(number["line"]), line.index(path), len(line.rstrip(" |")))


def reports_an_error(text: str) -> bool:
    """Return whether a text has the error or warning of a compiler or another tool, with its place."""
    lines = text.split("\n")[:MAX_LINE]
    return any(
        _ERROR.match(line, place.end) or _FAILED.search(line[: place.start])
        for line in lines
        for place in find_located(line)
    )


def forward(path: str) -> str:
    """Replace backslashes with forward slashes, as in Windows paths, ``/./`` with one slash, and the escapes of URLs.

    Compilers write ``src/./queue.h`` for a header that is included as ``./queue.h``.
    """
    written = _HERE.sub("/", path.replace("\\", "/"))
    plain = unquote(written) if "%" in written else written
    return plain if plain.isprintable() else written


def find_located(line: str) -> Iterator[Located]:
    """Yield each path with a line number in one line of text."""
    line = line[:MAX_LINE]
    # Most lines name no file, and the pattern is slow.
    if not any(part in line for part in (".", "file", "BUILD", "bin/", "exe/", "libexec/")):
        return
    for path in _PATH.finditer(line):
        glued = _GLUED.search(path[0])
        name, stop = (path[0][: glued.end()], path.start() + glued.end()) if glued else (path[0], path.end())
        # A shell writes after the dots that a program prints while it works: ``Installing...a.sh: line 3``.
        name = _DOTS.split(name)[-1]
        begin, written = stop - len(name), _cleaned(name)
        found = _named(line, name, begin, stop) if _is_name(written) and not _VALUE.search(line[:begin]) else None
        if found and (first := _number(found)):
            last = int(found.groupdict().get("last") or first)
            yield Located(written, first, max(first, last), min(begin, found.start()), max(stop, found.end()))


def _named(line: str, path: str, start: int, end: int) -> re.Match[str] | None:
    """Return the match of a line number after a path, or before it."""
    if found := next(filter(None, (form.match(line, end) for form in _AFTER)), None):
        return found
    ahead = line[max(0, start - _REACH) : start].rstrip()
    # ``L:C`` after a space and another path may be a time.
    is_styled = path.endswith((".dart", ".scss", ".sass", ".css", ".less"))
    has_columns = is_styled or ahead.endswith(("@", "ERROR in", "WARNING in"))
    if has_columns and (found := _COLUMN.match(line, end)):
        return found
    form = _TERSE if path.startswith("package:") else _R if path.endswith((".R", ".r", ".Rmd")) else None
    if form and (found := form.match(line, end)):
        return found
    if line.endswith(")") and (found := _MESSAGE.match(line, end)):
        return found
    if path.endswith(_SHELL) and not line[end:].strip() and (found := _CALLER.match(line)) and found.end() == start:
        return found
    return _BEFORE.search(line, max(0, start - _REACH), start)


def _number(found: re.Match[str]) -> int:
    """Return the number of the line in a match."""
    named = found.groupdict()
    return int(next(filter(None, map(named.get, ("line", "row", "nth", "ahead", "short", "plus", "prose"))), "0"))


def _cleaned(written: str) -> str:
    """Return a path with forward slashes, without an address's scheme and host and a file system's prefix."""
    path = written.replace("\\\\", "/").replace("\\", "/")
    if ":/" in path[:32] and path[1:2] != ":":
        host = _HOST.match(path)
        path = path[host.end() :] if host else path
    elif path.startswith("package:"):
        # Dart: the package's name, then a path below its folder ``lib``.
        package, _, rest = path.removeprefix("package:").partition("/")
        path = f"{package}/lib/{rest}"
    elif path.startswith(("psql:", "webpack:", "file:", "app:", "dart:")):
        path = path.partition(":")[2]
    first, at, rest = path.partition("@")
    # ``error@source/app.d``: the error of a D program.
    if at and first and "/" not in first:
        path = rest
    while path.startswith(("./", "../")):
        path = path.partition("/")[2]
    return forward(path.rstrip(".,"))


def _is_name(path: str) -> bool:
    name = path.rpartition("/")[2]
    if _PROGRAM.fullmatch(path):
        return True
    return bool(_NAME.match(name)) and ("/" in path or name.rpartition(".")[2].lower() not in _NO_ENDINGS)
