"""Write a worker's metrics to the store, because it may stop at any moment and servers on other machines show them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator

from prometheus_client import CollectorRegistry

from bot.observability.measures import WORK
from bot.store.databases.database import StoreError
from bot.store.metrics import Metrics, Sample

PAUSE = 5.0
"""Seconds between two writes; a kill loses what was measured since the last one."""

logger = logging.getLogger(__name__)


class Shared:
    """Tracks which values have been written to the store already."""

    def __init__(self, metrics: Metrics, registry: CollectorRegistry = WORK) -> None:
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
async def sharing(metrics: Metrics) -> AsyncIterator[None]:
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
