"""Workers' metrics are summed, on both databases."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from bot.observability.metrics import Shared
from bot.store.tables import Store
from bot.store.workers import QueueState


class Process:
    """A worker's own metrics, which end with it."""

    def __init__(self, store: Store) -> None:
        registry = CollectorRegistry()
        self.jobs = Counter("jobs", "Jobs.", ["kind"], registry=registry)
        self.seconds = Histogram("seconds", "Time.", registry=registry, buckets=(1, 5))
        self.left = Gauge("left", "Calls.", registry=registry)
        self.shared = Shared(store.metrics, registry)


async def test_two_workers_and_a_restart_add_up(store: Store) -> None:
    for seconds, left in ((0.5, 4_000), (3.0, 3_999)):
        process = Process(store)
        process.jobs.labels("triage").inc(2)
        process.seconds.observe(seconds)
        process.left.set(left)
        await process.shared.flush_changes()
        process.jobs.labels("triage").inc()
        await process.shared.flush_changes()
        await process.shared.flush_changes()
    samples = await store.metrics.samples()
    assert samples["jobs_total", (("kind", "triage"),)] == 6
    assert samples["seconds_bucket", (("le", "1.0"),)] == 1
    assert samples["seconds_bucket", (("le", "5.0"),)] == 2
    assert samples["seconds_sum", ()] == 3.5
    assert samples["left", ()] == 3_999


async def test_an_empty_store_has_zero_counts(store: Store) -> None:
    assert await store.metrics.queue() == QueueState({}, {})
    assert await store.outcomes.tallies() == []
