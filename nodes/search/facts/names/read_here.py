"""``read_here`` and ``default_here``: where code reads an option, a setting or an attribute without a definition."""

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nodes.search.facts.around.called_from import without_strings
from nodes.search.facts.code import Code, outside_docstrings, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import BUILT_IN, SYMPTOM, names
from nodes.search.facts.types import Fact, Hit, Kind
from nodes.search.facts.witness import Witness
from nodes.search.history.names import plain
from nodes.search.issue.query import COMPOUND
from nodes.search.sentences import say
from nodes.search.tokens import STOPWORDS, load_sections, term_hash

MAX_NAMES = 30
"""Maximum number of names of one issue that are looked up."""
FEW_FUNCTIONS, FEW_PLACES, FEW_SETTINGS, FEW_FILES = 2, 3, 4, 4
MAX_WIDTH = 400
"""Maximum length of a line that may read a name or declare an option, in characters."""
SHORTEST = 4
"""Minimum length of a name's longest part; shorter parts are often country or language codes."""
MAX_FILES = 8
"""Maximum number of own files with a similar name; if there are more, they are not read."""
_OPTION = re.compile(r"--?[A-Za-z][\w-]{2,60}")
_CLASS = re.compile(r"(?:[A-Z][a-z0-9]+){2,}")
FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]{2,60}(?![\w-])")
"""An option in prose, which needs no mark-up to be one."""
_FORMS = {name: "".join(rows) for name, rows in load_sections(Path(__file__).with_name("reads.txt")).items()}
_DECLARES, _SETS, _ARGUMENT, _ASSIGNED, _ENTRY, _PARAMETER, _GIVEN, WRITES = (
    _FORMS[name] for name in "declares sets argument assigned entry parameter given writes".split()
)
_OPENS, _KEY, _SETTING, _SET, MACHINE, _COMMENT, IMPORT = (
    re.compile(_FORMS[name]) for name in "opens key setting set machine comment import".split()
)


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines that read a name from a code span of the report, if only one file of own code does."""
    code = inquiry.code
    declared: list[Fact] = []
    given = {found[1] for span in inquiry.issue.spans if (found := _SET.match(span))}
    for words in dict.fromkeys((*_wanted(inquiry)[:MAX_NAMES], *_settings(inquiry))):
        passed = re.compile(rf"(?<![\w$]){re.escape(words)}\s?=(?!=)") if words in given else None
        every, is_only = _uses(code, words)
        uses = [use for use in every if not code.is_tested(use[0], use[1])]
        # A line that gives an argument its value reads nothing.
        uses = [use for use in uses if not (passed and passed.search(code.text(use[0], use[1]) or ""))]
        # Several files may read an option that only one of them declares.
        if not uses:
            declared += _declared_once(code, words)
            continue
        functions = {(number, code.symbol(number, line)) for number, line, _ in uses}
        if len({number for number, _, _ in uses}) == 1 and len(functions) <= FEW_FUNCTIONS:
            # A class of a library leads only if it is the subject; in Go and C#, members are spelled so too.
            is_class = _CLASS.fullmatch(words) and not code.path(uses[0][0]).endswith((".go", ".cs"))
            for fact in _facts(code, words, uses, is_only=is_only):
                yield replace(fact, strong=False) if is_class and words not in inquiry.issue.title else fact
    # Many options are a command line that the reporter used; none of them indicates the fault.
    yield from (replace(fact, strong=len(declared) <= FEW_FUNCTIONS) for fact in declared)


def _wanted(inquiry: FinderInput) -> list[str]:
    """Return the contents of code spans that have no definition, and options written with dashes."""
    code = inquiry.code
    found, assigned_names = dict[str, None](), set[str]()
    flags = (flag for line in (inquiry.issue.title, *inquiry.issue.prose) for flag in FLAG.findall(line))
    # Outside code spans such names are mostly words: 27 % were right, in spans 60 %.
    for text in (*inquiry.issue.spans, *flags):
        if (_OPTION.fullmatch(text) or _KEY.fullmatch(text)) and not MACHINE.fullmatch(text):
            found[text] = None
        elif assigned := _SET.match(text):
            found[assigned[1]] = None
            assigned_names |= {assigned[1]} - BUILT_IN
    every = names(inquiry.issue)
    # A word of the title that is spelled like a setting, `link_anchors`, and is neither a folder nor a file.
    titled = (name.words for name in every if name.in_title and not name.marked and name.words.isidentifier())
    titled = (words for words in titled if "_" in words.strip("_") and f"{words}/" not in inquiry.issue.title)
    found |= dict.fromkeys(words for words in titled if words not in code.index.names.by_module_tail)
    named = {name.last: name for name in every if (name.marked or name.in_title) and len(name.parts) == 1}
    marked = {name for name in named if name not in BUILT_IN} | assigned_names
    keep = []
    for text in found:
        bare = text.lstrip("-")
        if (
            bare.lower() in STOPWORDS
            or SYMPTOM.search(bare)
            or re.search(rf"\barguments?:? ['\"]{re.escape(bare.lower())}['\"]", inquiry.issue.folded)
            or len(longest(bare)) < SHORTEST
            or plain(bare) in code.names
            or (bare == text and text.isidentifier() and text not in marked)
        ):
            continue
        # Names with a definition are the subject of ``defined_once``.
        if not len(np.flatnonzero(code.index.def_last == term_hash(bare))):
            keep.append(text)
    code.look_up(longest(text) for text in keep)
    return keep


def _settings(inquiry: FinderInput) -> list[str]:
    """Return the compound names of settings, each with its value, of which a short block of the report consists."""
    found = list[str]()
    for block in inquiry.issue.pasted:
        rows = [_SETTING.match(line) for line in block.split("\n") if line.strip()]
        found += [row[1] for row in rows if row] if all(rows) and len(rows) <= FEW_SETTINGS else []
    found = [
        name
        for name in found
        if COMPOUND.search(name) and not (SYMPTOM.search(name) or plain(name) in inquiry.code.names)
    ]
    return [name for name in found if not inquiry.code.definitions(name)]


def longest(words: str) -> str:
    """Return the longest part of an option or a dotted name, which is probably the rarest."""
    return max(re.split(r"[.-]", words), key=len)


def is_code(text: str) -> bool:
    """Return whether a line is neither a comment nor an import."""
    return not (_COMMENT.match(text) or IMPORT.match(text))


def _uses(code: Code, words: str) -> tuple[list[tuple[int, int, bool]], bool]:
    """Return (file, line, whether it is declared there) for each line that reads a name, and if no other has it."""
    files = code.files_with(longest(words))
    if not files or len(files) > MAX_FILES * 3:
        return [], False
    code.read(files)
    spellings = _spellings(words)
    pattern = re.compile("|".join(whole_word(spelling).pattern for spelling in spellings))
    holding = [
        n for n in files if any(pattern.search(line) for line in code.lines(n) if any(s in line for s in spellings))
    ]
    is_only = len(holding) == 1
    if not is_only and len(holding) <= FEW_FILES and COMPOUND.search(words.strip("_")) and words[0] not in "-_":
        given = re.compile("|".join(_GIVEN.format(re.escape(spelling)) for spelling in spellings))
        reading = [n for n in holding if _only_reads(code.lines(n), spellings)]
        # Each of the others declares or sets it; that one mentions it says nothing.
        holding = reading if all(n in reading or any(map(given.match, code.lines(n))) for n in holding) else []
    # A name that several files read does not identify a place.
    if len(holding) != 1:
        return [], False
    lines = code.lines(holding[0])
    uses = [(holding[0], *use) for use in (_reads if is_only else _only_reads)(lines, spellings)]
    return _of_option(lines, words, uses) if words.startswith("-") else uses, is_only


def _only_reads(lines: Sequence[str], spellings: Sequence[str]) -> list[tuple[int, bool]]:
    """Return the lines that read a name and neither declare nor set it."""
    given = re.compile("|".join(_GIVEN.format(re.escape(spelling)) for spelling in spellings))
    return [use for use in _reads(lines, spellings) if not (use[1] or given.match(lines[use[0] - 1]))]


def _of_option(lines: Sequence[str], words: str, uses: list[tuple[int, int, bool]]) -> list[tuple[int, int, bool]]:
    """Return the uses of an option, if the file has it with its dashes or declares it; help texts do not count."""
    whole = re.compile(rf"[\"'`]{re.escape(words)}(?:[\"'`=/,|]|$)")
    declares = _declaration(words)
    known = any(
        (words in text and whole.search(text)) or declares(text, lines[at - 1] if at else "")
        for at, text in enumerate(lines)
        if len(text) <= MAX_WIDTH
    )
    return [use for use in uses if words not in lines[use[1] - 1] or whole.search(lines[use[1] - 1])] if known else []


def _spellings(words: str) -> list[str]:
    """Return how code spells a name: an option `--strict-zones` also with underscores."""
    bare = words.lstrip("-")
    return sorted({bare, bare.replace("-", "_")}) if bare != words else [bare]


def _reads(lines: Sequence[str], spellings: Sequence[str]) -> Iterator[tuple[int, bool]]:
    """Yield the lines that read a name, comments and assignments excluded, and whether a line declares it."""
    pattern = re.compile("|".join(whole_word(spelling).pattern for spelling in spellings))
    assigned = re.compile("|".join(_ASSIGNED.format(re.escape(spelling)) for spelling in spellings))
    parameter = re.compile("|".join(_PARAMETER.format(re.escape(spelling)) for spelling in spellings))
    written = re.compile(WRITES.format(f"(?:{'|'.join(map(re.escape, spellings))})"))
    short = (at for at, text in enumerate(lines, 1) if len(text) <= MAX_WIDTH and pattern.search(text))
    for line in outside_docstrings(lines, short):
        text = lines[line - 1]
        if is_code(text) and not assigned.search(text) and not _tells(text, pattern):
            made = written.search(text)
            if made is None or made["adds"]:
                yield line, bool(parameter.search(text) or made)


def _tells(text: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a line has a name only between the words of a message."""
    if pattern.search(without_strings(text)):
        return False
    phrase = re.compile(rf"[A-Za-z],? (?:{pattern.pattern})|(?:{pattern.pattern}),? [a-z]{{2}}")
    return phrase.search(text) is not None


