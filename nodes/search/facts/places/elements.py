"""The elements of a user interface that have a label, in a file that describes them, and the code that uses them."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import whole_word
from nodes.search.facts.places.keys import MAX_WIDTH, NOT_SEARCHED, is_own_text
from nodes.search.facts.types import Hit
from nodes.search.facts.witness import Witness, is_own

DESCRIBES = re.compile(
    r"(?:^|/)res/(?:xml|layout|menu|navigation)[\w-]*/[^/]+\.xml$|\.(?:ui|glade|xib|storyboard|fxml|uxml|xrc|slint|blp)$"
)
"""A file that describes elements of a user interface: Android, Qt, GTK, Apple, JavaFX, Unity, wxWidgets."""
REACH = 14
"""Number of lines above a label in which its element may begin."""
_BEGINS = re.compile(r"<(?!(?:property|string|attribute|key|connections)\b)[A-Za-z][\w.:]{0,120}(?=[\s>]|$)")
_NAME = re.compile(r"\b(?:key|id|name|Name|userLabel)\s?=\s?[\"'](?:@\+?id/)?([A-Za-z_]\w{3,80})[\"']")
_CONSTANT = re.compile(r"\b([A-Za-z_]\w{3,80})\s{0,4}(?::[^=\n]{1,40})?=\s{0,4}[\"'](\w{3,80})[\"']")
_SAME = "badge bar dropdown icon menu panel popup screen sidebar slider switch tab toggle toolbar tooltip window"
KINDS = {kind: kind for kind in _SAME.split()}
KINDS |= {"button": "btn", "checkbox": "chk", "dialog": "dlg", "label": "lbl"}
"""Kinds of elements, and how names shorten them."""
FEW_LETTERS, FEW_LINES = 12, 5
"""Number of characters of words that are few, and maximum number of lines with a name that identifies a place."""


class Element(NamedTuple):
    """An element, the file that describes it, and the lines of own code that use its name."""

    name: str
    path: str
    used: list[Hit]


def elements_of(witness: Witness, hits: Iterable[Hit]) -> Iterator[Element]:
    """Yield each element with a label, or with the key of one, on a line of a file that describes elements."""
    seen = set[str]()
    for hit in hits:
        name = _name(witness, hit) if DESCRIBES.search(hit.path) else None
        if name and name not in seen:
            seen.add(name)
            yield Element(name, hit.path, _users(witness, name))


def spelled(witness: Witness, words: str) -> tuple[str, list[Hit]]:
    """Return the name of an element that words spell, its kind as the first or the last, and the lines with it.

    They are few, and all in one file.
    """
    *parts, kind = words.lower().split(" ")
    kinds = (kind, KINDS.get(kind, ""))
    orders = [(*parts, kind) for kind in kinds]
    # With few letters, a name that begins with the kind may be that of a state: `iconHidden` is no "hidden icon".
    orders += [(kind, *parts) for kind in kinds if len(words) > FEW_LETTERS]
    names = sorted({mark.join(order) for order in orders for mark in ("", "_", "-")}) if parts and kind in KINDS else []
    # A name may begin with a word that says which of several elements it is.
    whole = re.compile(rf"(?<![\w-])(?:[\w-]*[_-]|[a-z]\w*(?=[A-Z]))?(?i:{'|'.join(names)})(?![\w-])")
    found = (hit for hit in witness.grep_any(names, NOT_SEARCHED, words=False, any_case=True) if is_own_text(hit.path))
    hits = [hit for hit in found if len(hit.text) <= MAX_WIDTH and not is_comment(hit.text) and whole.search(hit.text)]
    held = [hit for hit in hits if is_own(hit.path)] or hits
    named = {match[0] for hit in held for match in whole.finditer(hit.text)}
    is_one = bool(names) and len(named) == 1 and len(held) <= FEW_LINES and len({hit.path for hit in held}) == 1
    return (named.pop(), held) if is_one else ("", [])


def has_more(name: str, words: str) -> bool:
    """Return whether the name of an element ends with words and has others before them."""
    plain = re.sub("[_-]", "", name).lower()
    return not plain.startswith(joined := words.replace(" ", "").lower()) and plain.endswith(joined)


def _name(witness: Witness, hit: Hit) -> str | None:
    """Return the name of the element that a line belongs to."""
    lines = witness.lines(hit.path, 1, hit.line + REACH)
    for first in range(hit.line, max(0, hit.line - REACH), -1):
        tag = _BEGINS.search(lines[first - 1])
        if tag is None:
            continue
        text = "\n".join(lines[first - 1 :])[tag.start() :]
        end = text.find(">")
        is_inside = end < 0 or first + text.count("\n", 0, end) >= hit.line
        if (found := _NAME.search(text[: end if end >= 0 else None])) or is_inside:
            return found[1] if found else None
    return None


def _users(witness: Witness, name: str) -> list[Hit]:
    """Return the lines of own code that use a name, or the constant that is the only use of it."""
    used = _lines(witness, name)
    constant = _CONSTANT.search(used[0].text) if len(used) == 1 else None
    if constant is None or constant[2] != name:
        return used
    users = [hit for hit in _lines(witness, constant[1]) if not _CONSTANT.search(hit.text)]
    # Another class may have a constant of the same name.
    return [hit for hit in users if hit.path == used[0].path] or users


def _lines(witness: Witness, name: str) -> list[Hit]:
    found = (hit for hit in witness.grep(name, own=True) if is_own(hit.path) and not is_comment(hit.text))
    return [hit for hit in found if whole_word(name).search(hit.text)]
