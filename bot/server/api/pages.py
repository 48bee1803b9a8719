"""Read one page of stored data and convert it to what the API returns."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from bot.report.document import Result
from bot.server.api import stored
from bot.store.pages import Pages
from bot.store.pages.repositories import RepositoryRow
from bot.store.pages.rows import Keys, Listing, Place, RunRow
from bot.store.pages.runs import StoredResult
from bot.store.pages.selection import RunFilter

_ALL_DAYS = 4_000
"""More days than usage is retained for."""


@dataclass(frozen=True, slots=True)
class RepositoryPages:
    """The pages of one repository."""

    pages: Pages
    repository: RepositoryRow

    async def runs(self, query: stored.RunQuery) -> stored.RunPage:
        """Return a page of runs."""
        found = await self._listing(query)
        return stored.RunPage(items=[stored.TriageRun(**_run(row)) for row in found.rows], next=_cursor(found.older))

    async def reports(self, query: stored.ReportQuery) -> stored.ReportPage:
        """Return the reports of a page of runs."""
        found = await self._listing(query)
        results = await self.pages.runs.results(found.rows)
        # Parsing some megabytes of JSON would delay deliveries.
        items = await asyncio.to_thread(_reports, results)
        return stored.ReportPage(items=items, next=_cursor(found.older))

    async def facts(self, query: stored.ReportQuery) -> stored.FactPage:
        """Return the facts of a page of reports."""
        page = await self.reports(query)
        return stored.FactPage(items=[fact for item in page.items for fact in _facts(item)], next=page.next)

    async def run(self, issue: int, number: int) -> stored.WholeRun | None:
        """Return one run with its result."""
        row = await self.pages.runs.row(f"{self.repository.key}#{issue}", number)
        if row is None:
            return None
        (one,) = await self.pages.runs.results([row])
        return await asyncio.to_thread(_whole, one)

    async def outcomes(self, query: stored.OutcomeQuery) -> stored.OutcomePage:
        """Return a page of outcomes."""
        after = int(query.cursor) if query.cursor else None
        rows = await self.pages.repositories.outcome_rows(
            self.repository.key, state=query.state or "", after=after, most=query.limit + 1
        )
        items = [stored.StoredOutcome(repository=self.repository.full_name, **row) for row in rows[: query.limit]]
        return stored.OutcomePage(items=items, next=str(items[-1].issue) if len(rows) > query.limit else None)

    async def usage(self, query: stored.UsageQuery) -> stored.UsagePage:
        """Return a page of days."""
        before = query.cursor or "9999-12-31~"
        days = [
            day
            for day in await self.pages.repositories.spent(self.repository.key, _ALL_DAYS)
            if day.day < before
            and (query.since is None or day.day >= query.since.isoformat())
            and (query.until is None or day.day <= query.until.isoformat())
        ]
        items = [
            stored.DayOfUsage(
                repository=self.repository.full_name,
                day=date.fromisoformat(day.day),
                model_calls=day.calls,
                model_tokens=day.tokens,
                cost_dollars=day.cost / 1_000_000,
                issues=day.issues,
                limits=dict(day.limits),
            )
            for day in days[: query.limit]
        ]
        return stored.UsagePage(items=items, next=items[-1].day.isoformat() if len(days) > query.limit else None)

    async def _listing(self, query: stored.RunQuery) -> Listing:
        wanted = RunFilter(
            repository=self.repository.key,
            issue=query.issue,
            status=query.status or "",
            kind=query.kind or "",
            claimed=query.claimed,
            brain=query.brain or "",
            since=_midnight(query.since),
            until=None if query.until is None else _midnight(query.until, days=1),
        )
        before = _place(query.cursor, self.repository.key)
        return await self.pages.runs.listing(wanted, None, before=before, most=query.limit)


async def repositories(pages: Pages, keys: Keys, query: stored.RepositoryQuery) -> stored.RepositoryPage:
    """Return a page of repositories."""
    rows = await pages.repositories.after(keys, query.cursor or "", query.limit + 1)
    items = [
        stored.StoredRepository(
            repository=row.full_name,
            host=row.host,
            archived=row.archived,
            removed=row.gone,
            runs=row.runs,
            last_run_at=_time(row.last_began),
        )
        for row in rows[: query.limit]
    ]
    return stored.RepositoryPage(items=items, next=rows[query.limit - 1].key if len(rows) > query.limit else None)


def _run(row: RunRow) -> dict[str, Any]:
    return {
        "repository": f"{row.owner}/{row.name}",
        "issue": row.issue,
        "run": row.number,
        "title": row.title,
        "status": row.status,
        "brain": row.brain,
        "kind": row.kind or None,
        "claimed": row.claimed,
        "confidence": row.confidence,
        "began_at": _time(row.began_at),
        "changed_at": _time(row.changed_at) or datetime.fromtimestamp(0, UTC),
    }


def _whole(one: StoredResult) -> stored.WholeRun:
    result = Result.model_validate_json(one.result) if one.result else None
    return stored.WholeRun(**_run(one.row), commit=one.sha or None, result=result)


def _reports(results: Sequence[StoredResult]) -> list[stored.StoredReport]:
    found = ((result, Result.model_validate_json(result.result).report) for result in results if result.result)
    return [
        stored.StoredReport(**_run(one.row), commit=one.sha or None, language=report.language, report=report)
        for one, report in found
    ]


def _facts(one: stored.StoredReport) -> list[stored.StoredFact]:
    return [
        stored.StoredFact(
            repository=one.repository,
            issue=one.issue,
            run=one.run,
            commit=one.commit,
            leads=number == one.report.headline,
            fact=fact,
        )
        for number, fact in enumerate(one.report.facts)
    ]


def _cursor(place: Place | None) -> str | None:
    if place is None:
        return None
    return f"{place.began_at:.9f},{place.issue_key.rpartition('#')[2]},{place.number}"


def _place(cursor: str | None, key: str) -> Place | None:
    if cursor is None:
        return None
    began, issue, number = cursor.split(",")
    return Place(float(began), f"{key}#{int(issue)}", int(number))


def _midnight(day: date | None, days: int = 0) -> float | None:
    """Return the start of a day in seconds since 1970, or that of a later one."""
    if day is None:
        return None
    start = datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
    return start + timedelta(days=days).total_seconds()


def _time(seconds: float | None) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
