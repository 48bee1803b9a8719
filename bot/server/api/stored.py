"""Queries and answers of the read API."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from bot.report.document import Result
from bot.store.runs.issue_runs import RunStatus
from bot.store.runs.outcomes import OutcomeState
from nodes.report import Kind, TriageReport
from nodes.search.facts import Fact

MAX_ITEMS, MAX_WHOLE = 100, 20
"""Limits of one page, of small items and of whole reports."""
RUN_CURSOR = r"^[0-9]{1,11}(\.[0-9]{1,9})?,[0-9]{1,9},[0-9]{1,9}$"
KEY_CURSOR = r"^[A-Za-z0-9_.:/-]{1,200}$"
ISSUE_CURSOR = r"^[0-9]{1,9}$"
DAY_CURSOR = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_DIGITS = re.compile(r"[1-9][0-9]{0,8}")


class Query(BaseModel):
    """The parameters of a request; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class StoredRepository(BaseModel):
    """A repository that the App knows."""

    repository: str
    host: str
    archived: bool
    removed: bool = Field(description="Whether it was deleted, or the App was removed from it.")
    runs: int
    last_run_at: datetime | None


class TriageRun(BaseModel):
    """A run that the App made for an issue."""

    repository: str
    issue: int
    run: int = Field(description="The run's number within the issue.")
    title: str
    status: RunStatus
    brain: str
    kind: str | None = Field(description="The kind of the issue; null without a report.")
    claimed: bool
    confidence: float | None
    began_at: datetime | None
    changed_at: datetime


class WholeRun(TriageRun):
    """A run with its result."""

    commit: str | None
    result: Result | None


class StoredReport(TriageRun):
    """A run with its report."""

    commit: str | None
    language: str = Field(description="The language of the comment's fixed sentences, such as `de`.")
    report: TriageReport


class StoredFact(BaseModel):
    """A checked fact of a report."""

    repository: str
    issue: int
    run: int
    commit: str | None
    leads: bool = Field(description="Whether it leads the comment.")
    fact: Fact


class StoredOutcome(BaseModel):
    """Result of comparing a report with the fix of its issue."""

    repository: str
    issue: int
    run: int
    commit: str
    claimed: bool
    confidence: float
    named: list[str] = Field(description="The files of the report, in its order.")
    state: OutcomeState
    rank: int | None = Field(description="Position of the first named file that the fix changed, from 1; 0: none.")
    fix: str | None = Field(description="The commit of the fix.")
    why: str | None = Field(description="Why the outcome is unknown.")
    settled_at: datetime | None


class DayOfUsage(BaseModel):
    """Usage for a repository on one day (UTC)."""

    repository: str
    day: date
    model_calls: int
    model_tokens: int
    cost_dollars: float
    issues: int
    limits: dict[str, int] = Field(description="The limits that were reached, and how often.")


class Page(BaseModel):
    """One page of items."""

    next: str | None = Field(description="The cursor of the next page; null on the last one.")


class RepositoryPage(Page):
    """One page of repositories."""

    items: list[StoredRepository]


class RunPage(Page):
    """One page of runs."""

    items: list[TriageRun]


class ReportPage(Page):
    """One page of reports; a run without a report is left out, so a page may be short."""

    items: list[StoredReport]


class FactPage(Page):
    """The facts of one page of reports."""

    items: list[StoredFact]


class OutcomePage(Page):
    """One page of outcomes."""

    items: list[StoredOutcome]


class UsagePage(Page):
    """One page of days."""

    items: list[DayOfUsage]


def _number(value: object) -> object:
    if not isinstance(value, str) or not _DIGITS.fullmatch(value):
        raise ValueError("must be a whole number from 1")
    return int(value)


Limit = Annotated[int, Field(ge=1, le=MAX_ITEMS), BeforeValidator(_number)]
WholeLimit = Annotated[int, Field(ge=1, le=MAX_WHOLE), BeforeValidator(_number)]


class RepositoryQuery(Query):
    """The selected repositories."""

    limit: Limit = MAX_ITEMS
    """Items of one page."""
    cursor: Annotated[str, Field(pattern=KEY_CURSOR)] | None = None
    """The ``next`` of the page before."""


class OutcomeQuery(Query):
    """The selected outcomes, those of the newest issues first."""

    state: OutcomeState | None = None
    """Whether the report was compared with a fix."""
    limit: Limit = MAX_ITEMS
    """Items of one page."""
    cursor: Annotated[str, Field(pattern=ISSUE_CURSOR)] | None = None
    """The ``next`` of the page before."""


def _day(value: object) -> object:
    if not isinstance(value, str) or not re.fullmatch(DAY_CURSOR, value):
        raise ValueError("must be a day, such as 2026-01-31")
    return date.fromisoformat(value)


Day = Annotated[date, BeforeValidator(_day)]


class UsageQuery(Query):
    """The selected days, the latest first."""

    since: Day | None = None
    """The first day (UTC)."""
    until: Day | None = None
    """The last day (UTC)."""
    limit: Limit = MAX_ITEMS
    """Items of one page."""
    cursor: Annotated[str, Field(pattern=DAY_CURSOR)] | None = None
    """The ``next`` of the page before."""


def _truth(value: object) -> object:
    if value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value == "true"


class RunQuery(Query):
    """The selected runs, the newest first."""

    issue: Annotated[int, Field(ge=1, le=999_999_999), BeforeValidator(_number)] | None = None
    """The issue's number."""
    status: RunStatus | None = None
    """The state of the run."""
    kind: Kind | None = None
    """The kind of the issue according to the report."""
    claimed: Annotated[bool, BeforeValidator(_truth)] | None = None
    """Whether the report claims a cause."""
    brain: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,100}$")] | None = None
    """The brain: ``rules`` or a model's name."""
    since: Day | None = None
    """The first day (UTC) on which a run began."""
    until: Day | None = None
    """The last day (UTC) on which a run began."""
    limit: Limit = 25
    """Items of one page."""
    cursor: Annotated[str, Field(pattern=RUN_CURSOR)] | None = None
    """The ``next`` of the page before."""


class ReportQuery(RunQuery):
    """The selected runs, whose reports are read."""

    limit: WholeLimit = MAX_WHOLE
    """Reports read for one page."""
