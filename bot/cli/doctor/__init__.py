"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """A checked item, whether it is correct, and otherwise how to fix it."""

    ok: bool
    name: str
    says: str
