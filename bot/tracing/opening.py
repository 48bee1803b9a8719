"""Set up tracing from the settings: off, unless an OTLP collector or LangSmith is configured."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator

from bot.settings import Settings
from bot.tracing.observer import observing
from bot.tracing.private import start_langsmith
from bot.tracing.spans import Spans, open_spans

_FLUSH = 5.0
"""Seconds to send the remaining traces to LangSmith."""


@contextlib.contextmanager
def tracing(settings: Settings) -> Iterator[Spans]:
    """Trace graph runs within the block. They are timed and counted even if tracing is off."""
    client = start_langsmith(text=settings.triage_trace_text)
    with open_spans(settings.otel_exporter_otlp_endpoint, text=settings.triage_trace_text) as spans:
        try:
            with observing(spans):
                yield spans
        finally:
            if client is not None:
                client.flush(timeout=_FLUSH)


@contextlib.asynccontextmanager
async def traced(settings: Settings) -> AsyncIterator[None]:
    """Trace one run on the command line, like ``tracing``."""
    with tracing(settings):
        yield
