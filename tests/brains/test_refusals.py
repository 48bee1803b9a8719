"""Interpretation of an endpoint's error messages."""

from __future__ import annotations

import httpx2
import openai
import pytest

from nodes.brains.calls.abilities import Abilities, FailedRequest, instead
from nodes.brains.calls.replies import BusyError, fault_of


@pytest.mark.parametrize(
    ("fault", "parts"),
    [
        pytest.param(FailedRequest(400, "Unsupported value", "temperature"), ("temperature",), id="the-field-decides"),
        pytest.param(
            FailedRequest(400, "Unrecognized request argument: max_completion_tokens"), ("limit",), id="argument"
        ),
        pytest.param(FailedRequest(400, "System role not supported"), ("system",), id="role"),
        pytest.param(FailedRequest(400, "registry.ollama.ai/m does not support tools"), ("method",), id="tools"),
        pytest.param(FailedRequest(400, "bad request"), (), id="nothing"),
    ],
)
def test_the_refused_part_is_named(fault: FailedRequest, parts: tuple[str, ...]) -> None:
    assert fault.parts == parts
    assert fault.is_refusal


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(FailedRequest(500, "context deadline exceeded"), id="go-timeout"),
        pytest.param(FailedRequest(503, "response_format service down"), id="unavailable"),
        pytest.param(FailedRequest(401, "no temperature for you"), id="key"),
        pytest.param(FailedRequest(402, "billing"), id="credit"),
        pytest.param(FailedRequest(400, "content_filter: temperature"), id="filter"),
        pytest.param(FailedRequest(404, "model `tools` not found"), id="no-model"),
    ],
)
def test_other_failures_change_nothing(fault: FailedRequest) -> None:
    assert not fault.is_refusal
    assert not fault.is_context


@pytest.mark.parametrize(
    ("text", "window"),
    [
        pytest.param("This model's maximum context length is 8,192 tokens. You requested 9000.", 8_192, id="vllm"),
        pytest.param("loaded with context length of only 4096 tokens", 4_096, id="lm-studio"),
        pytest.param("the request exceeds the available context size", None, id="llama-cpp"),
    ],
)
def test_the_context_window_is_read_from_the_message(text: str, window: int | None) -> None:
    fault = FailedRequest(400, text)
    assert fault.is_context
    assert fault.window == window


def test_an_unnamed_refusal_changes_one_part_at_a_time() -> None:
    tried = list(instead(FailedRequest(400, "bad request"), Abilities()))
    whole = Abilities()
    changes = [{name for name in ("method", "temperature", "limit_name", "system") if getattr(one, name) != getattr(
        whole, name)} for one in tried]  # fmt: skip
    assert changes[:4] == [{"temperature"}, {"limit_name"}, {"method"}, {"system"}]
    assert changes[-1] == {"method", "temperature", "system"}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        pytest.param("Rate limit reached. Please try again in 7.66s.", 7.66, id="seconds"),
        pytest.param("Please try again in 6m0s.", 360.0, id="minutes"),
        pytest.param("Please retry after 20 seconds.", 20.0, id="words"),
        pytest.param("Too many requests.", None, id="nothing"),
    ],
)
def test_a_waiting_time_is_read_from_the_message(text: str, after: float | None) -> None:
    response = httpx2.Response(429, request=httpx2.Request("POST", "http://model.test"))
    busy = fault_of(openai.RateLimitError(text, response=response, body=None))
    assert isinstance(busy, BusyError)
    assert busy.after == after
