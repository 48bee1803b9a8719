"""The names of elements of a user interface that words of a report spell."""

import re

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.places.keys import MAX_WIDTH, NOT_SEARCHED, is_own_text
from nodes.search.facts.types import Hit
from nodes.search.facts.witness import Witness, is_own

_SAME = "badge bar dropdown icon menu panel popup screen sidebar slider switch tab toggle toolbar tooltip window"
KINDS = {kind: kind for kind in _SAME.split()}
KINDS |= {"button": "btn", "checkbox": "chk", "dialog": "dlg", "label": "lbl"}
"""Kinds of elements, and how names shorten them."""
FEW_LETTERS, FEW_LINES = 12, 5
"""Number of characters of words that are few, and maximum number of lines with a name that identifies a place."""


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
