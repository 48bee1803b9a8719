"""A simulated OpenAI-compatible server: real HTTP on a free port of 127.0.0.1, with scripted replies."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """A response of the server."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """Seconds before anything is sent."""


Script = list[Reply] | Callable[[Request], Reply]


@dataclass
class ModelServer:
    """The server's address and the received requests."""

    url: str
    script: Script = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    """Decoded bodies in the order of arrival."""

    def answer(self, request: Request) -> Reply:
        """Return the reply to a request: the script's next one, or its last one when the script has ended."""
        self.requests.append(request)
        if callable(self.script):
            return self.script(request)
        return self.script[min(len(self.requests), len(self.script)) - 1]


def says(content: Any, *, finish: str = "stop", refusal: str | None = None) -> Reply:
    """Return an assistant's message; anything but a string is sent as JSON."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    return completion({"role": "assistant", "content": text, "refusal": refusal}, finish)


def calls(arguments: Any) -> Callable[[Request], Reply]:
    """Return a call of the requested tool."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)

    def reply(request: Request) -> Reply:
        function = {"name": request["tools"][0]["function"]["name"], "arguments": text}
        call = {"id": "call_1", "type": "function", "function": function}
        return completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")

    return reply


def completion(message: dict[str, Any], finish: str) -> Reply:
    """Return a chat completion with one message."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    return Reply(body)


def error(status: int, message: str = "failed", **headers: str) -> Reply:
    """Return an error in OpenAI's format; ``retry_after_ms`` becomes the header retry-after-ms."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply({"error": {"message": message, "type": "error", "code": None}}, status, named)


def fields_of(request: Request) -> dict[str, Any]:
    """Return the properties of the schema of an answer; of the submission in a conversation with tools."""
    if "tools" in request:
        return dict(request["tools"][-1]["function"]["parameters"]["properties"])
    return dict(request["response_format"]["json_schema"]["schema"]["properties"])


def text_of(request: Request) -> str:
    """Return all text in a request."""
    return "\n".join(message["content"] or "" for message in request["messages"])


@contextmanager
def serve() -> Iterator[ModelServer]:
    """Run a server during a test."""
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    server = ModelServer(f"http://127.0.0.1:{httpd.server_port}/v1")
    httpd.model_server = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # otherwise the second part of a response waits for the acknowledgement of the first

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))
        reply = self.server.model_server.answer(request)  # type: ignore[attr-defined]
        time.sleep(reply.delay)
        payload = json.dumps(reply.body).encode()
        try:
            self._send(reply, payload)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client's timeout was exceeded

    def _send(self, reply: Reply, payload: bytes) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""
