"""Query runs for lists and pages."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.ports import AskedQuestion
from bot.report.document import Result
from bot.store.databases.database import Connection, TableGroup, Value, query
from bot.store.issues.people import Questions, StoredSignal, read_signals
from bot.store.pages import rows
from bot.store.runs.issue_runs import RESULT_BEFORE, Origin
from bot.store.runs.outcomes import Feedback, Outcome, read_feedback, read_outcome
from bot.store.runs.run_events import RunEvents, RunEvidence, Visit
from nodes.evidence import Evidence

_NEWER = {"run": "newer", "fix": "newer_fixes"}
"""Names of the tables of a newer run of the same issue."""
FACETS = {"status": rows.STATUS, "outcome": rows.OUTCOME}
"""Fields of a filter by which the list counts its issues, as SQL."""
COUNTED = 20_000
"""Runs that are counted at most, the newest ones."""
_PLACE = "(began_at, runs.issue_key, runs.run_no)"
_ORIGIN = "SELECT body, author, why, asked_by, asked_in, last_signal FROM runs WHERE issue_key = ? AND run_no = ?"
_LABELS = "SELECT payload FROM effects WHERE issue_key = ? AND kind = 'labels' AND subject = ''"
_CHANGED = "SELECT label, added, actor FROM label_actors WHERE issue_key = ? ORDER BY label"
_STICKY = "SELECT github_id FROM effects WHERE issue_key = ? AND kind = 'sticky' AND subject = ''"


@dataclass(frozen=True, slots=True)
class Counts:
    """The number of issues by facet and value."""

    issues: Mapping[str, Mapping[str, int]]
    is_cut: bool
    """Only the newest ``COUNTED`` runs were counted."""


@dataclass(frozen=True, slots=True)
class FullRun:
    """A run with its result."""

    row: rows.RunRow
    sha: str
    config_hash: str
    result: Result | None


@dataclass(frozen=True, slots=True)
class RunContext:
    """The background of a run besides its own result."""

    origin: Origin
    words: tuple[StoredSignal, ...]
    """Redirects, corrections and answers by command that the run received, the earliest first."""
    before: tuple[int, Result] | None
    """The latest earlier run of the issue that has a report: its number and result."""
    labels: tuple[str, ...]
    """Labels that the App set on the issue, or is about to set."""
    label_changes: tuple[tuple[str, bool, str], ...]
    """Labels that people added (True) or removed, and their logins."""
    outcome: Outcome | None
    """How the report compared with the fix; None unless the issue's last report is this run's."""
    feedback: tuple[Feedback, ...]
    comment_id: int | None


class Runs(TableGroup):
    """The runs of all known repositories."""

    @query
    def listing(
        self, db: Connection, run_filter: rows.RunFilter, keys: rows.Keys, *, before: rows.ListPosition | None = None
    ) -> tuple[list[rows.RunRow], rows.ListPosition | None]:
        """Return the newest matching run of each issue, from a position on, and the position of the next page."""
        where, parameters = _where(run_filter, keys)
        conditions, values = rows.conditions_of(run_filter, _NEWER)
        joined = f"runs AS newer LEFT JOIN {rows.FIX_ROW.format(**_NEWER)}"
        same = "newer.issue_key = runs.issue_key AND newer.run_no > runs.run_no"
        where.append(f"NOT EXISTS (SELECT 1 FROM {joined} WHERE {' AND '.join((same, *conditions))})")
        parameters += values
        # Pages begin at a row instead of an offset: new runs do not shift them, and the index serves the comparison.
        if before is not None:
            where.append(f"{_PLACE} < (?, ?, ?)")
            parameters += [before.began_at, before.issue_key, before.number]
        statement = f"""
            SELECT {rows.COLUMNS} {rows.FROM} WHERE {" AND ".join(where)}
            ORDER BY began_at DESC, runs.issue_key DESC, runs.run_no DESC LIMIT ?
        """
        # One more row than the page has, to tell whether there is another page.
        found = [rows.read_row(row) for row in db.execute(statement, (*parameters, rows.LISTED + 1))]
        last = found[rows.LISTED - 1] if len(found) > rows.LISTED else None
        return found[: rows.LISTED], rows.ListPosition(last.began_at, last.issue_key, last.number) if last else None

    @query
    def counts(self, db: Connection, run_filter: rows.RunFilter, keys: rows.Keys) -> Counts:
        """Count the issues that have a matching run, by status and outcome."""
        found = {facet: _counted(db, run_filter, keys, facet) for facet in FACETS}
        runs = [sum(number for _, number in values.values()) for values in found.values()]
        issues = {facet: {value: n for value, (n, _) in values.items()} for facet, values in found.items()}
        return Counts(issues, is_cut=max(runs) >= COUNTED)

    async def last_change(self, keys: rows.Keys) -> float:
        """Return when a run changed last, in seconds since 1970; 0 without runs."""
        allowed, parameters = rows.visible("repository_key", keys)
        (changed,) = await self._row(f"SELECT max(changed_at) FROM runs WHERE {allowed}", parameters)
        return float(changed or 0)

    async def row(self, issue_key: str, number: int) -> rows.RunRow | None:
        """Return one run of the list."""
        statement = f"SELECT {rows.COLUMNS} {rows.FROM} WHERE runs.issue_key = ? AND runs.run_no = ?"
        row = await self._row(statement, (issue_key, number))
        return rows.read_row(row) if row else None

    async def full(self, issue_key: str, number: int) -> FullRun | None:
        """Return one run with its result."""
        row = await self.row(issue_key, number)
        statement = "SELECT sha, config_hash, result FROM runs WHERE issue_key = ? AND run_no = ?"
        rest = await self._row(statement, (issue_key, number))
        # The repository's data may be deleted between the two queries.
        if row is None or rest is None:
            return None
        sha, config_hash, result = rest
        return FullRun(row, sha, config_hash, Result.model_validate_json(result) if result else None)

    async def of_issue(self, issue_key: str) -> list[rows.RunRow]:
        """Return every run of an issue, the first one first."""
        statement = f"SELECT {rows.COLUMNS} {rows.FROM} WHERE runs.issue_key = ? ORDER BY runs.run_no"
        return [rows.read_row(row) for row in await self._rows(statement, (issue_key,))]

    async def evidence(self, run: rows.RunRow) -> list[Evidence]:
        """Return the evidence of a run, the best first."""
        found = await RunEvidence(self._database, run.thread).all()
        return sorted(found, key=lambda item: -item.score)

    async def visits(self, run: rows.RunRow) -> list[Visit]:
        """Return the steps of a run so far."""
        return [Visit.model_validate_json(body) for body in await RunEvents(self._database, run.thread).all()]

    async def questions(self, run: rows.RunRow) -> tuple[AskedQuestion, ...]:
        """Return the questions that were asked on its issue."""
        return await Questions(self._database, run.issue_key).all()

    async def cost(self, run: rows.RunRow) -> int:
        """Return the cost of a run so far in millionths of a dollar; 0 unless the operator configured model prices."""
        row = await self._row("SELECT cost_micros FROM usage WHERE scope = ? AND day = 'run'", (run.thread,))
        return int(row[0]) if row else 0

    @query
    def context(self, db: Connection, run: rows.RunRow) -> RunContext:
        """Return what led to a run and what followed from it."""
        key = run.issue_key
        found = db.execute(_ORIGIN, (key, run.number)).fetchone()
        *origin, last_signal = found or ("", "", "", "", None, 0)
        before = db.execute(RESULT_BEFORE, (key, run.number)).fetchone()
        sticky, labels = db.execute(_STICKY, (key,)).fetchone(), db.execute(_LABELS, (key,)).fetchone()
        outcome = read_outcome(db, key)
        changes = ((label, bool(added), actor) for label, added, actor in db.execute(_CHANGED, (key,)).fetchall())
        # A run in progress may still read a signal; a finished one has read the signals up to its last one.
        signals = read_signals(db, key, 0)
        return RunContext(
            origin=Origin(*origin),
            words=tuple(signal for signal in signals if not run.over or signal.number <= last_signal),
            before=(before[0], Result.model_validate_json(before[1])) if before else None,
            labels=tuple(json.loads(labels[0])) if labels else (),
            label_changes=tuple(changes),
            outcome=outcome if outcome is not None and outcome.run == run.number else None,
            feedback=read_feedback(db, key, run.number),
            comment_id=sticky[0] if sticky else None,
        )

    async def request(self, issue_key: str, guid: str) -> tuple[str, str] | None:
        """Return the state and the message of a command that was given on a page; None if there is none."""
        statement = "SELECT state, said FROM jobs WHERE guid = ? AND issue_key = ?"
        row = await self._row(statement, (guid, issue_key))
        return (str(row[0]), str(row[1])) if row else None


def _counted(db: Connection, run_filter: rows.RunFilter, keys: rows.Keys, facet: str) -> dict[str, tuple[int, int]]:
    """Count the issues with a matching run by a facet: value to issues and runs; the facet's own filter is ignored."""
    without: dict[str, Any] = {facet: ""}
    where, parameters = _where(replace(run_filter, **without), keys)
    statement = f"""
        SELECT value, count(DISTINCT issue_key), count(*) FROM (
            SELECT runs.issue_key AS issue_key, {FACETS[facet].format(**rows.THIS)} AS value
            {rows.FROM} WHERE {" AND ".join(where)} ORDER BY began_at DESC LIMIT {COUNTED}
        ) AS found GROUP BY value
    """
    return {value: (issues, runs) for value, issues, runs in db.execute(statement, parameters).fetchall()}


def _where(run_filter: rows.RunFilter, keys: rows.Keys) -> tuple[list[str], list[Value]]:
    allowed, parameters = rows.visible("runs.repository_key", keys)
    conditions, values = rows.conditions_of(run_filter, rows.THIS)
    return [allowed, *conditions], [*parameters, *values]
