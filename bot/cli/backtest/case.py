"""A past issue with its report and its fix, and the files in which results are stored."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, computed_field

from bot.errors import UserError

M = TypeVar("M", bound=BaseModel)


class Case(BaseModel):
    """One issue, its report at the commit before the fix, and what the fix changed."""

    model_config = ConfigDict(frozen=True)

    number: int
    fix: str
    base: str
    title: str
    kind: str
    confidence: float
    """Confidence in the first file; 0 if none was named."""
    claims: bool
    """Whether a cause was claimed, not only a place to start reading."""
    gold: tuple[str, ...]
    """Source files that the fix changed."""
    ranked: tuple[str, ...]
    """The first files that were named, best first."""
    seconds: float
    calls: int = 0
    tokens: int = 0
    cost: int = 0
    """Millionths of a dollar, as far as models have prices."""
    fell_back: bool = False
    """Whether rules judged a part of the run because the model did not."""
    place_rank: int = 0
    """Rank of the first place that contains a line the fix changed, from 1; 0 if none does."""
    lead: str = ""
    """Kind of the fact that leads the report; empty if none does."""
    opinions: dict[str, float] | None = None
    """How search and model rated the first file (``nodes.context.agreement``); None if no model read the code."""

    @computed_field  # type: ignore[prop-decorator]  # pydantic's documented form
    @property
    def rank(self) -> int:
        """Rank of the first file that the fix changed, from 1; 0 if none of the named files was changed."""
        return next((at for at, path in enumerate(self.ranked, 1) if path in self.gold), 0)

    @property
    def by_people(self) -> bool:
        """Whether a correction and not a fix names the files; the issue was triaged at the commit of its report."""
        return self.fix == self.base

    @property
    def right(self) -> bool:
        """Whether the fix changed the first file."""
        return self.rank == 1


class Notes:
    """A folder with a file for each result, so that a backtest resumes where it stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, model: type[M]) -> M | None:
        """Return what is stored under a name; None if nothing is, or if it was cut off or is of another release."""
        try:
            return model.model_validate_json((self._folder / f"{name}.json").read_bytes())
        except (OSError, ValidationError):
            return None

    def store(self, name: str, value: M) -> M:
        """Store a result, and return it.

        Raises:
            UserError: the folder cannot be written.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / f"{name}.json").write_text(value.model_dump_json(), encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write to {self._folder}: {error.strerror}; set TRIAGE_DATA_DIR") from error
        return value
