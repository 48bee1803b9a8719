"""The lines that a commit added to a file, and the one of them that shows the change in the commit that is read."""

import re
from collections import Counter
from collections.abc import Collection
from difflib import SequenceMatcher

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import Code
from nodes.search.facts.types import Hit
from nodes.search.git.errors import SearchError

MAX_COMPARED = 4_000
"""Maximum number of lines of a file that are compared, because comparing takes quadratic time at worst."""
_ANNOTATION = re.compile(
    r"(?:(?<=[\w)])\s{0,3}:\s{0,3}|\s{0,3}->\s{0,3})[A-Za-z_][\w.\[\], |'\"]{0,80}?(?=\s{0,3}[,)=:{]|\s{0,3}$)"
)
_FORMAT = re.compile(r"\s+|,(?=\s{0,3}[)\]}])|[;,]\s{0,3}$")


def find_added(code: Code, path: str, change: str, named: Collection[str] = ()) -> Hit | None:
    """Return the longest line that a change added, if those left are in one definition, or one with a given name."""
    number = code.number(path)
    if number is None or not code.own[number]:
        return None
    texts = {text.strip() for text in _added_lines(code, path, change) if text.strip() and not is_comment(text)}
    lines = [line.strip() for line in code.lines(number)]
    # Of two equal lines of the file, one may be older than the commit.
    often = Counter(lines)
    places = [at for at, line in enumerate(lines, 1) if line in texts and often[line] == 1]
    symbols = {line: code.symbol(number, line) or "" for line in places}
    around = {symbol for symbol in symbols.values() if symbol.rpartition(".")[2] in named} or {*symbols.values()}
    if len(around) != 1 or around == {""}:
        return None
    # A line with few letters, such as a bracket, would tell a reader nothing.
    inside = [line for line in places if symbols[line] in around]
    return code.hit(number, max(inside, key=lambda at: sum(map(str.isalnum, lines[at - 1]))))


def lines_at(code: Code, sha: str, path: str) -> list[str]:
    """Return the lines of a file at a commit, none if it has no such text file."""
    content = code.repository.read_file(sha, path)
    return content.decode("utf-8", "replace").split("\n") if content is not None else []


def body_of(line: str) -> str:
    """Return a line without spaces, quotes and annotations, which formatters and type checkers change."""
    return _FORMAT.sub("", _ANNOTATION.sub("", line)).replace('"', "'")


def _added_lines(code: Code, path: str, change: str) -> list[str]:
    try:
        before = lines_at(code, code.repository.resolve(f"{change}~1"), path)
    except SearchError:  # the first commit
        return []
    after = lines_at(code, change, path)
    old, new = ([body_of(line) for line in lines[: MAX_COMPARED + 1]] for lines in (before, after))
    if not old or max(len(old), len(new)) > MAX_COMPARED:
        return []
    blocks = SequenceMatcher(None, old, new, autojunk=True).get_opcodes()
    moved = {line.strip() for line in before}
    added = (line for tag, _, _, start, end in blocks if tag != "equal" for line in after[start:end])
    return [line for line in added if line.strip() not in moved]
