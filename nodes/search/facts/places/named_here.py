"""``named_here``: a line or a file that the report names by its path, or a file whose name is in the title."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput, IssueParts
from nodes.search.facts.names.named import BUILT_IN, SYMPTOM
from nodes.search.facts.places import logged, named_line
from nodes.search.facts.places.linked_here import links
from nodes.search.facts.places.of_class import names_class
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness, is_own
from nodes.search.issue.located import find_located
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.issue.query import COMPOUND
from nodes.search.paths.project import simplified
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, load_sections

FEW, MAX_PLACES, MAX_OF_BLOCK = 3, 20, 200
"""Maximum number of files, because more do not identify a place, of places of output, and of lines of a block."""
_FORMS = load_sections(Path(__file__).with_name("named_here.txt"))
_PATH, _NOT_FOUND, _BARE, _WORD, _PREFIX, _DOTTED, _CLASS, _PART, _SEPARATOR, _INTERFACE = (
    re.compile("".join(_FORMS[name]))
    for name in "path not_found bare word prefix dotted class part separator interface".split()
)
_SOURCE_OF = {"js": ("ts", "tsx"), "mjs": ("mts",), "css": ("scss", "less")}
"""The endings of the sources of compiled files, which a reporter sees installed."""
SHORTEST = 5
"""Minimum length of words of the title that may be the name of a file."""
_SIDE_BY_SIDE = (
    re.compile(r"(?<![\w./\\@:$-])(?=([A-Za-z]\w{1,40} [A-Za-z]\w{1,40}(?![\w/\\])))"),
    re.compile(r"(?<![\w./\\@:$-])(?=([A-Za-z]\w{1,40} [A-Za-z]\w{1,40} [A-Za-z]\w{1,40}(?![\w/\\])))"),
)
"""Two and three words of a title; each match may begin inside another one."""
_INDEX = frozenset({"index", "mod", "lib", "__init__", "init", "main"})
"""Names of files that represent their folder."""
_EXACT = ("named_here", "built_here")
"""Kinds of facts about a line, beside which a function of a log says nothing."""
_GENERAL = frozenset(word.casefold() for word in (*BUILT_IN, *STOPWORDS))


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines that the report names, then the files of own code that its prose names with a folder, if few."""
    code, found = inquiry.code, dict[int, str]()
    # A path and a number say more than the code of the line.
    known = {(item.path, item.line) for item in inquiry.found if item.is_named_line and item.kind != "pasted_here"}
    named = tuple(named_line.find(inquiry))
    # A place with a number, and a message, say more than the function that it is in.
    exact = {path for path, _ in known} | {fact.path for fact in (*named, *inquiry.found) if fact.kind in _EXACT}
    named += tuple(fact for fact in logged.find(inquiry) if fact.path not in exact)
    lines = tuple(fact for fact in named if (fact.path, fact.line) not in known)
    yield from lines
    linked = {link.path for link in links(inquiry.issue.body)} | {fact.path for fact in lines}
    raised = {fact.path for fact in inquiry.found if fact.kind == "raised_here"}
    for line in (inquiry.issue.title, *inquiry.issue.prose):
        for path in _PATH.findall(URL.sub(" ", line)) if "/" in line else ():
            words = _from_root(code, path)
            numbers = [n for n in code.ending(words) if code.own[n]] if is_path(words) else []
            # The number of a frame's line is a fact already.
            is_a_frame = code.path(numbers[0]) in raised and f"{words}:" in line if numbers else False
            # An include that a compiler does not find only ends like the path of a file.
            is_a_frame |= bool(numbers) and words != code.path(numbers[0]) and bool(_NOT_FOUND.search(line))
            if len(numbers) == 1 and code.path(numbers[0]) not in linked and not is_a_frame:
                found.setdefault(numbers[0], words)
        for bare in _BARE.finditer(URL.sub(" ", line)):
            numbers = [
                n for name in _names_of(bare[1], bare[2]) for n in code.index.names.by_name.get(name, ()) if code.own[n]
            ]
            if len(numbers) == 1 and code.path(numbers[0]) not in linked | raised:
                found.setdefault(numbers[0], bare[0])
    if not raised:
        printed = {number: words for number, words in _beyond(inquiry) if code.path(number) not in linked}
        found = dict(_of_frames(inquiry)) or printed or found
    for number, words in found.items() if len(found) <= FEW else ():
        if inquiry.issue.holds(words):
            path, count = code.path(number), _count(code, number)
            beyond = next((line for line in _lines_in(inquiry.issue, words) if line > count), 0)
            values = {"path": path, "line": str(beyond), "count": str(count)}
            says = say("The report names line {line} of `{path}`, which has {count} lines at this commit.", **values)
            says = says if beyond and count else say("The report names the file `{path}`.", path=path)
            # A shorter path with a line that the file lacks is of another program.
            if beyond and words != path and raised:
                continue
            yield Fact("named_here", says, words, path, count=1, strong=True)
    # A path or a link says more than a word of the title that is like the name of a file.
    if not found and not linked:
        yield from _find_in_title(inquiry)


