"""``quoted_here`` for keyboards: the lines of own code with a key that the report presses."""

import re
from collections.abc import Iterator
from itertools import islice

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.read_here import IMPORT
from nodes.search.facts.places.quoted_here import only_of
from nodes.search.facts.places.spelled_here import parts_of, stems_of
from nodes.search.facts.types import Fact, Hit
from nodes.search.facts.witness import MAX_OF_FILE, Witness, fault_of_few, is_own
from nodes.search.issue.mentions.places import URL
from nodes.search.sentences import say

MAX_KEYS, MAX_LINES, MAX_WIDTH, FEW = 3, 60, 400, 2
"""Maximum number of keys of a report, of lines that name one, of characters of such a line, and of its functions."""
_MODIFIERS = r"(?:ctrl|control|cmd|command|meta|alt|option)"
PRESSED = re.compile(
    r"(?:\b(?:press|hit|push|typ)(?:e?s|ing|ed|ting|e)?\s{1,3}(?:on )?(?:the )?[\"'`<\[(“]{0,2}|<|[\"“`'])"
    rf"(esc(?:ape)?|backspace|enter|tab|f\d{{1,2}}|page ?(?:up|down)|{_MODIFIERS}\s?[+-]\s?\w)"
    r"(?=[\"'`>\])”]|\s|[.,;:!?]|$)",
    re.IGNORECASE,
)
"""A key that a report presses or quotes."""
_AMBIGUOUS = frozenset({"enter", "tab"})
"""Keys whose names are words of other things as well."""
REACH = 5
"""Number of lines after one with a key that say what it does."""
_NAME = re.compile(r"[A-Za-z_]\w{3,60}")
SAYS = re.compile("The words “([^”]{1,60})” name a key that is in ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the only line with a key, or those of one or two functions that share most words with the report."""
    if inquiry.is_placed:
        return
    issue, witness = inquiry.issue, inquiry.witness
    lines = (URL.sub(" ", line[:MAX_WIDTH]) for line in (issue.title, *issue.prose))
    written = dict.fromkeys(key for line in lines for key in PRESSED.findall(line))
    stems = stems_of("\n".join((issue.title, *issue.prose))).keys()
    for key in islice(written, MAX_KEYS):
        held = lines_with(witness, key)
        places = inquiry.code.few(held) if len(held) <= MAX_LINES else []
        shared = [len(stems & _stems_at(witness, hit)) for hit in places]
        most = max(shared, default=0)
        best = [hit for hit, count in zip(places, shared, strict=True) if count == most]
        if len(places) != 1 and not (most and len(best) <= FEW):
            continue
        for hit in best:
            says = say(
                "The words “{words}” name a key that is in `{place}` on this line, {only}.",
                words=key, place=hit.place, only=only_of(len(held)),
            )  # fmt: skip
            is_one = len(places) == 1
            yield hit.fact("quoted_here", says, key, count=len(held), strong=is_one, chosen=not is_one, unclaimed=True)
        return


def _stems_at(witness: Witness, hit: Hit) -> set[str]:
    """Return the stems of the words of a function's name, and of the lines that say what the key does."""
    below = witness.lines(hit.path, hit.line, hit.line + REACH)
    names = {name for line in below for name in _NAME.findall(line[:MAX_WIDTH])}
    return {part for name in (*names, (hit.symbol or "").rpartition(".")[2]) for part in parts_of(name)}


def lines_with(witness: Witness, key: str) -> list[Hit]:
    """Return the lines of own code that name a key, in a string or as a constant of keys."""
    hits = witness.hits((_form_of(key),), "-i", "-E", most=MAX_OF_FILE)
    own = (hit for hit in hits if is_own(hit.path) and len(hit.text) <= MAX_WIDTH)
    return [hit for hit in own if not is_comment(hit.text) and not IMPORT.match(hit.text)]


def _form_of(key: str) -> str:
    """Return an extended regular expression for a key in code."""
    *modifiers, plain = re.split(r"\s?[+-]\s?", key.lower())
    if modifiers:
        return rf"[\"'<`](c|d|m|a|mod|cmdorctrl|commandorcontrol|{_MODIFIERS[3:-1]})[+-]{plain}[\"'>`]"
    name = "esc(ape)?" if plain.startswith("esc") else plain.replace(" ", "") if plain.startswith("page") else plain
    constant = rf"(key[a-z]{{0,9}}(::|[._])?|(vk|sdlk)_){name}([^a-z0-9_]|$)"
    if plain in _AMBIGUOUS:
        return rf"(case|key[a-z]*)[^\"'`]{{0,40}}[\"'`]{name}[\"'`]|{constant}"
    number = r"|key[a-z]{0,9} ?===? ?27([^0-9]|$)|case 27:" if plain.startswith("esc") else ""
    return rf"[\"'<`]{name}[\"'>`]|{constant}{number}"


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the report presses the key, and that as many lines of own code name it as stated."""
    if fact.words not in PRESSED.findall(witness.issue_text):
        return "the report does not press the key"
    return fault_of_few(fact, lines_with(witness, fact.words or ""), "the line does not have the key")
