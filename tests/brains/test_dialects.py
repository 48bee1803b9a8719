"""Completions of servers that differ from OpenAI's form, and answers that need a small repair."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from nodes.brains.calls.abilities import FailedRequest
from nodes.brains.calls.dialects import normalised
from nodes.brains.calls.replies import InvalidOutput, read_answer

VALUE = {"a": 1}
TEXT = json.dumps(VALUE)


def called(arguments: Any) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("message", "finish", "arguments", "content", "normal"),
    [
        pytest.param(called(VALUE), "tool_calls", TEXT, None, "tool_calls", id="arguments-as-an-object"),
        pytest.param(called(json.dumps(TEXT)), "tool_calls", TEXT, None, "tool_calls", id="arguments-encoded-twice"),
        pytest.param({"function_call": {"name": "f", "arguments": TEXT}}, None, TEXT, None, "tool_calls", id="legacy"),
        pytest.param({"content": TEXT}, None, None, TEXT, "stop", id="no-reason-for-the-end"),
        pytest.param({"content": TEXT}, "MAX_TOKENS", None, TEXT, "length", id="another-name-for-the-end"),
        pytest.param({"content": "", "reasoning_content": TEXT}, "stop", None, TEXT, "stop", id="in-the-reasoning"),
        pytest.param(
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": TEXT}]},
            *("stop", None, TEXT, "stop"),
            id="parts",
        ),
        pytest.param({**called(""), "content": TEXT}, "tool_calls", None, TEXT, "tool_calls", id="a-call-without-any"),
    ],
)
def test_a_completion_is_read_in_openais_form(
    message: dict[str, Any], finish: str | None, arguments: str | None, content: str | None, normal: str
) -> None:
    choice = normalised({"message": message, "finish_reason": finish})
    calls = choice["message"].get("tool_calls") or []
    assert [call["function"]["arguments"] for call in calls] == ([arguments] if arguments is not None else [])
    assert (choice["message"]["content"], choice["finish_reason"]) == (content, normal)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"a": 1,}', id="trailing-comma"),
        pytest.param("{'a': 1}", id="dict-of-python"),
        pytest.param('{"a": 1 // one\n}', id="comment"),
        pytest.param('```json\n{"a": 1}\n```', id="fence"),
        pytest.param(json.dumps(TEXT), id="encoded-twice"),
        pytest.param('Draft: {"a": 0} Better: {"a": 1}', id="the-last-object"),
        pytest.param('<|channel|>final <|constrain|>json<|message|>{"a": 1}<|return|>', id="marks-of-a-template"),
    ],
)
def test_the_answer_is_found(text: str) -> None:
    assert read_answer(AIMessage(content=text)).objects[0] == VALUE


def test_python_literals_are_read_and_strings_stay() -> None:
    found = read_answer(AIMessage(content='{"a": True, "b": None, "c": "None, // x"}')).objects[0]
    assert found == {"a": True, "b": None, "c": "None, // x"}


def test_a_cut_answer_is_known_whatever_the_server_says() -> None:
    with pytest.raises(InvalidOutput) as error:
        read_answer(AIMessage(content='{"a": "begins and', response_metadata={"finish_reason": "stop"}))
    assert error.value.cut


@pytest.mark.parametrize(
    ("status", "text", "window"),
    [
        pytest.param(413, "Request too large for model: TPM: Limit 2500, Requested 3000", 2_500, id="groq"),
        pytest.param(422, "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", 4_096, id="tgi"),
        pytest.param(400, "prompt is too long: 3000 tokens > 2500 maximum", 2_500, id="anthropic"),
    ],
)
def test_a_token_limit_shortens_the_prompt(status: int, text: str, window: int) -> None:
    fault = FailedRequest(status, text)
    assert fault.is_context
    assert fault.window == window


@pytest.mark.parametrize(
    ("text", "certain"),
    [
        pytest.param("Failed to generate JSON. Please adjust your prompt.", False, id="a-chance"),
        pytest.param("'temperature' is not supported with this model", True, id="not-supported"),
        pytest.param("Provider returned error", False, id="nothing-said"),
    ],
)
def test_only_a_message_about_support_is_certain(text: str, certain: bool) -> None:
    assert FailedRequest(400, text).is_certain == certain


@pytest.mark.parametrize(
    "text", ["{'a': {1}}", "{'a': 1e999}", "{'a': f()}", "{" * 5_000 + "}", "{'a': '" + "x" * 30_000 + "'}"]
)
def test_a_dict_of_python_that_is_no_json_is_invalid(text: str) -> None:
    with pytest.raises(InvalidOutput):
        read_answer(AIMessage(content=text))
