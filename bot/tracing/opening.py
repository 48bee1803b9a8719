"""Tracing as the settings say: off, unless a collector or LangSmith is configured."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator

from bot.settings import Settings
from bot.tracing.observer import observing
from bot.tracing.private import begin_langsmith
from bot.tracing.spans import Spans, open_spans

_FLUSH = 5.0
"""Seconds for what LangSmith has not been told yet."""


@contextlib.contextmanager
def tracing(settings: Settings) -> Iterator[Spans]:
    """Trace what is run within; runs are timed and counted either way."""
    client = begin_langsmith(text=settings.triage_trace_text)
    with open_spans(settings.otel_exporter_otlp_endpoint, text=settings.triage_trace_text) as spans:
        try:
            with observing(spans):
                yield spans
        finally:
            if client is not None:
                client.flush(timeout=_FLUSH)


@contextlib.asynccontextmanager
async def traced(settings: Settings) -> AsyncIterator[None]:
    """The same for one run on the command line."""
    with tracing(settings):
        yield
