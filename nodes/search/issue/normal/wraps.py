"""Joins lines that a terminal or a mail program wrapped, and separates frames that lost their line feeds."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from nodes.search.issue.normal.evidence import FORMS, MAX_LINE, is_traced
from nodes.search.issue.normal.mapped import Edit, Row, rows
from nodes.search.lazy import lazy

_MAX_JOINED = 6
"""Maximum number of lines of one frame."""
_KINDS = tuple(
    (lazy(rf"\s{{0,20}}{begins}"), lazy(rf"\s{{0,20}}{ends}"))
    for begins, ends in zip(FORMS["begins"], FORMS["ends"], strict=True)
)
"""How a frame begins and how it may end: a line that only begins is joined with the next ones if that makes it end."""
_STARTS = tuple(map(lazy, FORMS["inside"]))
"""How each kind of frame begins in the middle of a line; not inside another frame."""
_CAUSE = lazy(
    r"(?<=\s)(?:Caused by: |--- (?=End of )|Stack trace:|During handling of the above|The above exception was"
    r"|Traceback \(most recent)"
)
_IN = lazy(r", in [\w.<>]{1,200}")
_ERROR = lazy(
    r"(?<=[\s\"'\[])(?<!Uncaught )(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,80}"
    r"(?:Error|Exception|Warning|Exit|Interrupt|Iteration)(?=: |$)"
)
_JOINED = 40
"""The minimum number of characters of a line with two frames."""
_NARROWEST = 60
"""The minimum width of a terminal."""
_WIDTHS = frozenset({79, 80, 100, 120, 128, 132, 140, 150, 160, 180, 200})
_REACH = 200
_PATH_END = lazy(r"[/\\][\w.~-]{1,80}\.[A-Za-z]\w{0,4}:$|\", line \d{1,8}$")
_NUMBER = lazy(r"\d{1,6}(?::\d{1,6})?: \S|\d{1,8}, in \S")
_NAMED = lazy(r"[\w.]{1,200}(?::|$)")
_MARKED = lazy(r"`{3}|~{3}|-{3}|={3}|[#>|]")
"""The beginning of a line that continues no other: a fence, a rule, a note between frames."""


def joined(text: str) -> list[Edit]:
    """Separate the frames that a line contains, if there are two or more."""
    # A line with escapes is decoded first.
    return [
        edit for row in rows(text) if len(row.text) >= _JOINED and "\\n" not in row.text for edit in _separated(row)
    ]


def _separated(row: Row) -> Iterator[Edit]:
    for kind in _STARTS:
        starts = [found.start() for found in kind.finditer(row.text)]
        if len(starts) < 2 and not (starts and "Traceback (most recent" in row.text):
            continue
        cuts = {*starts, *(found.start() for found in _CAUSE.finditer(row.text))}
        # What a log wrote before the error stays on a line of its own.
        cuts.update(found.start() for found in _ERROR.finditer(row.text, 0, starts[0]))
        if kind is _STARTS[0]:
            cuts.update(_python_cuts(row.text, starts))
        # In a list the frames are in quotation marks; in other traces these belong to the names.
        between = " \t,\"'" if kind is _STARTS[1] else " \t"
        for cut in sorted(cuts - {0}):
            # The line feed was in the characters between two frames.
            if ahead := row.text[:cut].rstrip(between):
                yield Edit(row.start + len(ahead), row.start + cut, "\n  ")
        last = next(kind.finditer(row.text, starts[-1])).end()
        if kind is _STARTS[1] and not row.text[last:].strip(between + "]}"):
            yield Edit(row.start + last, row.end)
        return


def _python_cuts(line: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield where the source below each frame begins, and the error below the last one."""
    for start, stop in zip(starts, (*starts[1:], len(line)), strict=True):
        name = _IN.search(line, start, stop)
        if name and name.end() < stop:
            yield name.end()
    errors = [found.start() for found in _ERROR.finditer(line, starts[-1])]
    if errors:
        yield errors[-1]


def wrapped(text: str) -> list[Edit]:
    """Join the lines of a frame that a terminal or a mail program wrapped."""
    lines = list(rows(text))
    # Lines are cut at the width of a terminal, or at any at which several long lines end.
    lengths = [len(row.text) for row in lines if len(row.text) >= _NARROWEST]
    widest = max(lengths, default=0)
    width = widest if widest in _WIDTHS or lengths.count(widest) > 2 else None
    edits: list[Edit] = []
    index = 0
    while index < len(lines):
        length, glue = _continued(lines, index)
        pair = lines[index : index + 2]
        if length == 1 < len(pair) and (_is_cut(pair[0].text, pair[1].text) or _is_full(pair[0], pair[1], width)):
            length, glue = 2, ""
        for row, below in pairwise(lines[index : index + length]):
            margin = len(below.text) - len(below.text.lstrip())
            edits.append(Edit(row.start + len(row.text.rstrip()), below.start + margin, glue))
        index += length
    return edits


def _continued(lines: Sequence[Row], index: int) -> tuple[int, str]:
    """Return the number of lines that make up a frame, and what was between them."""
    kind = next((kind for kind in _KINDS if kind[0].match(lines[index].text[:MAX_LINE])), None)
    if kind is None or kind[1].match(lines[index].text[:MAX_LINE].rstrip()):
        return 1, ""
    close = close_spaced = lines[index].text.rstrip()
    for count, row in enumerate(lines[index + 1 : index + _MAX_JOINED], 2):
        bare = row.text.strip()
        is_rest = kind is _KINDS[1] and (bare.startswith(("at ", "from ")) or close.endswith(" at"))
        if not bare or len(close_spaced) > MAX_LINE or (is_traced(bare) and not is_rest):
            break
        close, close_spaced = close + bare, f"{close_spaced} {bare}"
        for whole, glue in ((close, ""), (close_spaced, " ")):
            if kind[1].match(whole):
                return count, glue
    return 1, ""


def _is_cut(line: str, below: str) -> bool:
    """Return whether a line ends with a path and a colon, and the next one begins with the line's number."""
    return bool(_NUMBER.match(below)) and bool(_PATH_END.search(line[-_REACH:]))


def _is_full(row: Row, below: Row, width: int | None) -> bool:
    """Return whether an indented line of a trace fills the terminal and the next one continues it."""
    if len(row.text) != width or not row.text[0].isspace() or not below.text or below.text[0].isspace():
        return False
    return not is_traced(below.text) and not _NAMED.match(below.text) and not _MARKED.match(below.text)