def _names_of(stem: str, ending: str) -> list[str]:
    """Return the names of the files that a file in a report may be."""
    return [f"{stem}.{form}" for form in (ending, *_SOURCE_OF.get(ending, ()))]


def _of_frames(inquiry: FinderInput) -> Iterator[tuple[int, str]]:
    """Yield the file of each trace's innermost frame, and its words, if it is own and lacks the frame's line."""
    code = inquiry.code
    for frame in (trace.frames[0] for trace in inquiry.issue.traces if trace.frames):
        words = _from_root(code, frame.path)
        numbers = [number for number in code.ending(words) if code.own[number]] if "/" in words else []
        if len(numbers) == 1 and (frame.line or 0) > _count(code, numbers[0]):
            yield numbers[0], words


def _beyond(inquiry: FinderInput) -> Iterator[tuple[int, str]]:
    """Yield the files to whose end a path of the report leads, with more lines than they have."""
    code, lines = inquiry.code, (text for block in inquiry.issue.blocks for text in block.split("\n")[:MAX_OF_BLOCK])
    for path, line in islice(((place.path, place.line) for text in lines for place in find_located(text)), MAX_PLACES):
        numbers = code.index.names.by_name.get(path.rpartition("/")[2], ()) if "/" in path else ()
        ours = [number for number in numbers if code.own[number] and f"/{path}".endswith(f"/{code.path(number)}")]
        if len(ours) == 1 and "/" in code.path(ours[0]) and line > _count(code, ours[0]):
            yield ours[0], code.path(ours[0])


def _count(code: Code, number: int) -> int:
    last = len(code.lines(number))
    return last if code.text(number, last) else last - 1  # nothing is after the last newline


def _lines_in(issue: IssueParts, words: str) -> Iterator[int]:
    """Yield the lines that a report names in a file."""
    for line in issue.lines:
        yield from (place.line for place in find_located(line) if words in line and place.path.endswith(words))
    for trace in issue.traces:
        yield from (frame.line for frame in trace.frames if frame.line and frame.path.endswith(words))


