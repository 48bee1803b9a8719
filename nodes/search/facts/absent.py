"""``absent``: a name in the title that the report asks for and that occurs nowhere at this commit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nodes.search.facts.code import hash_of
from nodes.search.facts.names import BUILT_IN, names
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import Inquiry

MOST = 3
_ASKS = re.compile(
    r"\b(?:add|adds|adding|support\w*|implement\w*|missing|provide|introduce|allow|expose|feature request|proposal"
    r"|wish|undefined|would be (?:nice|great|useful|good)|no such|not found|unknown|does ?n.t exist|no longer exists"
    r"|has no attribute|lacks?|need)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")


def find(inquiry: Inquiry) -> Iterator[Fact]:
    """Yield names of the title that occur nowhere, where the title asks for something."""
    if not _ASKS.search(inquiry.issue.title):
        return
    witness = Witness(inquiry.code.repository, inquiry.code.sha, "")
    wanted = [name.last for name in names(inquiry.issue) if name.in_title and _CODE.search(name.last)]
    for name in [name for name in wanted if name not in BUILT_IN][: 2 * MOST]:
        if not _is_indexed(inquiry, name) and not _occurs(witness, name) and inquiry.issue.holds(name):
            yield Fact("absent", f"`{name}` occurs nowhere at this commit.", name, count=0)


def _is_indexed(inquiry: Inquiry, name: str) -> bool:
    """Whether any text of the commit has the name, or its singular."""
    return hash_of(name) is None or any(inquiry.code.holding(one) for one in (name, name.removesuffix("s")))


def _occurs(witness: Witness, name: str) -> bool:
    return any(witness.grep(one) for one in sorted({name, name.removesuffix("s")}))


def check(fact: Fact, witness: Witness) -> str | None:
    """No text of the commit holds the name."""
    if not fact.words:
        return "it has no content"
    return "it does occur" if witness.grep(fact.words) else None
