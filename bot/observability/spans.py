"""OpenTelemetry spans of jobs, nodes and model calls; none if no collector is configured."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

from pydantic import ValidationError

from bot.errors import UserError
from nodes.guards import NOTHING_JOINED
from nodes.judgements import NodeName
from nodes.report import Kind
from nodes.state import Tier, TraceEntry
from nodes.trust.secrets import mask

_DECISIONS = frozenset(
    {*get_args(NodeName), *get_args(Kind), "found", "nothing found", "failed", "joined", NOTHING_JOINED, "not asked"}
    | {"accept", "retry", "review", "APPROVED", "REJECTED", "asked", "answered", "withdrawn"}
)
"""All decisions that nodes write. Any other value is left out."""
ROUTING = "supervisorRouting"
Attributes = Mapping[str, str | float | Sequence[str]]
CONVENTIONS = "1.44.0"
"""The version of OpenTelemetry's semantic conventions that spans of model calls follow."""
_SCHEMA = f"https://opentelemetry.io/schemas/{CONVENTIONS}"
MODEL_CALL = (
    *("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model", "gen_ai.request.temperature"),
    *("gen_ai.request.max_tokens", "gen_ai.response.model", "gen_ai.response.id", "gen_ai.response.finish_reasons"),
    *("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"),
)
"""Attributes of a model call, as the conventions name them."""
ALLOWED = frozenset(
    {
        *("triage.job.kind", "triage.job.id", "triage.job.attempt", "triage.delivery", "triage.issue", "triage.node"),
        *("triage.decision", "triage.guard", "triage.confidence", "triage.beside", "triage.tier"),
        *("triage.specialists", "triage.failed", "triage.sources", f"triage.{ROUTING}"),
        *MODEL_CALL,
        "error.type",
    }
)
"""Attributes without text of an issue, of code or of a model. An issue is named by its number and by ids."""
TEXT = frozenset({"gen_ai.input.messages", "gen_ai.output.messages"})
"""Attributes with such text. They are sent only if the operator allows it."""
_MAX_TEXT = 20_000
"""Characters of one message."""
NO_SDK = (
    "OTEL_EXPORTER_OTLP_ENDPOINT needs OpenTelemetry: install the extra `otel` (in a clone: make install EXTRAS=otel)"
)


def routing(outputs: Any) -> dict[str, str | float]:
    """Return the attributes of a node's span from its output; empty if the output is not a node's."""
    if not isinstance(outputs, Mapping):
        return {}
    return {f"triage.{name}": value for name, value in _facts(outputs) if value not in (None, "")}


def _facts(outputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    if outputs.get("tier") in get_args(Tier):
        yield "tier", outputs["tier"]
    also, entries = outputs.get("also"), outputs.get("trace")
    parallel = [str(name)[:40] for name in also] if isinstance(also, tuple) else []
    if parallel:
        yield "beside", " ".join(parallel)
    entry = entries[-1] if isinstance(entries, tuple) and entries else None
    if not isinstance(entry, TraceEntry):
        return
    yield "decision", entry.decision if entry.decision in _DECISIONS else None
    yield "guard", entry.guard
    yield "confidence", entry.confidence
    yield from ((name, entry.counts.get(name)) for name in ("specialists", "failed", "sources"))
    if (after := outputs.get("next_node")) in get_args(NodeName):
        # A supervisor's step: names and numbers, without its reasons.
        step = {
            "next": after,
            "specialists": [after, *parallel] if parallel else [],
            "confidence": outputs.get("supervisor_confidence"),
            "guard": entry.guard,
            "judged_by": entry.judged_by,
            "iteration": entry.iteration,
        }
        yield ROUTING, json.dumps(step)


def only_routing(outputs: dict[str, Any]) -> dict[str, Any]:
    """Return the part of a node's output that LangSmith receives by default: the routing, without text."""
    try:
        trace = tuple(TraceEntry.model_validate(entry) for entry in outputs.get("trace") or ())
    except (ValidationError, TypeError):
        return {}
    also = outputs.get("also")
    outputs = {**outputs, "trace": trace, "also": tuple(also) if isinstance(also, list) else ()}
    facts: dict[str, Any] = {name.removeprefix("triage."): value for name, value in routing(outputs).items()}
    if ROUTING in facts:
        facts[ROUTING] = json.loads(facts[ROUTING])
    return facts


def messages(texts: Iterable[tuple[str, str]], **more: str) -> str:
    """Return messages in the JSON of the conventions, with secrets masked."""
    parts = ((role, [{"type": "text", "content": mask(text)[:_MAX_TEXT]}]) for role, text in texts)
    return json.dumps([{"role": role, "parts": content, **more} for role, content in parts])


class Spans:
    """Starts and ends spans."""

    def __init__(self, tracer: Any = None, *, text: bool = False) -> None:
        self._tracer = tracer
        self.text = text
        """Whether texts are sent."""

    def begin(self, name: str, attributes: Attributes, parent: Any = None, *, calls: bool = False) -> Any:
        """Start a span below a parent or the current span; ``calls`` another server. None without a collector."""
        if self._tracer is None:
            return None
        from opentelemetry.trace import SpanKind, set_span_in_context  # noqa: PLC0415  optional dependency

        context = None if parent is None else set_span_in_context(parent)
        kind = SpanKind.CLIENT if calls else SpanKind.INTERNAL
        return self._tracer.start_span(name, context=context, kind=kind, attributes=self._kept(attributes))

    def end(self, span: Any, attributes: Attributes | None = None, error: BaseException | None = None) -> None:
        """End a span. An error is recorded by its type, without its message."""
        if span is None:
            return
        if error is not None:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415  optional dependency

            span.set_status(StatusCode.ERROR)
            span.set_attribute("error.type", type(error).__name__)
        span.set_attributes(self._kept(attributes or {}))
        span.end()

    @contextlib.contextmanager
    def within(self, name: str, attributes: Attributes) -> Iterator[None]:
        """Run the block within a span; spans started in the block become its children."""
        span = self.begin(name, attributes)
        if span is None:
            yield
            return
        from opentelemetry.trace import use_span  # noqa: PLC0415  optional dependency

        try:
            # Recording the exception would copy its message, which may quote an issue.
            with use_span(span, record_exception=False, set_status_on_exception=False):
                yield
        except BaseException as error:
            self.end(span, error=error)
            raise
        self.end(span)

    def _kept(self, attributes: Attributes) -> Attributes:
        """Return the attributes that may be sent: known names, and text only if allowed."""
        known = ALLOWED | TEXT if self.text else ALLOWED
        return {name: value for name, value in attributes.items() if name in known}


@contextlib.contextmanager
def open_spans(endpoint: str | None, *, text: bool) -> Iterator[Spans]:
    """Send spans to a collector over OTLP/HTTP, the last ones when the block ends; UserError without the extra."""
    if endpoint is None:
        yield Spans()
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415  optional
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise UserError(NO_SDK) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "tracehound"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")))
    try:
        yield Spans(provider.get_tracer("tracehound", schema_url=_SCHEMA), text=text)
    finally:
        provider.shutdown()
