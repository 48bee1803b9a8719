"""Observe a run through callbacks: count, time and trace each node and model call, if tracing is configured."""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook
from langgraph.errors import GraphBubbleUp

from bot.observability.measures import MODEL_CALLS, MODEL_SECONDS, MODEL_TOKENS, NODE_SECONDS
from bot.observability.spans import Spans, only_routing, open_spans, routing
from bot.observability.spans import messages as as_messages
from bot.observability.tracing_switch import langsmith_is_on
from bot.settings.environment import Settings
from nodes.trust.secrets import mask

_METADATA = ("langgraph_", "ls_", "lc_", "LANGSMITH_", "LANGCHAIN_")
_IDS = frozenset({"thread_id", "checkpoint_ns", "__pregel_task_id", "revision_id"})
_ROLES = {"human": "user", "ai": "assistant"}
"""The names of the conventions for LangChain's roles."""
_watching: ContextVar["Observer | None"] = ContextVar("_watching", default=None)
_FLUSH = 5.0
"""Seconds to send the remaining traces to LangSmith."""


def start_langsmith(*, text: bool) -> Any:
    """Create the client that sends every trace of this process; None if LangSmith is off."""
    if not langsmith_is_on():
        return None
    from langsmith.run_trees import get_cached_client  # noqa: PLC0415  only needed if it is on

    if text:
        return get_cached_client(anonymizer=_masked)
    # LangSmith ignores a hide_outputs function if an anonymizer is set, so the anonymizer filters the outputs too.
    return get_cached_client(hide_inputs=True, hide_outputs=False, anonymizer=_without_text)


def _without_text(data: Any) -> Any:
    """Return what may be sent of an error, of metadata and of a run's output, without text of issues, code and models.

    LangSmith does not state which of the three a value is, so everything that is not known to be harmless is removed.
    An error retains its type, metadata the entries of LangGraph and LangSmith, and a node's output its routing.
    """
    if not isinstance(data, dict):
        return {}
    if set(data) == {"error"}:
        return {"error": str(data["error"]).partition("(")[0][:100]}
    kept = {name: value for name, value in data.items() if str(name).startswith(_METADATA) or name in _IDS}
    return {**kept, **only_routing(data)}


