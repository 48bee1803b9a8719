"""The steps of a run, stored while it executes and read by the web pages."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from nodes.state import TraceEntry

LOOKS = 6
"""Maximum number of a model's lookups stored per step; the run's result contains all of them."""


class Visit(BaseModel):
    """The start or end of a node's execution; a node that ends immediately is stored only at its end."""

    model_config = ConfigDict(frozen=True)

    id: str
    """The same at the start and at the end."""
    node: str
    began: float
    """Seconds since 1970."""
    ended: float | None = None
    trace: tuple[TraceEntry, ...] = ()
    """The entries it added to the run's trace; empty while it waits for a person."""


def dump(visit: Visit) -> str:
    """Serialize a visit for the store, with at most `LOOKS` lookups per trace entry."""
    cut = tuple(entry.model_copy(update={"looks": entry.looks[:LOOKS]}) for entry in visit.trace)
    return visit.model_copy(update={"trace": cut}).model_dump_json(exclude_defaults=True)


def load(text: str) -> Visit:
    """Parse a stored visit."""
    return Visit.model_validate_json(text)
