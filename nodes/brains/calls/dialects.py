"""Read the completions of any server: rewrite what differs from OpenAI's form before the client parses it."""

import json
from typing import Any

import httpx

_FINISH = {"max_tokens": "length", "max_output_tokens": "length", "model_length": "length", "end_turn": "stop"}
"""Reasons for the end of an answer as other providers name them, in lower case, with OpenAI's names for them."""
_REASONING = ("reasoning_content", "reasoning", "thinking")
"""Fields in which servers put a model's reasoning; some put the whole answer there."""
_DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""Headers that describe the bytes of the original body."""
Document = dict[str, Any]


class Client(httpx.AsyncClient):
    """An HTTP client whose completions are in OpenAI's form."""

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request; a body that is not a completion stays as it is."""
        response = await super().send(request, **options)
        if response.status_code != httpx.codes.OK or options.get("stream"):
            return response
        rewritten = _rewritten(await response.aread())
        if rewritten is None:
            return response
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _DROPPED]
        return httpx.Response(response.status_code, headers=headers, content=rewritten, request=request)


def _rewritten(body: bytes) -> bytes | None:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    choices = document.get("choices") if isinstance(document, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    changed = {**document, "choices": [normalised(choices[0]), *choices[1:]]}
    return None if changed == document else json.dumps(changed).encode()


def normalised(choice: Document) -> Document:
    """Return a choice in OpenAI's form.

    It handles arguments of tools as objects or encoded twice, the earlier ``function_call``, calls written into the
    content, content as a list of parts, answers in a field for reasoning, and missing or unknown reasons for the end.
    """
    message = choice.get("message")
    if not isinstance(message, dict):
        return choice
    content = _content(message)
    calls = _calls(message) or _written(content or "")
    if not calls and not (content or "").strip():
        content = next((text for name in _REASONING if "{" in (text := _text(message.get(name)))), content)
    if calls and "{" in (content or "") and not any(call["function"]["arguments"].strip() for call in calls):
        calls = []
    new = {name: value for name, value in message.items() if name not in ("function_call", "tool_calls")}
    new |= {"role": "assistant", "content": content, **({"tool_calls": calls} if calls else {})}
    finish = choice.get("finish_reason")
    lower = finish.lower() if isinstance(finish, str) else ("tool_calls" if calls else "stop")
    return {"index": 0, **choice, "message": new, "finish_reason": _FINISH.get(lower, lower)}


def _content(message: Document) -> str | None:
    content = message.get("content")
    return content if content is None or isinstance(content, str) else _text(content)


def _text(value: Any) -> str:
    """Return the text of a string or of a list of parts; parts of reasoning are left out."""
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else [value]
    texts = (part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict))
    return "".join(text for text in texts if isinstance(text, str))


def _calls(message: Document) -> list[Document]:
    calls = message.get("tool_calls")
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"function": message["function_call"]}]
    listed = calls if isinstance(calls, list) else []
    return [_call(call, number) for number, call in enumerate(listed) if isinstance(call, dict)]


def _written(content: str) -> list[Document]:
    """Return the calls that a model wrote in the marks of its template (Kimi, Qwen), if its server parses none."""
    found = list[tuple[str, str]]()
    for part in content.split("<|tool_call_begin|>")[1:]:
        name, _, rest = part.partition("<|tool_call_argument_begin|>")
        found.append((name.strip().partition(":")[0], rest.partition("<|tool_call_end|>")[0]))
    for part in content.split("<function=")[1:]:
        name, _, rest = part.partition(">")
        fields = (piece.partition(">") for piece in rest.partition("</function>")[0].split("<parameter=")[1:])
        found.append((name, json.dumps({key: text.partition("</parameter>")[0].strip() for key, _, text in fields})))
    return [_call({"function": {"name": name, "arguments": text}}, number) for number, (name, text) in enumerate(found)]


def _call(call: Document, number: int) -> Document:
    function = call["function"] if isinstance(call.get("function"), dict) else {}
    named = {"name": str(function.get("name") or ""), "arguments": _arguments(function.get("arguments"))}
    return {"id": str(call.get("id") or f"call_{number}"), "type": "function", "function": named}


def _arguments(value: Any) -> str:
    if not isinstance(value, str):
        return "" if value is None else json.dumps(value)
    try:
        decoded = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return decoded if isinstance(decoded, str) else value
