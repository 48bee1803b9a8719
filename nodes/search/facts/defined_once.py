"""``defined_once``: a name of the report with exactly one definition in the project's own code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nodes.search.facts.names import BUILT_IN, names
from nodes.search.facts.types import Fact
from nodes.search.paths import module_parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.facts.code import Code
    from nodes.search.facts.inquiry import Inquiry
    from nodes.search.facts.names import Name

FEW_USERS = 5
"""Own files that hold a name which still says where to look."""
FEW_NAMES = 3
"""More names of that kind in one report make a list, which leads nowhere."""
MOST = 40
"""Facts of one issue."""


@dataclass(frozen=True, slots=True)
class _Hit:
    name: Name
    row: int
    qualified: bool
    users: int


def find(inquiry: Inquiry) -> Iterator[Fact]:
    """Yield a fact for each name that is defined once."""
    hits = list(_hits(inquiry))[:MOST]
    listed = sum(not hit.name.in_title and _is_marked(hit) and hit.users <= FEW_USERS for hit in hits)
    for hit in hits:
        fact = _fact(inquiry.code, hit)
        if fact and inquiry.issue.holds(hit.name.words):
            yield replace(fact, strong=_is_strong(hit, listed))


def _hits(inquiry: Inquiry) -> Iterator[_Hit]:
    seen: set[int] = set()
    for name in names(inquiry.issue):
        row = definition_of(inquiry.code, name)
        if row is None or row in seen:
            continue
        seen.add(row)
        qualified = len(name.parts) > 1
        if not qualified and name.last in BUILT_IN:
            continue
        users = inquiry.code.users(name.last, FEW_USERS)
        if name.in_title or name.marked or qualified or users <= FEW_USERS:
            yield _Hit(name, row, qualified, users)


def definition_of(code: Code, name: Name) -> int | None:
    """Return the only definition that a name can mean, or None."""
    rows = code.definitions(name.last)
    if len(name.parts) > 1:
        rows = [row for row in rows if _is_owner(code, row, name.parts[-2])]
    places = {(int(code.index.def_file[row]), code.index.name_of(row)) for row in rows[:8]}
    return rows[0] if len(places) == 1 and len(rows) <= 8 else None


def _is_owner(code: Code, row: int, owner: str) -> bool:
    """Whether a qualifier is the definition's class, module, folder or file."""
    around = code.index.name_of(row).split(".")[:-1]
    modules = module_parts(code.path(int(code.index.def_file[row])))
    return owner in around or owner in modules[-2:]


def _is_marked(hit: _Hit) -> bool:
    return hit.qualified or hit.name.marked


def _is_strong(hit: _Hit, listed: int) -> bool:
    if hit.name.in_title:
        return True
    return _is_marked(hit) and hit.users <= FEW_USERS and listed <= FEW_NAMES


def _fact(code: Code, hit: _Hit) -> Fact | None:
    head = code.head(hit.row)
    if head is None:
        return None
    number = int(code.index.def_file[hit.row])
    line, text = head
    symbol = code.index.name_of(hit.row)
    says = f"`{hit.name.words}` is defined in one place, `{code.path(number)}`."
    return Fact("defined_once", says, hit.name.words, code.path(number), line, text, symbol, count=1, users=hit.users)


def strong_rows(facts: Sequence[Fact]) -> list[Fact]:
    """Return the strong facts of this kind."""
    return [fact for fact in facts if fact.kind == "defined_once" and fact.strong]
