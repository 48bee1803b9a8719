"""The keys of texts of a user interface in files of texts, and the code that uses them."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from nodes.search.facts.around.called_from import is_comment
from nodes.search.facts.code import whole_word
from nodes.search.facts.types import Hit
from nodes.search.facts.witness import Witness, is_own
from nodes.search.paths.roles import role_of
from nodes.search.tokens import comparable, load_sections

LONG_NAME, MAX_WIDTH = 8, 1_000
"""Minimum length of the last part of a key that needs no tables, and maximum number of characters of a line."""
_FORMS = load_sections(Path(__file__).with_name("keys.txt"))
_KEYED, MARKUP, _OPENED, FILE_OF_TEXTS, _TEXTS = (
    re.compile("".join(_FORMS[name])) for name in ("keyed", "markup", "opened", "file of texts", "texts")
)
_TEXT_KEYS = frozenset({"message", "defaultMessage"})
"""Keys of the text within the table of a key, as extensions of browsers and FormatJS write it."""

NOT_SEARCHED = (":!*.md", ":!*.rst", ":!*.txt", ":!*.po", ":!*.pot", ":!*.svg", ":!*.map", ":!*.min.*", ":!*/LC_*.mo")


def is_own_text(path: str) -> bool:
    """Return whether a path is own code or a template."""
    return is_own(path) or (MARKUP.search(path) is not None and role_of(path) in ("source", "data"))


def spaced(text: str) -> str:
    """Return a text with spaces for its hyphens, as programs may write it."""
    return text.replace("-", " ")


def keys_of(witness: Witness, label: str, hits: Iterable[Hit]) -> dict[str, str]:
    """Return the keys that files of texts give a label, each with its file."""
    return {key: hit.path for hit in hits if (key := key_of(witness, hit, label))}


def key_of(witness: Witness, hit: Hit, label: str) -> str | None:
    """Return the key of a label on a line of a file of texts, if the label is its whole text."""
    if role_of(hit.path) in ("test", "docs"):
        return None
    text = hit.text
    if text.lstrip().startswith("<value>"):
        # A file of resources has the key on the line above.
        text = "".join(witness.lines(hit.path, hit.line - 1, hit.line)).replace("<value>", "")
    at = max(text.casefold().rfind(form.casefold()) for form in (label, spaced(label)))
    found = _KEYED.search(re.sub(r">\s+$", ">", text[:at])) if at > 0 else None
    rest = text[at + len(label) :].strip(" .,:;!?…\"'\r") if found else "?"
    if found is None or (rest and not rest.startswith("<")):
        return None
    lines = witness.lines(hit.path, 1, hit.line)
    return found["xml"] or found["text"] or _within(lines, found["key"])


def _within(lines: Sequence[str], key: str) -> str:
    """Return the key of the last line, after the keys of the tables that contain it: `dialog.title`."""
    *above, last = lines
    indent = len(last) - len(last.lstrip())
    for line in reversed(above) if "." not in key else ():
        opened = _OPENED.match(line)
        # What is not indented is the table of a language.
        if opened and 0 < len(opened[1]) < indent:
            indent, key = len(opened[1]), opened[2] if key in _TEXT_KEYS else f"{opened[2]}.{key}"
    return key


def uses_of(witness: Witness, key: str) -> list[Hit]:
    """Return the lines of own code and of templates that use a key, with its tables if any line has them."""
    if " " in key:
        return [hit for hit in witness.grep_any((key,), words=False) if has_text(hit, key)]
    name = re.split(r"[.-]", key)[-1]
    used = [hit for hit in witness.grep(name) if is_own_text(hit.path) and _uses(hit, name)]
    parts = key.split(".")
    ends = (".".join(parts[at:]) for at in range(len(parts) - 1))
    exact = (held for end in ends if (held := [hit for hit in used if end in hit.text]))
    # A short name, such as `title`, is a key of many tables.
    return next(exact, used if len(parts) == 1 or len(name) >= LONG_NAME else [])


def _uses(hit: Hit, name: str) -> bool:
    is_code = len(hit.text) <= MAX_WIDTH and not is_comment(hit.text) and not FILE_OF_TEXTS.search(hit.path)
    # A table of keys names each of them once more.
    is_entry = re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*[:=]\s*[\"']", hit.text)
    return is_code and not is_entry and bool(whole_word(name).search(hit.text))


def as_label(text: str) -> str:
    """Return a text to compare, in which “&” and “and” are the same."""
    return comparable(text.replace("&amp;", " ").replace(" and ", " "))


def has_text(hit: Hit, label: str) -> bool:
    """Return whether a line of own code or of a template has a label as a whole string or as its whole text."""
    is_prose = is_comment(hit.text) or re.search(r"\"{3}|'{3}", hit.text)
    if is_prose or not is_own_text(hit.path) or FILE_OF_TEXTS.search(hit.path):
        return False
    texts = ("".join(groups) for groups in _TEXTS.findall(hit.text))
    alone = (hit.text,) if MARKUP.search(hit.path) else ()
    return any(as_label(text) == as_label(label) for text in (*texts, *alone))
