"""One line of the doctor's report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, whether it is as it should be, and if not how to mend it."""

    ok: bool
    name: str
    says: str
