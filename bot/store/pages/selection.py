"""Select runs for lists, limited to what the viewer may see."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.store.databases.database import Connection, Value
from bot.store.pages.rows import (
    COLUMNS,
    FIX,
    FIX_ROW,
    FROM,
    LISTED,
    OUTCOME,
    STATUS,
    THIS,
    Keys,
    Place,
    RunRow,
    read_row,
    visible,
)

_NEWER = {"run": "newer", "fix": "newer_fixes"}
"""Names of the tables of a newer run of the same issue."""
FACETS = {"status": STATUS, "kind": "{run}.kind", "outcome": OUTCOME}
"""Fields of a filter by which the list counts its issues, as SQL."""
COUNTED = 20_000
"""Runs that are counted at most, the newest ones."""
_PLACE = "(began_at, runs.issue_key, runs.run_no)"


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A filter for runs; an empty or None field matches all."""

    repository: str = ""
    """Key of the repository."""
    issue: int | None = None
    """Number of the issue; it requires the repository."""
    status: str = ""
    kind: str = ""
    claimed: bool | None = None
    brain: str = ""
    text: str = ""
    """A part of the title; ASCII letters match in any case."""
    since: float | None = None
    until: float | None = None
    """Matches runs that began before this time."""
    outcome: str = ""
    within: int = 0
    """Matches reports whose first fixed file has at most this rank."""
    fix: str = ""
    """State of the comparison with the fix."""

    @property
    def issue_key(self) -> str:
        """Key of the issue; empty if any issue matches."""
        return "" if self.issue is None else f"{self.repository}#{self.issue}"

    def matches(self, row: RunRow) -> bool:
        """Return whether the filter matches a run."""
        fields = (
            (self.repository, row.repository_key),
            (self.status, row.status),
            (self.kind, row.kind),
            (self.brain, row.brain),
            (self.issue_key, row.issue_key),
            (self.outcome, row.outcome),
            (self.fix, row.fix),
        )
        return (
            all(required in ("", value) for required, value in fields)
            and self.text.lower() in row.title.lower()
            and (self.claimed is None or (row.claimed == self.claimed and row.kind != ""))
            and (self.since is None or row.began_at >= self.since)
            and (self.until is None or row.began_at < self.until)
            and (not self.within or (row.fix == "scored" and 1 <= (row.rank or 0) <= self.within))
        )


def listed(
    db: Connection,
    run_filter: RunFilter,
    keys: Keys,
    *,
    before: Place | None,
    after: Place | None,
    most: int = LISTED,
    folded: bool = False,
) -> list[RunRow]:
    """Read one run more than a page shows, which shows whether there is another page.

    A page follows ``before`` or precedes ``after``, with which the rows are oldest first. ``folded``: only the newest
    matching run of each issue.
    """
    where, parameters = _where(run_filter, keys)
    if folded:
        newer, more = _conditions(run_filter, _NEWER)
        joined = f"runs AS newer LEFT JOIN {FIX_ROW.format(**_NEWER)}"
        same = "newer.issue_key = runs.issue_key AND newer.run_no > runs.run_no"
        where.append(f"NOT EXISTS (SELECT 1 FROM {joined} WHERE {' AND '.join((same, *newer))})")
        parameters += more
    order, place = "DESC", before
    if after is not None:
        order, place = "ASC", after
    # Pages begin at a row instead of an offset: new runs do not shift them, and the index serves the comparison.
    if place is not None:
        where.append(f"{_PLACE} {'<' if order == 'DESC' else '>'} (?, ?, ?)")
        parameters += [place.began_at, place.issue_key, place.number]
    statement = f"""
        SELECT {COLUMNS} {FROM} WHERE {" AND ".join(where)}
        ORDER BY began_at {order}, runs.issue_key {order}, runs.run_no {order} LIMIT ?
    """
    return [read_row(row) for row in db.execute(statement, (*parameters, most + 1)).fetchall()]


def earlier(db: Connection, run_filter: RunFilter, issues: Collection[str], most: int) -> list[tuple[RunRow, int]]:
    """Read the matching runs of issues below the newest one, the latest first, each with the number of all of them."""
    if not issues:
        return []
    where, parameters = _where(run_filter, None)
    within = "PARTITION BY runs.issue_key"
    statement = f"""
        SELECT * FROM (
            SELECT {COLUMNS}, count(*) OVER ({within}) AS matching,
                row_number() OVER ({within} ORDER BY runs.run_no DESC) AS from_newest
            {FROM} WHERE {" AND ".join(where)} AND runs.issue_key IN ({", ".join("?" * len(issues))})
        ) AS numbered WHERE from_newest BETWEEN 2 AND ? ORDER BY from_newest
    """
    rows = db.execute(statement, (*parameters, *issues, most + 1)).fetchall()
    return [(read_row(row), matching - 1) for *row, matching, _ in rows]


def counted(db: Connection, run_filter: RunFilter, keys: Keys, facet: str) -> dict[str, tuple[int, int]]:
    """Count the issues with a matching run by a facet: value to issues and runs; the facet's own filter is ignored."""
    without: dict[str, Any] = {facet: ""}
    where, parameters = _where(replace(run_filter, **without), keys)
    statement = f"""
        SELECT value, count(DISTINCT issue_key), count(*) FROM (
            SELECT runs.issue_key AS issue_key, {FACETS[facet].format(**THIS)} AS value
            {FROM} WHERE {" AND ".join(where)} ORDER BY began_at DESC LIMIT {COUNTED}
        ) AS found GROUP BY value
    """
    return {value: (issues, runs) for value, issues, runs in db.execute(statement, parameters).fetchall()}


def _where(run_filter: RunFilter, keys: Keys) -> tuple[list[str], list[Value]]:
    allowed, parameters = visible("runs.repository_key", keys)
    conditions, values = _conditions(run_filter, THIS)
    return [allowed, *conditions], [*parameters, *values]


def _conditions(run_filter: RunFilter, names: dict[str, str]) -> tuple[list[str], list[Value]]:
    """Return the conditions for a run, and their parameters; ``names`` are those of its tables."""
    one: Sequence[tuple[str, Value]] = (
        ("{run}.repository_key = ?", run_filter.repository or None),
        ("{run}.issue_key = ?", run_filter.issue_key or None),
        (f"({STATUS}) = ?", run_filter.status or None),
        ("{run}.kind = ?", run_filter.kind or None),
        ("{run}.kind <> '' AND {run}.claimed = ?", None if run_filter.claimed is None else int(run_filter.claimed)),
        ("{run}.brain = ?", run_filter.brain or None),
        ("lower({run}.title) LIKE ? ESCAPE '!'", _pattern(run_filter.text) if run_filter.text else None),
        ("{run}.began_at >= ?", run_filter.since),
        ("{run}.began_at < ?", run_filter.until),
        (f"({OUTCOME}) = ?", run_filter.outcome or None),
        (f"({FIX}) = ?", run_filter.fix or None),
        (f"({FIX}) = 'scored' AND {{fix}}.rank BETWEEN 1 AND ?", run_filter.within or None),
    )
    given = [(text.format(**names), value) for text, value in one if value is not None]
    return [text for text, _ in given], [value for _, value in given]


def _pattern(text: str) -> str:
    escaped = "".join(f"!{c}" if c in "!%_" else c for c in text)
    # SQLite's lower() changes ASCII letters only.
    return f"%{''.join(c.lower() if c.isascii() else c for c in escaped)}%"
