"""What the store adds to a report: read in one look, since each look of its own costs as much as what it finds."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import AskedQuestion, Relation
from bot.store.database import Connection
from bot.store.labels import read_label_changes, read_relations
from bot.store.limited import read_limited
from bot.store.outcomes import read_outcomes
from bot.store.questions import read_questions


@dataclass(frozen=True, slots=True)
class Known:
    """Of one issue and its repository, as it is at one moment."""

    questions: tuple[AskedQuestion, ...]
    touched: dict[str, bool]
    """Labels that a person put on (True) or took off."""
    relations: tuple[Relation, ...]
    outcomes: list[tuple[float, bool]]
    """The repository's confidences, and whether each was right."""
    limited: bool
    """A limit was met in the repository today."""


def read_known(db: Connection, issue_key: str, day: str) -> Known:
    """Read it all.

    Args:
        db: where.
        issue_key: of the issue.
        day: today, as ``ceilings.day_of`` writes it.
    """
    repository = issue_key.rpartition("#")[0]
    return Known(
        tuple(asked for asked, _ in read_questions(db, issue_key)),
        read_label_changes(db, issue_key),
        read_relations(db, issue_key),
        read_outcomes(db, repository),
        bool(read_limited(db, repository, day)),
    )
