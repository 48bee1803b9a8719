"""Finds files and lines that a text names: paths, and links into a repository."""

import re
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from nodes.search.issue.located import forward
from nodes.search.issue.mentions.markdown import lines
from nodes.search.tokens import load_words

URL = re.compile(r"https?://[^\s<>\"'`)\]}|\\]{1,500}")
_BLOB = re.compile(
    r"https?://[^/\s]{1,100}/[^/\s]{1,100}/[^/\s]{1,100}"
    r"/(?:blob|tree|blame|raw)/[^/\s]{1,100}/([^\s#?]{1,300})(?:#L(\d{1,7})(?:C\d{1,5})?(?:-L(\d{1,7}))?)?"
)
_SUFFIX = load_words(Path(__file__).with_name("words.txt"))["endings"]
_PATH = re.compile(
    r"(?<![\w./\\@:-])(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/)?(?:(?:[\w@+.-]|%[\dA-Fa-f]{2}){1,100}[\\/]){0,30}(?:[\w@+.-]|%[\dA-Fa-f]{2}){1,120}(?::\d{1,7})?"
)
_BARE_NAMES = frozenset({"Dockerfile", "Makefile", "Rakefile", "Gemfile", "CMakeLists.txt", "Jenkinsfile"})


def find_places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield (path, first, last); both lines are 0 if the text names none."""
    for line in lines(text):
        # URLs are blanked, because their own paths are not files of the repository, except in links to a blob.
        blobs = [
            (blob.start(), (forward(blob[1].rstrip(").,")), int(blob[2] or 0), int(blob[3] or blob[2] or 0)))
            for blob in _BLOB.finditer(line)
        ]
        plain = _plain_places(URL.sub(lambda url: " " * len(url[0]), line))
        yield from (place for _, place in sorted((*blobs, *plain), key=itemgetter(0)))


def is_path(path: str) -> bool:
    """Return whether a word is written like a file name of a repository."""
    name = path.rpartition("/")[2]
    if "." not in name or name in _BARE_NAMES:
        return name in _BARE_NAMES
    stem, _, suffix = name.rpartition(".")
    if not stem.strip(".") or (suffix.lower() if "/" in path else suffix) not in _SUFFIX:
        return False
    # "Node.js" and "Vue.js" are products; a lone "a.b.c" or "x.h" inside code is an attribute.
    return "/" in path or (len(suffix) > 1 and not (suffix == "js" and stem[:1].isupper())) or suffix in {"c", "h"}


def _plain_places(line: str) -> Iterator[tuple[int, tuple[str, int, int]]]:
    for found in _PATH.finditer(line):
        # ``C:\src\a.py`` has a colon that is not followed by a line number.
        path, _, number = found[0].partition(":") if found[0][1:2] != ":" else (found[0], "", "")
        # Most words have none of these, and the name of a file has one.
        if ("." in path or "%" in path or "file" in path) and is_path(path := forward(path.rstrip(".,-"))):
            yield found.start(), (path.removeprefix("./"), int(number or 0), int(number or 0))
