"""Simulated endpoints: what servers that call themselves OpenAI-compatible do, each as one row of a table.

``tests/graph/test_endpoints.py`` runs every row through a whole triage; ``docs/generate.py`` writes docs/endpoints.md
from the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from nodes.brains.calls.request import counted
from tests.servers.model_server import Reply, Request, completion, error, says

Form = Literal["json_schema", "tools", "json_object", "words"]
Handles = Literal["honoured", "refused", "ignored"]

ROUNDS = {2: "critic", 3: "writer"}
DECISION = {"reasoning": "because", "question": None, "question_context": None, "confidence": 0.9}
ANSWERS: dict[str, dict[str, Any]] = {
    "investigator": {
        "problem": "scan never ends",
        "hypothesis": "the lexer",
        "missing": [],
        "kind": "bug",
        "severity": "high",
        "severity_reason": "it hangs",
        "search_terms": ["scan"],
        "confidence": 0.6,
    },
    "file reader": {
        "analysis": "The scanner loops without an end.",
        "files": ["F1"],
        "not_listed": [],
        "confidence": 0.9,
    },
    "code reader": {
        "cause": [{"text": "the lexer", "evidence": ["src/lexer.py:1"]}],
        "places": [{"evidence": "src/lexer.py:1", "why": "a loop"}],
        "rival": None,
        "against": "",
        "confirm": "Run it.",
        "confidence": 0.9,
    },
    "critic": {
        "approved": True,
        "gaps": [],
        "required_evidence": [],
        "contradictions": [],
        "better_place": "",
        "confidence": 0.9,
        "against_other": "E1 is where it loops.",
        "other_holds": False,
    },
    "writer": {
        "verdict": "The scanner never leaves its loop.",
        "root_cause": "The loop has no way out [E1].",
        "suspects": [{"evidence": "E1", "why": "the loop"}],
        "missing": [],
        "ruled_out": [],
        "how_to_confirm": "Run it.",
        "labels": ["bug"],
        "kind": "bug",
        "severity": "high",
        "severity_reason": "it hangs",
        "confidence": 0.9,
    },
}


def prompt_of(request: Request) -> str:
    """Return all texts of a request."""
    return "\n".join(str(message["content"]) for message in request["messages"])


def answer(request: Request) -> dict[str, Any]:
    """Return the answer of a model that does its task, in any form."""
    text = prompt_of(request)
    if "You are the supervisor" in text:
        round_ = next(n for n in range(12) if f"Iteration: {n} /" in text)
        return {**DECISION, "next_node": ROUNDS.get(round_, "writer"), "question_options": []}
    return next(value for role, value in ANSWERS.items() if f"You are the {role} of" in text)


def form_of(request: Request) -> Form:
    """Return how the request asks for JSON."""
    if "tools" in request:
        return "tools"
    method: Form = request.get("response_format", {"type": "words"})["type"]
    return method


def call(request: Request, value: dict[str, Any]) -> Reply:
    """Return a call of the offered tool."""
    # A conversation about code offers several tools; the answer ends it.
    function = {"name": request["tools"][-1]["function"]["name"], "arguments": json.dumps(value)}
    made = {"id": "call_1", "type": "function", "function": function}
    return completion({"role": "assistant", "content": None, "tool_calls": [made]}, "tool_calls")


def fenced(text: str) -> str:
    """Return JSON in a fence, as chat models often write it."""
    return f"Here is the JSON:\n```json\n{text}\n```\nLet me know if you need more."


@dataclass
class Endpoint:
    """The behaviour of one kind of server."""

    name: str
    seen_at: str
    """The server on which this was observed."""
    by_model: bool = True
    """Whether the model writes the report."""
    method: Form = "json_schema"
    """The method that remains after refusals."""
    temperature: bool = True
    """Whether temperature 0 remains."""
    reading: Literal["tools", "actions", "stages"] = "tools"
    """How code is read; two stages take a call more than the shortest conversation."""
    turns: int = 1
    """Turns of the conversation about the code."""
    extra: int = 0
    """Number of requests in addition to those of a run without faults."""
    notes: str = ""
    """Words in the report's notes."""
    model: str = "m"
    settings: dict[str, Any] = field(default_factory=dict)
    long: bool = False
    """Whether the issue is long."""
    forms: dict[Form, Handles] = field(default_factory=dict)
    """The server's reaction to each form; unnamed forms are supported."""
    refusal: Reply = field(default_factory=lambda: error(400, "response_format, tools: not supported"))
    wraps: Callable[[str], str] = str
    """Text that the model puts around its JSON."""
    knows_shape: bool = True
    """Whether its model produces the fields without the schema."""
    first: Sequence[Reply] = ()
    """Replies to the first requests."""
    rule: Callable[[Request], Reply | None] = lambda _request: None
    """Selects requests that get another reply."""
    usage: Callable[[Request], dict[str, int] | None] | None = None
    tokens: Callable[[Request], Request] = lambda request: request
    """The part of the request that the model reads."""

    def script(self) -> Callable[[Request], Reply]:
        """Return the server's script for one run."""
        waiting = iter(self.first)

        def reply(request: Request) -> Reply:
            return self._counted(request, next(waiting, None) or self._reply(request))

        return reply

    def _reply(self, request: Request) -> Reply:
        other = self.rule(request)
        if other is not None:
            return other
        form = form_of(request)
        handles = self.forms.get(form, "honoured")
        if handles == "refused":
            return self.refusal
        value = answer(request)
        if handles == "ignored" and not self.knows_shape and "JSON schema" not in prompt_of(request):
            return says("It is probably the lexer, since the loop in `scan` never ends.")
        if handles == "honoured" and form == "tools":
            return call(request, value)
        text = json.dumps(value)
        return says(self.wraps(text) if handles == "ignored" or form == "words" else text)

    def _counted(self, request: Request, reply: Reply) -> Reply:
        if self.usage is None or not isinstance(reply.body, dict) or "choices" not in reply.body:
            return reply
        return Reply({**reply.body, "usage": self.usage(request)}, reply.status, reply.headers)


