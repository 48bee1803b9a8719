"""Store the metrics of workers, summed over all workers and restarts, and query totals from the tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from bot.store.databases.database import Connection, Table

Sample = tuple[str, tuple[tuple[str, str], ...]]
"""A sample's name and its sorted labels."""

_ADD = """
INSERT INTO metric_samples (name, labels, value) VALUES (?, ?, ?)
ON CONFLICT (name, labels) DO UPDATE SET value = metric_samples.value + excluded.value
"""
_SET = """
INSERT INTO metric_samples (name, labels, value) VALUES (?, ?, ?)
ON CONFLICT (name, labels) DO UPDATE SET value = excluded.value
"""
_QUEUE = "SELECT lane, state, count(*) FROM jobs WHERE state <> 'done' GROUP BY lane, state"
_OLDEST = "SELECT lane, min(due) FROM jobs WHERE state = 'todo' AND due <= ? GROUP BY lane"
_OUTCOMES = """
SELECT count(*), count(*) FILTER (WHERE claimed = 1), count(*) FILTER (WHERE state = 'scored'),
    count(*) FILTER (WHERE state = 'scored' AND rank = 1),
    count(*) FILTER (WHERE state = 'scored' AND rank BETWEEN 1 AND 3),
    count(*) FILTER (WHERE state = 'scored' AND claimed = 1),
    count(*) FILTER (WHERE state = 'scored' AND claimed = 1 AND rank = 1)
FROM outcomes
"""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Counts of the reports of all repositories, compared with the fixes that were found."""

    reports: int
    claims: int
    scored: int
    first: int
    """Scored reports whose first file was fixed."""
    among_three: int
    scored_claims: int
    right_claims: int


@dataclass(frozen=True, slots=True)
class Queue:
    """The state of the queue."""

    jobs: Mapping[tuple[str, str], int]
    """Number of jobs by lane and state."""
    oldest: Mapping[str, float]
    """By lane, the age in seconds of the oldest due job that no worker has claimed."""


class Metrics(Table):
    """Numbers for monitoring; none of them is about a single repository."""

    async def keep(self, added: Mapping[Sample, float], levels: Mapping[Sample, float]) -> None:
        """Add to the counters and set the gauges, in one transaction."""
        await self._database.do(lambda db: _keep(db, added, levels))

    async def samples(self) -> dict[Sample, float]:
        """Return all stored samples."""
        statement = "SELECT name, labels, value FROM metric_samples ORDER BY name, labels"
        rows = await self._rows(statement)
        return {(name, tuple(map(tuple, json.loads(labels)))): float(value) for name, labels, value in rows}

    async def queue(self) -> Queue:
        """Return the current state of the queue."""
        now = self._clock()
        jobs, oldest = await self._database.read(
            lambda db: (db.execute(_QUEUE).fetchall(), db.execute(_OLDEST, (now,)).fetchall())
        )
        waited = {lane: max(0.0, now - float(due)) for lane, due in oldest}
        return Queue({(lane, state): int(count) for lane, state, count in jobs}, waited)

    async def accuracy(self) -> Accuracy:
        """Return how reports compared with fixes, over all repositories."""
        return Accuracy(*await self._row(_OUTCOMES))


def _keep(db: Connection, added: Mapping[Sample, float], levels: Mapping[Sample, float]) -> None:
    for statement, samples in ((_ADD, added), (_SET, levels)):
        # Labels are sorted, so equal labels have the same JSON and share a row.
        if samples:
            db.executemany(statement, [(name, json.dumps(labels), value) for (name, labels), value in samples.items()])
