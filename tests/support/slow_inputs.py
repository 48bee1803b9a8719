"""Texts on which a regular expression is slow: one for its beginning, then repetitions for its repeated parts."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants as op  # no public module exposes the parts of a pattern
from re import _parser as parser
from typing import Any, NamedTuple

from nodes.search.lazy import LazyPattern

Pattern = re.Pattern[Any]

ALPHABET = "aA0_ \n.:/\\-(\"'`<[{@#$%~*+=,;!?|>)]}é\t"
KINDS = {
    op.CATEGORY_DIGIT: str.isdigit,
    op.CATEGORY_SPACE: str.isspace,
    op.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    op.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
    op.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    op.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
MAX_VARIANTS = 4
"""Maximum number of variants of one part."""


class SlowInput(NamedTuple):
    """A text of variable length."""

    prefix: str
    repeated: str

    def text(self, length: int) -> str:
        """Return a text of the given length with an end that does not match."""
        return (self.prefix + self.repeated * (length // len(self.repeated) + 1))[:length] + "\0"


def patterns(*packages: str) -> dict[str, Pattern]:
    """Return every pattern in the modules of these packages, by the name of its constant and its index there."""
    found: dict[Pattern, str] = {}
    for package in packages:
        for info in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
            constants = {} if info.name.endswith("__main__") else vars(importlib.import_module(info.name))
            for name, value in constants.items():
                for number, pattern in enumerate(_inside(value)):
                    found.setdefault(pattern, f"{info.name}.{name}" + (f"[{number}]" if number else ""))
    return {name: pattern for pattern, name in found.items()}


def _inside(value: Any) -> Iterator[Pattern]:
    if isinstance(value, re.Pattern | LazyPattern):
        yield value.compiled if isinstance(value, LazyPattern) else value
    elif isinstance(value, dict):
        yield from (pattern for part in value.values() for pattern in _inside(part))
    elif isinstance(value, tuple | list | set | frozenset):
        yield from (pattern for part in value for pattern in _inside(part))


@functools.cache  # two tests of each pattern use them
def slow_inputs(pattern: Pattern) -> list[SlowInput]:
    """Return slow inputs for each repetition of a pattern, for the beginnings of its matches, and for both together."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = parser.parse(text, pattern.flags | re.UNICODE)
    repeats = list(_repeats(tree, ""))
    wholes = [whole for sample in _samples(tree)[:2] for whole in (sample, sample[:-1])]
    together = [piece for prefix, repeated in repeats if prefix for piece in (prefix, prefix + repeated)]
    return list(
        dict.fromkeys(
            [SlowInput(*pair) for pair in repeats] + [SlowInput("", piece) for piece in wholes + together if piece]
        )
    )


def _repeats(tree: Any, prefix: str) -> Iterator[tuple[str, str]]:
    for node, value in tree:
        if node in REPEATS:
            yield from ((prefix, body) for body in _samples(value[2]) if body and value[1] > 1)
        yield from (found for part in _parts(node, value) for found in _repeats(part, prefix))
        prefix += _fitting(node, value)[0]


def _parts(node: Any, value: Any) -> list[Any]:
    if node in REPEATS:
        return [value[2]]
    if node is op.SUBPATTERN:
        return [value[3]]
    if node is op.BRANCH:
        return list(value[1])
    return [value[1]] if node in (op.ASSERT, op.ASSERT_NOT) else []


def _samples(tree: Any) -> list[str]:
    """Return some of the shortest texts that a part of a pattern matches; the first is the simplest."""
    made = [""]
    for node, value in tree:
        plain, *others = _fitting(node, value)
        made = [*(sample + plain for sample in made), *(made[0] + other for other in others)][:MAX_VARIANTS]
    return made


def _fitting(node: Any, value: Any) -> list[str]:
    if node is op.LITERAL:
        return [chr(value)]
    if node is op.NOT_LITERAL:
        return [next(c for c in ALPHABET if ord(c) != value)]
    if node is op.ANY:
        return ["a", " ", "."]
    if node is op.IN:
        return _members(value)
    if node in REPEATS:
        return [sample * value[0] for sample in _samples(value[2])]
    ahead = node is op.ASSERT_NOT or (node is op.ASSERT and value[0] > 0)  # the following code handles that
    return [sample for part in _parts(node, value) for sample in _samples(part) if not ahead] or [""]


def _members(items: Any) -> list[str]:
    """Return one character of a class for each kind in it."""
    negated = items[0][0] is op.NEGATE
    own = [chr(value if kind is op.LITERAL else value[0]) for kind, value in items if kind in (op.LITERAL, op.RANGE)]
    return [c for c in dict.fromkeys([*ALPHABET, *own]) if any(_holds(item, c) for item in items) != negated] or ["a"]


def _holds(item: Any, character: str) -> bool:
    kind, value = item
    if kind is op.CATEGORY:
        return bool(KINDS[value](character))
    if kind is op.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    return bool(kind is op.LITERAL and ord(character) == value)
