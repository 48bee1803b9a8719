"""``quoted_here`` for texts of a user interface: the string with a label of the report, or the only use of its key."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import whole_word
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import is_own
from nodes.search.issue.mentions.places import URL
from nodes.search.paths.roles import role_of
from nodes.search.tokens import WORD, comparable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput, Issue
    from nodes.search.facts.witness import Hit, Witness

MAX_LABELS = 4
"""Maximum number of labels of one report; each is a search of the commit with git."""
FEW = 2
"""Maximum number of lines that have a label or use its key."""
MAX_WIDTH = 1_000
LEAST, MOST = 2, 9
"""Number of words of a label; a single word is in many strings."""
_MARKED = re.compile(
    r"“([^“”\n]{6,80})”|„([^„“”\n]{6,80})[“”]|«([^«»\n]{6,80})»|「([^「」\n]{4,60})」|\"([^\"\n]{6,80})\""
    r"|(?<![\w'])'([^'\n]{6,80})'(?!\w)|\*\*([^*\n]{6,80})\*\*|`([^`\n]{6,80})`"
)
"""Words that a reporter quotes or stresses."""
_MENU = re.compile(r"\s(?:>|->|→|»)\s")
_CODE = re.compile(r"[(){}\[\]=;<>\\/]|\w\.\w|--?\w|:$|\w_\w")
_KEYED = re.compile(
    r"\sname=[\"'](?P<xml>[\w.-]{3,80})[\"'][^>]{0,80}>|^\s*[\"']?(?P<key>[\w.-]{3,80})[\"']?\s{0,4}[:=]\s{0,4}[\"']?$"
)
"""What stands before a text in a file of texts: its key."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the lines with a label of the report, or those that use its key, if nothing else places the report."""
    if any(fact.strong and fact.line for fact in inquiry.found):
        return
    for label in islice(labels(inquiry.issue), MAX_LABELS):
        hits = [hit for hit in _hits(inquiry.witness, label) if len(hit.text) <= MAX_WIDTH]
        own = [hit for hit in hits if is_own(hit.path) and is_string(hit.text, label)]
        yield from _in_code(inquiry, label, own) if own else _by_key(inquiry, label, hits)


def labels(issue: Issue) -> Iterator[str]:
    """Yield the distinct texts of a user interface that a report quotes, stresses, or names on a path of menus."""
    seen = set[str]()
    for line in (issue.title, *issue.prose):
        plain = URL.sub(" ", line)
        marked = [next(filter(None, found.groups())) for found in _MARKED.finditer(plain)]
        for text in (part.strip(" .,:;!?…*") for words in marked for part in _MENU.split(words)):
            count = len(text) if not text.isascii() and " " not in text else len(WORD.findall(text))
            if LEAST <= count <= MOST and not _CODE.search(text) and comparable(text) not in seen:
                seen.add(comparable(text))
                yield text


def _hits(witness: Witness, label: str) -> list[Hit]:
    """Return the lines with a label, which a sentence may begin in lower case."""
    forms = dict.fromkeys((label, label[0].upper() + label[1:], label[0].lower() + label[1:]))
    hits = witness.grep(*forms) or ()
    words = [re.compile(rf"(?<!\w){re.escape(form)}(?!\w)", re.ASCII) for form in forms]
    return [hit for word in words for hit in hits if word.search(hit.text)]


def is_string(text: str, label: str) -> bool:
    """Return whether a line of code has a label as a whole string."""
    if is_comment(text):
        return False
    strings = re.findall(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|`([^`\n]{1,200})`", text)
    return any(comparable("".join(groups)) == comparable(label) for groups in strings)


def _in_code(inquiry: FinderInput, label: str, hits: list[Hit]) -> Iterator[Fact]:
    code = inquiry.code
    places = {
        (hit.path, code.symbol(number, hit.line)) for hit in hits if (number := code.number(hit.path)) is not None
    }
    if len(places) != 1 or len(hits) > FEW:
        return
    ((path, symbol),) = places
    if hits[0].text.strip():
        says = f"The text “{label}” is in `{symbol or path}`, and in no other string of the project's own code."
        yield _fact(says, label, hits[0], symbol)


def _by_key(inquiry: FinderInput, label: str, hits: list[Hit]) -> Iterator[Fact]:
    """Yield the only use of the key that a file of texts gives a label."""
    code = inquiry.code
    keys = {
        key: hit.path for hit in hits if role_of(hit.path) not in ("test", "docs") and (key := key_of(hit.text, label))
    }
    for key, file in islice(keys.items(), FEW):
        name = re.split(r"[.-]", key)[-1]
        used = [hit for hit in inquiry.witness.grep(name, own=True) or () if uses_key(hit.text, name)]
        number = code.number(used[0].path) if len(used) == 1 else None
        if number is not None:
            symbol = code.symbol(number, used[0].line)
            says = f"The text “{label}” is `{key}` in `{file}`; only this line of the project's own code uses it."
            yield _fact(says, label, used[0], symbol)


def key_of(text: str, label: str) -> str | None:
    """Return the key of a label on a line of a file of texts, if the label is its whole text."""
    at = text.casefold().find(label.casefold())
    found = _KEYED.search(text[:at]) if at > 0 else None
    rest = text[at + len(label) :].strip(" .,:;!?…\"'") if found else "?"
    return (found["xml"] or found["key"]) if found and (not rest or rest.startswith("<")) else None


def uses_key(text: str, name: str) -> bool:
    """Return whether a line of code uses a key."""
    return len(text) <= MAX_WIDTH and not is_comment(text) and bool(whole_word(name).search(text))


def _fact(says: str, label: str, hit: Hit, symbol: str | None) -> Fact:
    text = hit.text.removesuffix("\r")
    return Fact("quoted_here", says, label, hit.path, hit.line, text, symbol, count=1, strong=True, unclaimed=True)


def is_label(fact: Fact) -> bool:
    """Return whether a fact is about a text of a user interface."""
    return fact.says.startswith("The text “")


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the string, or the key and its use, are where the fact says, and that no other own line has them."""
    label = fact.words or ""
    keyed = re.search(r" is `([^`]+)` in `([^`]+)`; only this line", fact.says)
    if keyed is None:
        held = [hit for hit in _hits(witness, label) if is_own(hit.path) and is_string(hit.text, label)]
        return None if {hit.path for hit in held} == {fact.path} else "another file has the text as well"
    if not any(hit.path == keyed[2] and key_of(hit.text, label) == keyed[1] for hit in _hits(witness, label)):
        return "the file does not have the text"
    name = re.split(r"[.-]", keyed[1])[-1]
    used = [(hit.path, hit.line) for hit in witness.grep(name, own=True) or () if uses_key(hit.text, name)]
    return None if used == [(fact.path, fact.line)] else "other lines use the key as well"
