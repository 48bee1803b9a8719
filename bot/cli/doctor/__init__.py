"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Part = Literal["machine", "settings", "App", "model", "tools", "repository"]


@dataclass(frozen=True, slots=True)
class Check:
    """A checked item, whether it is correct, and otherwise how to fix it."""

    ok: bool
    name: str
    says: str
    part: Part
    """The part of the installation that it belongs to; the summary has one line for each part without a fault."""
    brief: str | None = None
    """Its text in that line, if it differs from ``says``; empty leaves it out."""
