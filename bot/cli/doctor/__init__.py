"""One line of the doctor's report, and the report for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

Part = Literal["machine", "settings", "App", "model", "tools", "repository"]
Line = tuple[Literal["FAIL", "ok", ""], str, str]
"""A mark, what was checked, and the text; the last line has neither a mark nor a name."""


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


def summary_lines(checks: Sequence[Check]) -> Iterator[Line]:
    """Yield the faults first, then one line per part, then the summary."""
    faults = [check for check in checks if not check.ok]
    for fault in faults:
        yield "FAIL", fault.name, fault.says
    for part in get_args(Part):
        sound = [check for check in checks if check.part == part and check.ok]
        text = "; ".join(dict.fromkeys(one for one in map(_brief, sound) if one))
        if text:
            yield "ok", part, text
    yield "", "", _count(faults, len(checks))


def _brief(check: Check) -> str:
    return check.says if check.brief is None else check.brief


def _count(faults: Sequence[Check], checks: int) -> str:
    if not faults:
        return f"No fault in {checks} checks. `triage doctor --all` lists them."
    noun = "fault" if len(faults) == 1 else "faults"
    unchecked = (
        " The App, the model and the tools are checked once the settings are correct."
        if any(fault.part == "settings" for fault in faults)
        else ""
    )
    return f"{len(faults)} {noun} in {checks} checks.{unchecked} `triage doctor --all` lists them."
