"""The basis of a report: the facts that it shows, and what they allow it to state."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.report import Statement
from nodes.search.facts import Fact, levels
from nodes.search.facts.types import OF_QUESTIONS, OF_RELEASES
from nodes.search.ranking.survey import Survey


@dataclass(frozen=True, slots=True)
class FactBasis:
    """The facts that a report shows, and what they allow it to state."""

    facts: tuple[Fact, ...]
    """The facts about the report's files, and those about no file."""
    paths: tuple[str, ...]
    """The report's files, in order."""
    stated: levels.Statement
    confidence: float

    @classmethod
    def of(cls, survey: Survey, paths: tuple[str, ...]) -> FactBasis:
        """Return what a survey allows a report about these files to state."""
        facts = tuple(fact for fact in survey.facts if fact.kind not in OF_QUESTIONS)
        shown = tuple(fact for fact in facts if fact.path in (None, *paths) or fact.kind in OF_RELEASES)
        return cls(shown, paths, levels.statement(survey.facts, paths, survey.ranked), survey.confidence)

    @property
    def headline(self) -> int | None:
        """Return the index of the leading fact."""
        return self.facts.index(self.stated.headline) if self.stated.headline is not None else None

    @property
    def places(self) -> tuple[str, ...]:
        """Return the files that strong facts are about, in the order of the report."""
        return tuple(dict.fromkeys(str(fact.path) for fact in self.stated.strong))

    @property
    def statement(self) -> Statement:
        """Return how much the report may state."""
        return _STATEMENTS[self.stated.level] if self.paths else "nothing"


_STATEMENTS: dict[levels.Level, Statement] = {
    "claimed": "claim",
    "several": "facts",
    "ranked": "first_place",
    "none": "ranked",
}
