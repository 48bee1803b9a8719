"""Read what the store adds to a report in one transaction, since each transaction costs as much as its queries."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import AskedQuestion, Relation
from bot.store.database import Connection
from bot.store.labels import read_label_changes, read_relations
from bot.store.limited import read_limited
from bot.store.outcomes import read_outcomes
from bot.store.questions import read_questions


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """The store's data on one issue and its repository at one moment."""

    questions: tuple[AskedQuestion, ...]
    touched: dict[str, bool]
    """Labels that a person added (True) or removed (False)."""
    relations: tuple[Relation, ...]
    outcomes: list[tuple[float, bool]]
    """The repository's scored reports: the confidence, and whether the first file was right."""
    limited: bool
    """The repository reached a limit today."""


def read_report_inputs(db: Connection, issue_key: str, day: str) -> ReportInputs:
    """Read all of it.

    Args:
        db: the open transaction.
        issue_key: key of the issue.
        day: today, as ``ceilings.day_of`` writes it.
    """
    repository = issue_key.rpartition("#")[0]
    return ReportInputs(
        tuple(asked for asked, _ in read_questions(db, issue_key)),
        read_label_changes(db, issue_key),
        read_relations(db, issue_key),
        read_outcomes(db, repository),
        bool(read_limited(db, repository, day)),
    )