def _masked(data: Any) -> Any:
    """Mask everything that looks like a secret, in nested values too."""
    if isinstance(data, str):
        return mask(data)
    if isinstance(data, dict):
        return {name: _masked(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_masked(value) for value in data]
    return data


@dataclass(frozen=True, slots=True)
class _OpenSpan:
    name: str
    at: float
    span: Any


class Observer(AsyncCallbackHandler):
    """LangChain callback handler for nodes and model calls. It reads only the routing from a node's output."""

    def __init__(self, spans: Spans) -> None:
        self._spans = spans
        self._nodes: dict[UUID, _OpenSpan] = {}
        self._models: dict[UUID, _OpenSpan] = {}

    async def on_chain_start(
        self,
        serialized: dict[str, Any] | None,  # noqa: ARG002  the callback's signature, here and below
        inputs: Any,  # noqa: ARG002
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **given: Any,
    ) -> None:
        """Record the start of a node. Chains within a node have other names and are ignored."""
        name = given.get("name")
        if name is not None and name == (metadata or {}).get("langgraph_node"):
            span = self._spans.begin(f"node {name}", {"triage.node": name})
            self._nodes[run_id] = _OpenSpan(name, time.perf_counter(), span)

    async def on_chain_end(self, outputs: Any, *, run_id: UUID, **_given: Any) -> None:
        """Record the end of a node."""
        self._node_ended(run_id, None, outputs)

    async def on_chain_error(self, error: BaseException, *, run_id: UUID, **_given: Any) -> None:
        """Record the failure of a node, or its interrupt to ask a person, which is not an error."""
        self._node_ended(run_id, None if isinstance(error, GraphBubbleUp) else error)

    def _node_ended(self, run_id: UUID, error: BaseException | None, outputs: Any = None) -> None:
        open_span = self._nodes.pop(run_id, None)
        if open_span is not None:
            NODE_SECONDS.labels(open_span.name).observe(time.perf_counter() - open_span.at)
            self._spans.end(open_span.span, routing(outputs), error=error)

    async def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,  # noqa: ARG002
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        metadata: dict[str, Any] | None = None,
        **_given: Any,
    ) -> None:
        """Record the start of a model call."""
        details = metadata or {}
        name, node = str(details.get("ls_model_name", "unknown")), details.get("langgraph_node")
        parent = next((open_span.span for open_span in reversed(self._nodes.values()) if open_span.name == node), None)
        asked: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            # Every endpoint is called with OpenAI's API, which the conventions name then.
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": name,
            "gen_ai.request.temperature": details.get("ls_temperature"),
            "gen_ai.request.max_tokens": details.get("ls_max_tokens"),
        }
        if self._spans.text:
            every = (message for batch in messages for message in batch)
            texts = ((_ROLES.get(message.type, message.type), str(message.content)) for message in every)
            asked["gen_ai.input.messages"] = as_messages(texts)
        known = {key: value for key, value in asked.items() if value is not None}
        span = self._spans.begin(f"chat {name}", known, parent, calls=True)
        self._models[run_id] = _OpenSpan(name, time.perf_counter(), span)

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_given: Any) -> None:
        """Record a model's answer."""
        open_span = self._models.pop(run_id, None)
        if open_span is None:
            return
        message = _answer(response)
        usage = getattr(message, "usage_metadata", None) or {}
        asked, answered = int(usage.get("input_tokens", 0)), int(usage.get("output_tokens", 0))
        MODEL_CALLS.labels(open_span.name, "answered").inc()
        MODEL_SECONDS.labels(open_span.name).observe(time.perf_counter() - open_span.at)
        MODEL_TOKENS.labels(open_span.name, "input").inc(asked)
        MODEL_TOKENS.labels(open_span.name, "output").inc(answered)
        counts = {"gen_ai.usage.input_tokens": asked, "gen_ai.usage.output_tokens": answered}
        self._spans.end(open_span.span, {**counts, **self._described(message)})

    def _described(self, message: BaseMessage | None) -> dict[str, Any]:
        """Return the attributes of an answer that its server stated, and its text if that may be sent."""
        if message is None:
            return {}
        stated = message.response_metadata
        reason = str(stated.get("finish_reason") or "")
        found = {
            "gen_ai.response.model": stated.get("model_name"),
            "gen_ai.response.id": stated.get("id"),
            "gen_ai.response.finish_reasons": [reason] if reason else None,
        }
        if self._spans.text:
            texts = [("assistant", str(message.text))]
            found["gen_ai.output.messages"] = as_messages(texts, finish_reason=reason or "unknown")
        return {name: value for name, value in found.items() if value}

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **_given: Any) -> None:
        """Record a failed model call."""
        open_span = self._models.pop(run_id, None)
        if open_span is not None:
            MODEL_CALLS.labels(open_span.name, "failed").inc()
            MODEL_SECONDS.labels(open_span.name).observe(time.perf_counter() - open_span.at)
            self._spans.end(open_span.span, error=error)


def _answer(response: LLMResult) -> BaseMessage | None:
    """Return the message of a response; None if it has none."""
    generations = (message for batch in response.generations for message in batch)
    return next((generation.message for generation in generations if isinstance(generation, ChatGeneration)), None)


@contextlib.contextmanager
def observing(spans: Spans) -> Iterator[None]:
    """Observe every graph run within the block."""
    _watching.set(Observer(spans))
    try:
        yield
    finally:
        _watching.set(None)  # reset() would fail if the block ends in another context


# LangChain adds the variable's handler to every run in this context, so no node needs to know about tracing.
register_configure_hook(_watching, inheritable=True)


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
