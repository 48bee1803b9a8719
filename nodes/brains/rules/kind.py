"""What kind a run takes an issue for: the likeliest one, unless it may well be a bug."""

from __future__ import annotations

import re
from typing import NamedTuple

from nodes.facts import IssueFacts
from nodes.kinds import classify
from nodes.report import Kind

MAY_BE_A_BUG = 0.05
"""From this probability on an issue is searched for as a bug: a missed bug costs its reporter more than a search."""
UNLIKELY = 0.15
"""Below it an issue that is searched as a bug reads so much like something else that the report says so."""
NOT_LIKELIER = 0.35
"""From this probability on an issue whose own title calls it something else is searched as a bug all the same."""
_SAYS_SO = re.compile(
    r"\W{0,3}(feature[ -]?requests?|features?|feat|rfe|enh|enhancement|proposal|question)\s{0,3}[\]):]", re.IGNORECASE
)
"""A title that begins with what it is; then a bug must be likelier to be searched for."""


class Taken(NamedTuple):
    """The kind that a run acts on, and the one that the words indicate, if it differs."""

    kind: Kind
    rather: Kind | None = None


def kind_of(title: str, body: str, facts: IssueFacts) -> Kind:
    """The kind that a run acts on."""
    return acting_kind(title, body, facts).kind


def acting_kind(title: str, body: str, facts: IssueFacts) -> Taken:
    """What a run takes an issue for; a stack trace is a bug's, whatever else the text says, but for a weakness."""
    found = classify(title, body)
    if found.kind == "security":
        return Taken("security")
    if facts.traces:
        return Taken("bug")
    if found.kind in ("docs", "spam"):
        return Taken(found.kind)
    bug, likeliest = found.shares["bug"], max(found.shares, key=lambda kind: found.shares[kind])
    if likeliest != "bug" and bug < (NOT_LIKELIER if _SAYS_SO.match(title) else MAY_BE_A_BUG):
        return Taken(likeliest)
    return Taken("bug", likeliest if bug < UNLIKELY and likeliest != "bug" else None)
