"""Members that a class inherits: `Derived.load` is defined in the base class that has `load`."""

import re
from collections.abc import Callable, Iterable

from nodes.search.facts.code import Code
from nodes.search.facts.witness import Witness

DEEPEST, MAX_BASES = 5, 8
"""Maximum number of steps from a class to its base, and of classes of one step."""
_CLASS = re.compile(
    r"\bclass\s+\w{1,80}(?:<[^<>]{0,80}>)?\s{0,4}"
    r"(?:\((?P<python>[^()]{1,200})\)|extends\s(?P<java>[\w.$\\]{1,100})|<\s{0,4}(?P<ruby>[\w:]{1,100})"
    r"|(?:\([^()]{0,200}\)\s{0,4})?:\s{0,4}(?P<others>[^{:][^{\n]{0,200}))"
)
"""The head of a class with its bases, as languages write it."""
_MODIFIER = re.compile(r"\b(?:public|private|protected|virtual|open)\s")


def bases(head: str) -> list[str]:
    """Return the unqualified names of the classes that the head of a class names as its bases."""
    found = _CLASS.search(head)
    written = next(filter(None, found.groups()), "") if found else ""
    listed = (_MODIFIER.sub("", item).strip() for item in written.split(",") if "=" not in item)
    names = (re.match(r"[\w.:$\\]{1,100}", pull) for pull in listed)
    return [re.split(r"[.:\\]+", name[0])[-1] for name in names if name][:MAX_BASES]


def definition(code: Code, owner: str, name: str) -> int | None:
    """Return the definition of a member in the nearest base class that has it, if only one class has that name."""

    def heads(one: str) -> Iterable[str]:
        return (head.text for row in code.definitions(one)[:2] if (head := code.head(row)))

    rows = code.definitions(name)
    owners = {row: code.index.name_of(row).split(".")[-2:-1] for row in rows}
    for level in _levels(owner, heads):
        held = [row for row in rows if owners[row] and owners[row][0] in level]
        if held:
            return held[0] if len(held) == 1 else None
    return None


def _levels(owner: str, heads: Callable[[str], Iterable[str]]) -> Iterable[list[str]]:
    """Yield the bases of a class, then theirs, and so on."""
    level = [owner]
    for _ in range(DEEPEST):
        level = list(dict.fromkeys(base for item in level for head in heads(item) for base in bases(head)))[:MAX_BASES]
        if not level:
            return
        yield level


def is_inherited(witness: Witness, owner: str, base: str) -> bool:
    """Return whether a class has another one among its bases, as git finds their heads."""

    def heads(one: str) -> Iterable[str]:
        head = re.compile(rf"\bclass\s+{re.escape(one)}\b")
        return (hit.text for hit in witness.grep(one, own=True) if head.search(hit.text))

    return any(base in level for level in _levels(owner, heads))
