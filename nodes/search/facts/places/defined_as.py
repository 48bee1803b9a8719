"""``quoted_here`` for types: the only type of the first file whose name consists of words of the report.

On development issues 8 of 9 such types in the lead were in a fixed file, and 4 of 12 functions, which are left out.
"""

import re
from collections.abc import Container, Iterator
from dataclasses import replace

import numpy as np

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names import defined_once
from nodes.search.facts.types import Fact, declares_type
from nodes.search.facts.witness import Witness
from nodes.search.history.names import plain
from nodes.search.issue.mentions.places import URL
from nodes.search.sentences import say
from nodes.search.tokens import LISTS, PART, STOPWORDS, WORD, terms_of

_SHAPE = re.compile(r"\s*(?:(?:export|declare|default|public|internal)\s+)*(?:interface\b|type\s+\w+[^=]{0,200}=)")
"""The head of a type that only names its members: what happens to them is elsewhere."""
_ROLES = frozenset(terms_of(word)[0] for word in LISTS["of frameworks"])
"""Words of a name that only say what the code is for its framework; a report need not have them."""
OF_TITLE = 2
"""Minimum number of words of the title in a name."""
_PREFIXES = ("", "is", "has", "show", "use", "enable", "disable", "allow", "on", "handle", "toggle", "set", "get")
"""Prefixes that names have before the words that people use."""
_PRINTED = re.compile(r"\{\s?\"[^{}\n]{0,400}\}")
"""An object as a program prints it, whose words are not those of a person."""
ELLIPSIS = " … "
SAYS = re.compile(r"The words “([^”]{1,400})” are in the name `([^`]{1,400})`, which only ")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the only type of the first file that has most words of the title, at least two."""
    # A text of the interface says where a reporter saw the fault; a name often says what does the work.
    shown = any(fact.says.startswith("The text “") for fact in inquiry.found)
    # A trace without own frames says that the fault is in other code.
    if (inquiry.is_placed and not shown) or any(it.frames for it in inquiry.issue.traces) or inquiry.is_of_other_code:
        return
    code, (_, stems) = inquiry.code, report_stems(inquiry)
    # The project's own name says nothing about a place in it.
    best = {name: row for name, row in _in_first(inquiry).items() if plain(_without_roles(name)) not in code.names}
    for name, row in best.items() if len(best) == 1 and _is_defined_once(inquiry, *best) else ():
        hit = code.head(row)
        words = ELLIPSIS.join(stems[part] for part in _acts(parts_of(name), stems) if part in stems)
        if hit and all((hit.path, hit.line) != (fact.path, fact.line) for fact in inquiry.found):
            values = {"words": words, "name": name, "path": hit.path}
            says = say("The words “{words}” are in the name `{name}`, which only `{path}` defines.", **values)
            yield hit.fact_of_few("quoted_here", says, max(words.split(ELLIPSIS), key=len), 1)


def _without_roles(name: str) -> str:
    return "".join(part for part in PART.findall(name) if terms_of(part)[:1] != () and terms_of(part)[0] not in _ROLES)


def _in_first(inquiry: FinderInput) -> dict[str, int]:
    """Return the names of types in the first file that have most words of the title, with their rows."""
    code, found, (title, stems) = inquiry.code, dict[str, tuple[tuple[int, int], int]](), report_stems(inquiry)
    number = code.number(inquiry.first[0]) if inquiry.first else None
    rows = [] if number is None or not code.own[number] else np.flatnonzero(code.index.def_file == number).tolist()
    for row in rows:
        name = code.index.name_of(row).rpartition(".")[2]
        parts = _acts(parts_of(name), stems)
        many = len(title.keys() & parts)
        if many >= OF_TITLE and stems.keys() >= set(parts) - _ROLES:
            head = code.head(row)
            if head and declares_type(head.text) and not _SHAPE.match(head.text):
                found.setdefault(name, ((many, len(parts)), row))
    most = max((many for many, _ in found.values()), default=(0, 0))
    return {name: row for name, (many, row) in found.items() if many == most}


def _is_defined_once(inquiry: FinderInput, name: str) -> bool:
    """Return whether one place, besides a constructor, defines a name in any form."""
    parts = PART.findall(name)
    forms = {name, "_".join(parts).lower(), "".join(map(str.capitalize, parts))}
    rows = [row for form in sorted(forms) for row in inquiry.code.definitions(form)]
    is_one = sum(not _is_constructor(inquiry.code, row) for row in rows) == 1
    # A name that most of the project uses is a word of its language, and says little about one file.
    return is_one and inquiry.code.count_users(name, defined_once.MANY_USERS) <= defined_once.MANY_USERS


def _is_constructor(code: Code, row: int) -> bool:
    """Return whether a definition has the name of its class."""
    owners = code.index.name_of(row).split(".")[-2:]
    return len(owners) > 1 and owners[0] == owners[1]


def report_stems(inquiry: FinderInput) -> tuple[dict[str, str], dict[str, str]]:
    """Return the plain words of the title, and those of the title and the prose, by their stems."""
    title = _stems_of(_PRINTED.sub(" ", URL.sub(" ", inquiry.issue.title)))
    return title, _stems_of(URL.sub(" ", "\n".join(inquiry.issue.prose))) | title


def _stems_of(text: str) -> dict[str, str]:
    """Return the plain words of a text by their stems."""
    found = (word for word in WORD.findall(text) if word.isascii() and word.isalpha())
    plain = (word for word in found if word[1:].islower() or word.isupper())
    return {stems[0]: word for word in plain if word.lower() not in STOPWORDS and (stems := terms_of(word))}


def parts_of(name: str) -> list[str]:
    """Return the stems of the words of a name that say something."""
    *parts, _ = terms_of(name) or ("",)
    return [part for part in dict.fromkeys(parts) if part not in STOPWORDS and part not in _PREFIXES]


def _acts(parts: list[str], stems: Container[str]) -> list[str]:
    """Return the stems of a name; that of an actor becomes its verb if the report has that: ``Editor`` as ``edit``."""
    return [part[:-2] if part.endswith(("er", "or")) and part[:-2] in stems else part for part in parts]


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that words of the issue are in the name, in their order, and that one place defines it."""
    words, found = fact.words or "", SAYS.match(fact.says)
    given = found[1].split(ELLIPSIS) if found and words in found[1] else []
    stems = [terms_of(word)[0] for word in given]
    if not found or not stems or not all(map(witness.mentions, given)):
        return "the issue does not have the words"
    if [part for part in _acts(parts_of(found[2]), stems) if part in stems] != stems:
        return "the words are not in the name"
    return defined_once.check(replace(fact, words=found[2]), witness)