def _facts(code: Code, words: str, uses: list[tuple[int, int, bool]], *, is_only: bool) -> Iterator[Fact]:
    by_function: dict[str | None, tuple[Hit, bool]] = {}
    entry = re.compile(_ENTRY.format(re.escape(words)))
    reading = [use for use in uses if not entry.match(code.text(use[0], use[1]) or "")]
    called = re.compile(rf"(?<![\w$.]){re.escape(words)}\s?\(")
    # Where a value is called says more than where it is compared or passed on.
    for use in sorted(reading, key=lambda use: not called.search(code.text(use[0], use[1]) or "")):
        if hit := code.hit(use[0], use[1]):
            by_function.setdefault(hit.symbol, (hit, use[2]))
    for hit, declared in list(by_function.values())[:FEW_PLACES]:
        kind: Kind = "default_here" if declared else "read_here"
        values = {"name": words, "where": _where(hit)}
        says = (
            say("`{name}` is declared on this line{where}; no other file of the project's code contains it.", **values)
            if declared
            else say("`{name}` is read on this line{where}; no other file of the project's code contains it.", **values)
            if is_only
            else say("`{name}` is read on this line{where}; no other file of the project's code reads it.", **values)
        )
        # A signature with the parameter was in a fixed file in 29 % of cases, so a declaration does not lead.
        is_word = words.isalpha() and words.islower()  # as well a variable of the function
        yield hit.fact(
            kind, says, words, count=len(uses), strong=not declared, users=1, unclaimed=is_word or not is_only
        )


