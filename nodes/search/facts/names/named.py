"""Names of code in a report, with the position and form of each."""

import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from nodes.search.facts.inquiry import IssueParts
from nodes.search.issue.mentions.places import URL, is_path
from nodes.search.issue.query import COMPOUND
from nodes.search.tokens import STOPWORDS, WORD, load_words

MAX_LOOKED_UP = 160
"""Maximum number of names of one issue that are looked up."""
MAX_WIDTH = 400
"""Maximum number of characters of a line of code that are read."""
_SPAN = re.compile(r"(?<!`)`{1,2}(?!`)([^`\n]{1,300})`{1,2}(?!`)")
_LETTER = "A-Za-z0-9_"
"""Not ``\\w``: Chinese and Japanese prose has no spaces, so its words would become parts of names."""
_NAME = re.compile(
    rf"(?<![{_LETTER}$.@/\\-])[@$]?[A-Za-z_$][{_LETTER}$]{{1,80}}"
    rf"(?:(?:\.|::|#|->)[A-Za-z_$][{_LETTER}$]{{0,80}}){{0,6}}[!?]?(?=(\(?))"
)
_WHOLE_NAME = re.compile(
    rf"[@$]?[A-Za-z_$][{_LETTER}$]{{1,80}}(?:(?:\.|::|#|->)[A-Za-z_$~][{_LETTER}$]{{0,80}}){{0,6}}[!?]?"
    rf"(?:<[{_LETTER}, ]{{1,40}}>)?(?:\(.{{0,120}}\)?)?"
)
_CALLED = re.compile(rf"(?<![{_LETTER}$])([A-Za-z_][{_LETTER}]{{2,80}})\(")
SHORTEST = 4
"""Minimum length of a word in the title that counts as a name only because code in the body contains it."""
_SPLIT = re.compile(r"\.|::|#|->|(?<=\w)\$(?=[A-Z])")
"""What separates a name from its owner; in Java a class from the one inside it, too."""
_OWNERS = frozenset({"self", "this", "cls", "super", "Self", "crate", "std"})
BUILT_IN = load_words(Path(__file__).with_name("words.txt"))["general"] | {*dir(builtins), "NoneType", "NilClass"}
"""Common names, such as a language's built-ins; unqualified, they do not refer to the project."""
SYMPTOM = re.compile(r"(?:Error|Exception|Warning|Failure|Panic)$")
"""Names of error classes; the fault is rarely where an error class is defined or caught."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name as the report writes it."""

    words: str
    """The name verbatim."""
    parts: tuple[str, ...]
    """The parts of the name, without ``self`` and similar."""
    in_title: bool
    marked: bool
    """Whether it is the only content of a code span."""

    @property
    def last(self) -> str:
        """Return the name that a definition would have."""
        return self.parts[-1]

    @property
    def owner(self) -> str:
        """Return the last qualifier; of a constant, such as ``Zone.HERE.load``, the class that has it."""
        return self.parts[-3] if len(self.parts) > 2 and self.parts[-2].isupper() else self.parts[-2]

    @property
    def is_qualified(self) -> bool:
        """Return whether the report names the owner too."""
        return len(self.parts) > 1


def names(issue: IssueParts) -> list[Name]:
    """Return the distinct names of the title and the prose; those of the title and of code spans come first."""
    found: dict[tuple[str, ...], Name] = {}
    code = "\n".join((*issue.blocks, *issue.spans))
    shown = set(WORD.findall(code)) | {f"{name}(" for name in _CALLED.findall(code)} | {f"{s}(" for s in issue.spans}
    every = [*_of_line(issue.title, in_title=True, shown=shown)]
    every += [name for line in issue.prose for name in _of_line(line, in_title=False, shown=set())]
    # Before the limit applies, so that the names that a reporter stresses are looked up in any case.
    every.sort(key=lambda name: (not name.in_title, not name.marked))
    for name in every:
        known = found.setdefault(name.parts, name)
        # Reporters often mark a name once and repeat it without the mark.
        if name.marked and not known.marked:
            found[name.parts] = Name(known.words, known.parts, known.in_title, marked=True)
    return list(found.values())[:MAX_LOOKED_UP]


def names_of_code(issue: IssueParts) -> list[Name]:
    """Return the distinct names in an issue's code blocks, in order."""
    lines = [line[:MAX_WIDTH] for block in issue.blocks for line in block.split("\n")][:MAX_LOOKED_UP]
    every = (name for line in lines for name in _of_line(line, in_title=False, shown=set()))
    return list({name.parts: name for name in every}.values())[:MAX_LOOKED_UP]


def _of_line(line: str, *, in_title: bool, shown: set[str]) -> Iterator[Name]:
    """Yield the names of a line; a word that is capitalised or unmarked must also occur in code (``shown``)."""
    for span in _SPAN.findall(line):
        if name := _marked_name(span.strip(), in_title):
            yield name
    for match in _NAME.finditer(URL.sub(" ", line)):
        parts = _parts(match[0].rstrip("!?"))
        capital = in_title and match[0] in shown and match[0][0].isupper() and match[0][1:].islower()
        called = in_title and len(match[0]) >= SHORTEST and f"{match[0]}(" in shown
        plain = (capital or called) and parts and parts[-1] not in BUILT_IN
        if parts and (
            match[1] or "::" in match[0] or "->" in match[0] or "." in match[0] or COMPOUND.search(match[0]) or plain
        ):
            yield Name(match[0], parts, in_title, marked=False)


def _marked_name(span: str, in_title: bool) -> Name | None:  # noqa: FBT001
    if not _WHOLE_NAME.fullmatch(span):
        return None
    words = span.partition("(")[0].partition("<")[0]
    parts = _parts(words)
    return Name(words, parts, in_title, marked=True) if parts else None


def _parts(written: str) -> tuple[str, ...]:
    parts = tuple(part for part in _SPLIT.split(written.lstrip("@").rstrip("!?")) if part)
    # ``self.load`` is a member of some class, whose name is not given.
    while len(parts) > 1 and parts[0] in _OWNERS:
        parts = parts[1:]
    if not parts or len(parts[-1]) < 3 or parts[-1].lower() in STOPWORDS or is_path(written):
        return ()
    return parts