def _from_root(code: Code, words: str) -> str:
    """Return a path without the folder of the clone, with which it may begin."""
    first, _, rest = words.partition("/")
    is_clone = not code.ending(words) and "/" in rest and simplified(first) in code.index.project.names
    return rest if is_clone else words


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the commit has the file and that its path ends with the words, or that its name is in the title."""
    path, words = fact.path or "", fact.words or ""
    if fact.in_title:
        return _check_title(fact, witness)
    if fact.line is not None:
        if path.rpartition("/")[2].lower() not in words.lower() and not names_class(path, words):
            return logged.check(fact, witness)
        return named_line.check(fact, witness)
    stem, _, ending = words.rpartition(".")
    if (
        any(f"/{path}".endswith(f"/{name}") for name in _names_of(stem, ending))
        and witness.repository.entry(witness.sha, path) is not None
    ):
        return None
    return "the words do not name this file"


def _find_in_title(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the file that a name in the title has, if it is the only such file.

    A plain word inside a title is usually no name: on development issues such a word led to the right first
    file in 2 of 9 cases. Words that only together have the name of a file are strong on the first file alone, because
    they may as well name a part of the program in plain English.
    """
    code, found = inquiry.code, dict[str, str]()
    written = _title_names(inquiry.issue.title)
    by_name = _by_name(map(code.path, np.flatnonzero(code.own).tolist())) if written else {}
    for words in written:
        paths = by_name.get(_spelling(words), [])
        if len(paths) != 1 or (" " in words and not _is_compound(paths[0])):
            continue
        rows = code.definitions(words) if " " not in words else ()
        if all(code.path_of(row) in paths for row in rows):
            found.setdefault(paths[0], words)
    if len(found) > 1:
        # Words side by side may be plain English, so a single word is preferred.
        found = {path: words for path, words in found.items() if " " not in words}
    for path, words in found.items() if len(found) == 1 else ():
        # A class of errors is rarely at fault (1 of 4 was in a fixed file), nor is an interface (none of 3).
        heads = (head.text for row in code.definitions(words) if (head := code.head(row)))
        is_rarely = SYMPTOM.search(words) or any(map(_INTERFACE.search, heads))
        strong = (" " not in words or path in inquiry.first[:1]) and not is_rarely
        yield Fact("named_here", _says(path), words, path, count=1, strong=strong, in_title=True)


def _check_title(fact: Fact, witness: Witness) -> str | None:
    """Verify that the words spell the name of this file and of no other."""
    same = _by_name(filter(is_own, witness.files())).get(_spelling(fact.words or ""), [])
    return None if same == [fact.path] else "the words are not the name of this file alone"


def _title_names(title: str) -> list[str]:
    """Return what may be the name of a file: compound words, parts of dotted names, prefix, classes, words in a row."""
    plain = URL.sub(" ", title)
    prefix = _PREFIX.match(plain)
    named = [word for word in _WORD.findall(plain) if COMPOUND.search(word)] + ([prefix[1]] if prefix else [])
    named += [part for dotted in _DOTTED.findall(plain) for part in _PART.findall(dotted) if COMPOUND.search(part)]
    named += [found[1] or found[2] for found in _CLASS.finditer(plain)]
    named += [words for many in _SIDE_BY_SIDE for words in many.findall(plain)]
    return [words for words in dict.fromkeys(named) if len(words) >= SHORTEST and words.casefold() not in _GENERAL]


def _says(path: str) -> str:
    # A word of the title may mean anything, so this is a guess for the reader and no finding.
    return say("The title may mean `{path}`, the source file named `{words}`.", words=_stem(path), path=path)


def _is_compound(path: str) -> bool:
    """Return whether the name of a file consists of several words."""
    name = _stem(path).strip("_-")
    return "-" in name or bool(COMPOUND.search(name))


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the files by the spelling of their name; an index file counts only alone in its folder."""
    found, ordered = defaultdict[str, list[str]](list), sorted(paths)
    for path, following in pairwise((*ordered, "")):
        inside = f"{path.rpartition('/')[0]}/" if _is_index(path) else None
        alone = inside is None or (not following.startswith(inside) and ordered[bisect_left(ordered, inside)] == path)
        if alone and inside != "/":
            found[_spelling(_stem(path))].append(path)
    return found


def _is_index(path: str) -> bool:
    return path.rpartition("/")[2].partition(".")[0].casefold() in _INDEX


def _stem(path: str) -> str:
    """Return the name by which people call a file: without its ending; an index file has the name of its folder."""
    folder, _, name = path.rpartition("/")
    return folder.rpartition("/")[2] if folder and _is_index(path) else name.partition(".")[0]


def _spelling(name: str) -> str:
    """Return a name without what differs between spellings: `Execute Job`, `execute_job`, `ExecuteJob`."""
    return _SEPARATOR.sub("", name).casefold()
