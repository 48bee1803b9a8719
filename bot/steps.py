"""A run's steps as they are stored while it goes on, and read by the pages that show them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from nodes.state import TraceEntry

LOOKS = 6
"""What a model looked up, of one step: all of it is in the run's result."""


class Visit(BaseModel):
    """A node that began, or that ended; one that ends at once is only stored when it has."""

    model_config = ConfigDict(frozen=True)

    id: str
    """The same when it begins and when it ends."""
    node: str
    began: float
    """Seconds since 1970."""
    ended: float | None = None
    trace: tuple[TraceEntry, ...] = ()
    """What it added to the run's trace; empty where it waits for a person."""


def dump(visit: Visit) -> str:
    """Write a visit as it is stored, with what is long cut."""
    cut = tuple(entry.model_copy(update={"looks": entry.looks[:LOOKS]}) for entry in visit.trace)
    return visit.model_copy(update={"trace": cut}).model_dump_json(exclude_defaults=True)


def load(text: str) -> Visit:
    """Read a stored visit."""
    return Visit.model_validate_json(text)