def _where(hit: Hit) -> str:
    return say(" in `{symbol}`", symbol=hit.symbol) if hit.symbol else ""


def _declared_once(code: Code, words: str) -> Iterator[Fact]:
    """Yield the line that declares an option or a setting which several files use, if only one file declares it."""
    if not (words.startswith("--") or words.isupper()):
        return
    bare, found = words.lstrip("-"), dict[int, list[int]]()
    files = code.files_with(longest(bare))
    declares = _declaration(words)
    code.read(files[: MAX_FILES * 3])
    for number in files if len(files) <= MAX_FILES * 3 else ():
        lines = code.lines(number)
        held = [at + 1 for at, text in enumerate(lines) if bare in text and declares(text, lines[at - 1] if at else "")]
        held = [line for line in held if not code.is_tested(number, line)]
        if held:
            found[number] = held
    for number, held in found.items() if len(found) == 1 else ():
        if len(held) <= FEW_PLACES and (hit := code.hit(number, held[0])):
            values = {"name": words, "where": _where(hit)}
            says = say(
                "`{name}` is declared on this line{where}; no other file of the project's code declares it.", **values
            )
            yield hit.fact("default_here", says, words, count=len(held), strong=True)


def _declaration(words: str) -> Callable[[str, str], bool]:
    """Return a test of a line, and of the line above it, for the declaration of an option or a setting.

    A variable with the name of an option written with dashes may hold anything.
    """
    bare = words.lstrip("-")
    wanted = (_DECLARES, _ARGUMENT) if bare != words else (f"{_DECLARES}|{_SETS}", _ARGUMENT)
    here, below = (re.compile(pattern.format(re.escape(bare))) for pattern in wanted)

    def declares(text: str, above: str) -> bool:
        if len(text) > MAX_WIDTH or len(above) > MAX_WIDTH:
            return False
        return bool(here.search(text) or (below.match(text) and _OPENS.search(above)))

    return declares


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line contains the name, and that no other source file of the language does."""
    bare = (fact.words or "").lstrip("-")
    names = {bare, bare.replace("-", "_")}
    if not any(whole_word(name).search(fact.text or "") for name in names):
        return "the line does not contain the name"
    hits = witness.grep(bare, own=True)
    if fact.kind == "default_here" and fact.users is None:
        declares = _declaration(fact.words or "")
        hits = [hit for hit in hits if declares(hit.text, witness.line(hit.path, hit.line - 1) or "")]
        if not declares(fact.text or "", witness.line(fact.path or "", (fact.line or 0) - 1) or ""):
            return "the line does not declare it"
    others = {hit.path for hit in hits} - {fact.path}
    if fact.says.endswith(" reads it."):
        others = {path for path in others if _only_reads(witness.lines(path, 1, sys.maxsize), sorted(names))}
    return f"`{min(others)}` contains it as well" if others else None
