"""The allowed attributes of spans."""

from __future__ import annotations

import json

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.semconv.schemas import Schemas

from bot.observability.spans import CONVENTIONS, MODEL_CALL, TEXT, Spans, messages

TOKEN = "ghp_" + "a1B2" * 9


def recorded(*, text: bool) -> ReadableSpan:
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    spans = Spans(provider.get_tracer("t"), text=text)
    attributes = {
        "triage.node": "writer",
        "issue.title": "secret plans",
        "gen_ai.input.messages": messages([("user", f"title and {TOKEN}")]),
    }
    with pytest.raises(ValueError, match="plans"), spans.within("node writer", attributes):
        raise ValueError("secret plans")
    (span,) = exporter.get_finished_spans()
    return span


def test_only_listed_attributes_and_the_type_of_an_error_are_recorded() -> None:
    span = recorded(text=False)
    assert dict(span.attributes or {}) == {"triage.node": "writer", "error.type": "ValueError"}
    assert (span.events, span.status.description) == ((), None)


def test_text_that_is_allowed_is_sent_without_secrets() -> None:
    attributes = dict(recorded(text=True).attributes or {})
    (message,) = json.loads(str(attributes["gen_ai.input.messages"]))
    assert message["role"] == "user"
    assert message["parts"][0]["content"].startswith("title and ")
    assert TOKEN not in str(attributes)
    assert "issue.title" not in attributes


def test_without_a_collector_there_are_no_spans() -> None:
    spans = Spans()
    with spans.within("job", {}):
        span = spans.begin("node", {})
    spans.end(span)
    assert span is None


def test_attributes_of_model_calls_are_those_of_the_pinned_conventions() -> None:
    assert {*MODEL_CALL, *TEXT} <= {str(value) for value in vars(gen_ai_attributes).values()}
    assert f"/{CONVENTIONS}" in "".join(one.value for one in Schemas)
