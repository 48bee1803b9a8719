"""Counts and times attempts at jobs; the job itself does not depend on it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator

from bot.errors import JobTakenOverError, RateLimitedError, RetryableError, SuspendedError
from bot.jobs import Job
from bot.metrics.measures import JOB_SECONDS, JOBS, LIMITS
from bot.tracing.spans import Attributes, Spans

# Subclasses before their bases, because the first match counts.
_OUTCOMES: tuple[tuple[type[BaseException], str], ...] = (
    (RateLimitedError, "limited"),
    (RetryableError, "put_off"),
    (SuspendedError, "parked"),
    (JobTakenOverError, "taken_over"),
    (asyncio.CancelledError, "stopped"),
)


@contextlib.contextmanager
def instrumented(job: Job, spans: Spans) -> Iterator[None]:
    """Count and time an attempt, within its own span."""
    kind, began = job.work.kind, time.perf_counter()
    outcome = "failed"
    try:
        with spans.within(f"job {kind}", _named(job)):
            yield
        outcome = "done"
    except BaseException as error:
        outcome = next((name for kind_of, name in _OUTCOMES if isinstance(error, kind_of)), "failed")
        if isinstance(error, RetryableError) and error.limit is not None:
            LIMITS.labels(error.limit).inc()
        raise
    finally:
        JOBS.labels(kind, outcome).inc()
        JOB_SECONDS.labels(kind).observe(time.perf_counter() - began)


def _named(job: Job) -> Attributes:
    """Span attributes of a job. All are ids or fixed names: user text must not reach a trace."""
    return {
        "triage.job.kind": job.work.kind,
        "triage.job.id": job.id,
        "triage.job.attempt": job.attempt,
        "triage.delivery": job.delivery,
        "triage.issue": job.work.key,
    }
