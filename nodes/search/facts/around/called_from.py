"""``called_from``: the calls of another fact's function, if they are few."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nodes.search.facts.code import Code, outside_docstrings, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.output.refusals import raises
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.sentences import say
from nodes.search.tokens import load_sections

OF = frozenset({"built_here", "raised_here", "pasted_here", "linked_here"})
MAX_FUNCTIONS = 3
"""Maximum number of functions whose callers are searched."""
# Of two callers or one, 32 % were in a fixed file and 11 % in a fixed function: context, never a lead.
FEW = 2
"""Maximum number of calls; more do not identify a place."""
MAX_FILES = 16
ENOUGH_FILES = 200
"""Maximum number of files that are read when a person asks for the calls."""
_FORMS = load_sections(Path(__file__).with_name("calls.txt"))
_SPECIAL, _COMMENT, _STRING, _REMARK, _TYPED, _BODY = (
    re.compile("".join(_FORMS[name])) for name in ("special", "comment", "string", "remark", "typed", "body")
)


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the calls of the functions that contain strong facts, if there are at most two."""
    code, seen = inquiry.code, set()
    about = (fact for fact in inquiry.shown if (fact.kind in OF or raises(fact)) and fact.symbol and fact.strong)
    for fact in list(about)[:MAX_FUNCTIONS]:
        name = (fact.symbol or "").rpartition(".")[2]
        # Calls are found by name alone, so a name that other classes may have too would find their calls.
        if name in seen or len(name) < 4 or _SPECIAL.fullmatch(name) or len(code.definitions(name)) != 1:
            continue
        seen.add(name)
        files = code.files_with(name)
        # A name in many files is called in many places, and more than FEW calls state nothing: the files are not read.
        calls = list(_calls(code, name, files)) if len(files) <= MAX_FILES else []
        for place in calls if len(calls) <= FEW else ():
            if one := _fact(code, name, place, len(calls)):
                yield replace(one, follows=fact.at)


def without_strings(text: str) -> str:
    """Return a line without its comments and without the content of its strings."""
    return _REMARK.sub(" ", _STRING.sub('""', text))


def is_comment(text: str) -> bool:
    """Return whether a line is only a comment."""
    return _COMMENT.match(text) is not None


def is_call(text: str, name: str) -> bool:
    """Return whether a line calls a name outside comments, strings and the name's declaration."""
    # A message such as "parse(x) failed" names the function and does not call it.
    plain = without_strings(text)
    for found in re.finditer(whole_word(name).pattern + r"\s*(?=(?:<[\w, ]{0,40}>|!)?\()", plain):
        before, after = plain[: found.start()], plain[found.end() :]
        declared = _TYPED.search(before) or (not before.strip() and _BODY.match(after))
        if not declared and not _COMMENT.match(text):
            return True
    return False


def calls_of(code: Code, name: str) -> tuple[list[Fact], bool]:
    """Return the calls of a name in the project's own code, by path and line, and whether the list is complete."""
    files = code.files_with(name)
    places = sorted(_calls(code, name, files[:ENOUGH_FILES]), key=lambda place: (code.path(place[0]), place[1]))
    found = (_fact(code, name, place, len(places)) for place in places)
    return [fact for fact in found if fact], len(files) <= ENOUGH_FILES


def _fact(code: Code, name: str, place: tuple[int, int], count: int) -> Fact | None:
    if (hit := code.hit(*place)) is None:
        return None
    says = say("`{name}` is called here, in `{place}`.", name=name, place=hit.place)
    return replace(hit, symbol=name).fact("called_from", says, None, count=count)


def _calls(code: Code, name: str, files: Sequence[int]) -> Iterator[tuple[int, int]]:
    code.read(files)
    for number in files:
        lines = code.lines(number)
        near = (line for line, text in enumerate(lines, 1) if name in text and is_call(text, name))
        # Examples in docstrings look like calls and are never executed.
        for line in outside_docstrings(lines, near):
            symbol = code.symbol(number, line) or ""
            # A recursive call does not say where the function is entered, and tests do not belong to the program.
            if symbol.rpartition(".")[2] != name and not code.is_tested(number, line):
                yield number, line


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the line calls the name."""
    # ``kinds.fault_of`` compared the text with git before this check, so nothing is read again.
    del witness
    return None if fact.symbol and is_call(fact.text or "", fact.symbol) else "the line does not call the name"
