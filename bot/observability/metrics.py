"""Write a worker's metrics to the store, and show those of all workers to Prometheus at ``GET /metrics``.

A worker may stop at any moment, and servers on other machines show its metrics.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.observability.measures import ANSWERS, OUTCOMES, QUEUE_JOBS, QUEUE_OLDEST, SHARED, WORK
from bot.server.web.security import has_bearer_token, refused
from bot.settings.environment import Settings
from bot.store.databases.database import StoreError
from bot.store.runs.outcomes import Tally
from bot.store.tables import Store
from bot.store.workers import QueueState, Sample, StoreMetrics

_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PAUSE = 5.0
"""Seconds between two writes; a kill loses what was measured since the last one."""
logger = logging.getLogger(__name__)


def metrics_route(settings: Settings, store: Store) -> Route:
    """Build the route. It requires TRIAGE_METRICS_TOKEN or the operator's token; if neither is set, it refuses all."""
    tokens = (settings.triage_metrics_token, settings.triage_admin_token)

    async def metrics(request: Request) -> Response:
        if not has_bearer_token(request, *tokens):
            return refused()
        try:
            stored = await store.metrics.samples()
            glance = [*_queue(await store.metrics.queue()), *_accuracy(await store.outcomes.tallies())]
        except StoreError as error:
            return JSONResponse({"error": f"the store does not answer: {error}"}, 503)
        return Response(generate_latest(ANSWERS) + generate_latest(_Given([*_work(stored), *glance])), media_type=_TYPE)

    return Route("/metrics", metrics)


class _Given(Collector):
    """A collector of prebuilt metric families."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """Return all families."""
        return iter(self._families)


def _work(stored: Mapping[Sample, float]) -> Iterator[Metric]:
    """Build the workers' metrics with the names and descriptions under which they were measured."""
    for measure in SHARED:
        for described in measure.describe():
            family = Metric(described.name, described.documentation, described.type)
            names = {described.name + suffix for suffix in ("", "_total", "_bucket", "_sum", "_count")}
            found = [(name, dict(labels), value) for (name, labels), value in stored.items() if name in names]
            for name, labels, value in sorted(found, key=_in_order):
                family.add_sample(name, labels, value)
            yield family


def _in_order(sample: tuple[str, dict[str, str], float]) -> tuple[list[tuple[str, str]], str, float]:
    """Sort key that places a histogram's buckets together in increasing order, as Prometheus requires."""
    name, labels, _ = sample
    others = sorted((label, value) for label, value in labels.items() if label != "le")
    return others, name, float(labels.get("le", "0"))


def _queue(queue: QueueState) -> Iterator[Metric]:
    jobs = _gauge(QUEUE_JOBS)
    for where, count in queue.jobs.items():
        jobs.add_metric(where, count)
    yield jobs
    age = _gauge(QUEUE_OLDEST)
    for lane in ("control", "run"):
        age.add_metric([lane], queue.oldest.get(lane, 0.0))
    yield age


def _accuracy(tallies: Sequence[Tally]) -> Iterator[Metric]:
    """Build the gauge of reports by result; docs/accuracy.md explains how reports are compared with fixes."""
    family = _gauge(OUTCOMES)
    for result in ("reports", "claims", "scored", "first", "among_three", "scored_claims", "right_claims"):
        family.add_metric([result], sum(getattr(tally, result) for tally in tallies))
    yield family


def _gauge(described: tuple[str, tuple[str, ...], str]) -> GaugeMetricFamily:
    name, labels, documentation = described
    return GaugeMetricFamily(name, documentation, labels=labels)


class Shared:
    """Tracks which values have been written to the store already."""

    def __init__(self, metrics: StoreMetrics, registry: CollectorRegistry = WORK) -> None:
        self._metrics = metrics
        self._registry = registry
        self._handed_over = dict(_samples(registry))

    async def flush_changes(self) -> None:
        """Store the changes since the last call, if there are any."""
        now = dict(_samples(self._registry))
        before = self._handed_over
        changed = {key: value for key, value in now.items() if value != before.get(key, (0.0, False))}
        if not changed:
            return
        levels = {key: value for key, (value, level) in changed.items() if level}
        added = {key: value - before.get(key, (0.0, False))[0] for key, (value, level) in changed.items() if not level}
        await self._metrics.keep(added, levels)
        self._handed_over = now

    async def run(self) -> None:
        """Write to the store every ``PAUSE`` seconds until cancelled. If the store does not answer, retry next time."""
        while True:
            await asyncio.sleep(PAUSE)
            await self._try()

    async def _try(self) -> None:
        try:
            await self.flush_changes()
        except StoreError as error:
            logger.warning(
                "metrics were not stored and will be retried: %s", error, extra={"action": "metrics_not_stored"}
            )


@contextlib.asynccontextmanager
async def sharing(metrics: StoreMetrics) -> AsyncIterator[None]:
    """Write this process's metrics while the block runs, and the remaining changes at its end."""
    shared = Shared(metrics)
    task = asyncio.create_task(shared.run(), name="measures")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await shared._try()


def _samples(registry: CollectorRegistry) -> Iterator[tuple[Sample, tuple[float, bool]]]:
    """Yield every sample with its value and whether it is a level (gauge) rather than a count."""
    for family in registry.collect():
        for sample in family.samples:
            # A ``_created`` sample is a timestamp, which cannot be added up.
            if not sample.name.endswith("_created"):
                key = (sample.name, tuple(sorted(sample.labels.items())))
                yield key, (sample.value, family.type == "gauge")