def unless(field_: str, reply: Reply) -> Callable[[Request], Reply | None]:
    """Refuse every request that has this field."""
    return lambda request: reply if field_ in request else None


def no_system(message: str) -> Callable[[Request], Reply | None]:
    """Refuse every request with a system message."""

    def rule(request: Request) -> Reply | None:
        roles = {turn["role"] for turn in request["messages"]}
        return error(400, message) if roles & {"system", "developer"} else None

    return rule


def strange(request: Request) -> Reply | None:
    """Refuse a temperature without naming it, as some gateways do."""
    return (
        error(400, "Invalid request: this deployment accepts default inference settings only")
        if ("temperature" in request)
        else None
    )


def reasoning_model(request: Request) -> Reply | None:
    """Behave like OpenAI's reasoning models."""
    if "max_tokens" in request:
        return coded("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
    if "temperature" in request:
        return coded("temperature", "Unsupported value: 'temperature' does not support 0. Only the default (1) is.")
    return None


def coded(param: str, message: str) -> Reply:
    """Return an error in OpenAI's format that names the field."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": "unsupported_value"}}
    return Reply(body, 400)


def thinks_long(request: Request) -> Reply | None:
    """Behave like a model whose reasoning uses up a usual limit."""
    return says("", finish="length") if request.get("max_tokens", 0) < 6_000 else None


def holds(tokens: int) -> int:
    """Return a tokenizer's count, slightly below our estimate."""
    return tokens * 9 // 10


def prompt_tokens(request: Request) -> int:
    """Return the tokens of a request by the server's own count."""
    return holds(counted([(turn["role"], str(turn["content"])) for turn in request["messages"]]))


def cuts_at(window: int) -> dict[str, Any]:
    """Return a server that silently reads only the beginning of a prompt."""

    def rule(request: Request) -> Reply | None:
        return says("I see some text. What is your question?") if prompt_tokens(request) > window else None

    def usage(request: Request) -> dict[str, int]:
        read = min(prompt_tokens(request), window)
        return {"prompt_tokens": read, "completion_tokens": 40, "total_tokens": read + 40}

    return {"rule": rule, "usage": usage, "long": True}


def overflows(window: int, message: str, status: int = 400) -> Callable[[Request], Reply | None]:
    """Refuse a prompt that is too long together with its answer."""

    def rule(request: Request) -> Reply | None:
        return error(status, message) if prompt_tokens(request) + request["max_tokens"] > window else None

    return rule


def no_usage(_request: Request) -> None:
    """Report no usage."""


def uncached_only(_request: Request) -> dict[str, int]:
    """Report only the uncached tokens."""
    return {"prompt_tokens": 7, "completion_tokens": 40, "total_tokens": 47}


def ends_calls_with_stop(request: Request) -> Reply | None:
    """Call a tool, and state that the answer ended as a text does."""
    if form_of(request) != "tools":
        return None
    reply = call(request, answer(request))
    return Reply({**reply.body, "choices": [{**reply.body["choices"][0], "finish_reason": "stop"}]})


def writes_calls(request: Request) -> Reply | None:
    """Write a call into the text of the answer."""
    if form_of(request) != "tools":
        return None
    called = {"name": request["tools"][-1]["function"]["name"], "arguments": answer(request)}
    return says(f"<tool_call>\n{json.dumps(called)}\n</tool_call>")


def answers_in_reasoning(request: Request) -> Reply | None:
    """Return the answer as reasoning, without content."""
    if form_of(request) == "tools":
        return None
    return completion({"role": "assistant", "content": None, "reasoning_content": json.dumps(answer(request))}, "stop")


def _reads_first(request: Request) -> Reply | None:
    """Read a file before the conversation about the code ends."""
    if form_of(request) != "tools" or any(turn["role"] == "tool" for turn in request["messages"]):
        return None
    function = {"name": "read", "arguments": json.dumps({"path": "src/lexer.py"})}
    made = {"id": "a1B2c3D4e", "type": "function", "function": function}
    return completion({"role": "assistant", "content": None, "tool_calls": [made]}, "tool_calls")


def _ids(request: Request) -> list[str]:
    return [one["id"] for turn in request["messages"] for one in turn.get("tool_calls", ())]


def short_ids(request: Request) -> Reply | None:
    """Refuse ids of calls that are not nine letters and digits."""
    for name in _ids(request):
        if not (len(name) == 9 and name.isalnum()):
            return error(400, f"Tool call id was {name} but must be a-z, A-Z, 0-9, with a length of 9.")
    return _reads_first(request)


def signed_calls(request: Request) -> Reply | None:
    """Refuse calls of an earlier turn without the signature that came with them."""
    if _ids(request):
        return error(400, "Function call is missing a thought_signature in functionCall parts.")
    return _reads_first(request) if "read src/lexer.py" not in prompt_of(request) else None


def calls_read(name: str, arguments: str) -> Callable[[Request], Reply | None]:
    """Return a model that reads a file before it submits, and whose calls are named and written in its own way."""

    def rule(request: Request) -> Reply | None:
        function = {"name": name, "arguments": arguments or json.dumps({"path": "src/lexer.py"})}
        made = {"id": "a1B2c3D4e", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [made]}
        return completion(message, "tool_calls") if _reads_first(request) is not None else None

    return rule


def written_read(text: str) -> Callable[[Request], Reply | None]:
    """Return a model whose first call is text in the marks of its template."""
    return lambda request: says(text) if _reads_first(request) is not None else None


def rewrites(change: Callable[[Any], Any]) -> Callable[[Request], Reply | None]:
    """Return a model whose fields are changed."""

    def rule(request: Request) -> Reply | None:
        value = {name: change(part) for name, part in answer(request).items()}
        return call(request, value) if form_of(request) == "tools" else says(json.dumps(value))

    return rule


INSIDE = Reply({"error": {"code": 502, "message": "Provider returned error"}, "user_id": "u"})
INSIDE_400 = Reply({"error": {"code": 400, "message": "response_format: json_schema is not supported by provider"}})
UPSTREAM = Reply({**says("").body, "choices": [{"index": 0, "message": {"role": "assistant", "content": ""},
                                              "finish_reason": "error"}]})  # fmt: skip
BROKEN = Reply({**says("").body, "choices": [{
    "index": 0, "message": {"role": "assistant", "content": '{"problem": "sc'}, "finish_reason": "error",
    "error": {"code": 502, "message": "Upstream connection lost"}}]})  # fmt: skip
LIMITED = Reply({"error": {"message": "Provider returned error", "code": 429, "metadata": {
    "raw": "m is temporarily rate-limited upstream. Please retry shortly", "provider_name": "P"}}})  # fmt: skip
OWN_ERROR = Reply({"error": {
    "code": 500, "type": "server_error",
    "message": 'response_format type must be one of "text" or "json_object", but got: json_schema'}}, 500)  # fmt: skip
FILTERED = Reply(
    {"error": {"message": "The response was filtered due to the prompt triggering Azure OpenAI's content management "
               "policy.", "code": "content_filter", "param": "prompt"}}, 400)  # fmt: skip
NO_SCHEMA = error(400, "'response_format' of type 'json_schema' is not supported with this model")
THOUGHT = "<think>Maybe {{x}}? A draft: {{\"next_node\": \"lunch\"}} no.</think>\n\n{}"  # fmt: skip

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("honours everything", "OpenAI, vLLM, LM Studio"),
    Endpoint("reports no usage", "older gateways", usage=no_usage),
    Endpoint("reports only uncached tokens", "older Ollama", usage=uncached_only, long=True),
    Endpoint("takes no temperature, known by its name", "OpenAI gpt-5", model="gpt-5", temperature=False, extra=1,
             rule=reasoning_model, notes="takes no temperature"),
    Endpoint("takes no temperature, under a deployment's name", "Azure", temperature=False, extra=2,
             rule=reasoning_model, notes="takes no temperature"),
    Endpoint("refuses a temperature without naming it", "corporate gateways", temperature=False, extra=1, rule=strange,
             notes="takes no temperature"),
    Endpoint("calls the temperature a sampling setting", "Bedrock gateways", temperature=False, extra=1,
             rule=unless("temperature", error(422, "sampling parameters are not supported by this model")),
             notes="takes no temperature"),
    Endpoint("refuses max_tokens", "OpenAI reasoning models", extra=1,
             rule=unless("max_tokens", coded("max_tokens", "Use 'max_completion_tokens' instead."))),
    Endpoint("allows only short answers", "hosted small models", extra=1,
             rule=lambda request: error(400, "max_tokens is too large: 3000. This model supports at most 1024 tokens")
             if request["max_tokens"] > 1_024 else None),
    Endpoint("refuses bounds of lists", "Azure", extra=1,
             rule=lambda request: error(400, "Invalid schema for response_format: 'maxItems' is not permitted")
             if "maxItems" in json.dumps(request.get("response_format", {})) else None),
    Endpoint("has no system role", "Gemma at Google", extra=1,
             rule=no_system("Developer instruction is not enabled for models/gemma-3-27b-it")),
    Endpoint("wants user and assistant in turns", "chat templates in vLLM", extra=1,
             rule=no_system("Conversation roles must alternate user/assistant/user/assistant/...")),
    Endpoint("refuses json_schema", "DeepSeek, gpt-4", method="tools", extra=1, forms={"json_schema": "refused"},
             refusal=NO_SCHEMA),
    Endpoint("refuses json_schema with 422", "Mistral", method="tools", extra=1, forms={"json_schema": "refused"},
             refusal=error(422, "Extra inputs are not permitted: response_format")),
    Endpoint("has no provider for json_schema", "OpenRouter", method="tools", extra=1,
             forms={"json_schema": "refused"},
             refusal=error(404, "No endpoints found that support structured outputs")),
    Endpoint("refuses json_schema inside HTTP 200", "OpenRouter", method="tools", extra=1,
             forms={"json_schema": "refused"}, refusal=INSIDE_400),
    Endpoint("cannot compile the schema", "llama.cpp", method="tools", extra=1, forms={"json_schema": "refused"},
             refusal=error(500, "failed to parse grammar")),
    Endpoint("refuses json_schema and tools", "DeepSeek reasoner", method="json_object", extra=3,
             reading="actions", forms={"json_schema": "refused", "tools": "refused"}),
    Endpoint("refuses every form", "text-generation servers", method="words", extra=4, wraps=fenced, reading="actions",
             forms={"json_schema": "refused", "tools": "refused", "json_object": "refused"}),
    Endpoint("ignores response_format, answers in prose", "Anthropic's compatible endpoint", method="tools", extra=1,
             forms={"json_schema": "ignored"}, knows_shape=False),
    Endpoint("ignores response_format, answers fenced JSON", "Anthropic's compatible endpoint", method="tools",
             forms={"json_schema": "ignored"}, wraps=fenced),
    Endpoint("ignores json_schema and tools", "older Ollama", method="json_object", extra=4, knows_shape=False,
             reading="stages", forms={"json_schema": "ignored", "tools": "ignored"}),
    Endpoint("ignores every form", "small local models", method="json_object", extra=4, knows_shape=False,
             wraps=fenced, reading="stages",
             forms={"json_schema": "ignored", "tools": "ignored", "json_object": "ignored"}),
    Endpoint("thinks aloud before the JSON", "DeepSeek R1, Qwen", method="words", extra=4, wraps=THOUGHT.format,
             reading="actions", forms={"json_schema": "refused", "tools": "refused", "json_object": "refused"}),
    Endpoint("writes prose with braces before the JSON", "small local models", method="words", extra=4,
             reading="actions",
             wraps=lambda text: f"The set {{E1, E2}} matters. {{}} is empty.\n{text}\nDone {{really}}.",
             forms={"json_schema": "refused", "tools": "refused", "json_object": "refused"}),
    Endpoint("puts the answer into another object", "small local models", method="words", extra=4, reading="actions",
             wraps=lambda text: f'[{{"answer": {text}}}]',
             forms={"json_schema": "refused", "tools": "refused", "json_object": "refused"}),
    Endpoint("reasons beyond the output limit", "Qwen, gpt-oss", extra=1, rule=thinks_long),
    # The first run learns the window in its conversation, which then ends in one stage.
    Endpoint("cuts long prompts silently at 2,048 tokens", "Ollama's default", extra=0, reading="stages",
             notes="longer prompts were cut", **cuts_at(2_048)),
    Endpoint("refuses long prompts and names its window", "vLLM", extra=1, long=True, notes="longer prompts were cut",
             reading="stages",
             rule=overflows(3_000, "This model's maximum context length is 3000 tokens. However, you requested 5400.")),
    Endpoint("refuses long prompts without a number", "llama.cpp", extra=1, long=True, notes="longer prompts were cut",
             reading="stages",
             rule=overflows(3_600, "the request exceeds the available context size. try increasing it", 500)),
    Endpoint("is busy for a moment", "every server", extra=1, first=[error(429, Retry_After="0")]),
    Endpoint("is still loading the model", "llama.cpp, Hugging Face", extra=1,
             first=[error(503, "Loading model", retry_after_ms="1")]),
    Endpoint("has an error inside HTTP 200", "OpenRouter", extra=1, first=[INSIDE]),
    Endpoint("breaks off with finish_reason error", "OpenRouter", extra=1, first=[UPSTREAM]),
    Endpoint("ends calls with finish_reason stop", "vLLM", rule=ends_calls_with_stop),
    Endpoint("writes its calls as text", "Ollama, Qwen", rule=writes_calls),
    Endpoint("puts the answer next to its reasoning", "vLLM's reasoning parsers", rule=answers_in_reasoning),
    Endpoint("breaks off inside a choice", "gateways", extra=1, first=[BROKEN]),
    Endpoint("limits requests inside HTTP 200", "OpenRouter", extra=1, first=[LIMITED]),
    Endpoint("calls a refused schema its own error", "llama-cpp-python", method="tools", extra=1,
             forms={"json_schema": "refused"}, refusal=OWN_ERROR),
    Endpoint("takes only short ids of calls", "Mistral", turns=2, rule=short_ids),
    Endpoint("wants its signatures back", "Gemini 3", extra=3, reading="actions", rule=signed_calls),
    Endpoint("sends no choices once", "gateways", extra=1,
             first=[Reply({**says("").body, "choices": None})]),
    Endpoint("names the range of the output limit", "DeepSeek, DashScope", extra=1,
             rule=lambda request: error(400, "Invalid max_tokens value, the valid range of max_tokens is [1, 2048]")
             if request["max_tokens"] > 2_048 else None),
    Endpoint("wants thinking switched off", "DashScope's Qwen3", extra=1,
             rule=lambda request: None if request.get("enable_thinking") is False else
             error(400, "parameter.enable_thinking must be set to false for non-streaming calls")),
    Endpoint("refuses closed objects", "Gemini's compatible endpoint", extra=1,
             rule=lambda request: error(400, "Unknown name \"additionalProperties\" at 'response_schema'")
             if "additionalProperties" in json.dumps(request) else None),
    Endpoint("puts tools into a name space", "gpt-oss", turns=2, rule=calls_read("functions.read", "")),
    Endpoint("leaks marks into names", "gpt-oss in vLLM", turns=2, rule=calls_read("read<|channel|>commentary", "")),
    Endpoint("does not escape its expressions", "small local models", turns=2,
             rule=calls_read("grep", '{"pattern": "read\\(", "path": "src/lexer.py",}')),
    Endpoint("writes its calls in Kimi's marks", "vLLM without a parser", turns=2, rule=written_read(
        '<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{"path": "src/lexer.py"}<|tool_call_end|>')),
    Endpoint("writes its calls in Qwen's marks", "llama.cpp", turns=2, rule=written_read(
        "<tool_call>\n<function=read>\n<parameter=path>\nsrc/lexer.py\n</parameter>\n</function>\n</tool_call>")),
    Endpoint("states percentages", "small local models",
             rule=rewrites(lambda part: f"{part:.0%}" if isinstance(part, float) else part)),
    Endpoint("writes lists as text", "small local models",
             rule=rewrites(lambda part: json.dumps(part) if isinstance(part, list) else part)),
    Endpoint("writes one entry without its list", "small local models",
             rule=rewrites(lambda part: part[0] if isinstance(part, list) and len(part) == 1 else part)),
    Endpoint("stops every question in a content filter", "Azure", by_model=False, rule=lambda _request: FILTERED,
             notes="content filter"),
    Endpoint("stops every answer in a content filter", "Azure", by_model=False,
             rule=lambda _request: says("", finish="content_filter"), notes="content filter"),
    Endpoint("has no credit left", "OpenRouter", by_model=False,
             rule=lambda _request: error(402, "Insufficient credits"), notes="no credit left (HTTP 402)"),
    Endpoint("has its quota used up", "OpenAI", by_model=False,
             rule=lambda _request: error(429, "You exceeded your current quota (insufficient_quota)"),
             notes="no credit left (HTTP 429)"),
    Endpoint("refuses the key", "every server", by_model=False, rule=lambda _request: error(401, "bad key"),
             notes="the key is not valid"),
    Endpoint("has no such model", "every server", by_model=False,
             rule=lambda _request: error(404, "The model `m` does not exist"), notes="there is no such model"),
    Endpoint("answers with a page", "an address without /v1", by_model=False, rule=lambda _request: PAGE,
             notes="check OPENAI_BASE_URL"),
    Endpoint("declines to answer", "guarded models", by_model=False,
             rule=lambda _request: says(None, refusal="I will not."), notes="refused to answer"),
)  # fmt: skip
PAGE: Reply = Reply("<html><body>Welcome</body></html>", headers={"Content-Type": "text/html"})


def table() -> Iterator[str]:
    """Return the rows as Markdown tables: reports by the model, by what the endpoint accepts, and by rules."""
    rows = [row for row in ENDPOINTS if row.by_model]
    for method, reading in dict.fromkeys((row.method, row.reading) for row in rows):
        yield f"\n## JSON by {method}, code by {reading}\n"
        yield "| The endpoint | Seen at | More calls, once |\n|---|---|---|"
        for row in rows:
            if (row.method, row.reading) == (method, reading):
                yield f"| {row.name} | {row.seen_at} | {row.extra or '–'} |"
    yield "\n## Reports by rules, which state the reason\n"
    yield "| The endpoint | Seen at | Reason in the report |"
    yield "|---|---|---|"
    yield from (f"| {row.name} | {row.seen_at} | {row.notes} |" for row in ENDPOINTS if not row.by_model)
