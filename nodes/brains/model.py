"""A chat model and the known capabilities of its server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

Method = Literal["json_schema", "function_calling", "json_mode"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")
"""Methods to request JSON, best first."""


@dataclass(slots=True)
class Model:
    """A chat model, and what was learned about its server."""

    name: str
    llm: ChatOpenAI
    deadline: float
    """Seconds for one answer, including all retries."""
    max_retries: int = 0
    """How often a request is repeated if the server was busy or did not answer."""
    max_output_tokens: int = 3_000
    method: Method = "json_schema"
    """The best method that the server has not rejected."""

    def limited(self, tokens: int | None) -> ChatOpenAI:
        """Return the chat model with its answers limited to this many tokens, if that is below its own limit."""
        if tokens is None:
            return self.llm
        if self.llm.max_tokens is not None:
            return self.llm.model_copy(update={"max_tokens": min(tokens, self.llm.max_tokens)})
        body = dict(self.llm.extra_body or {})
        body["max_tokens"] = min(tokens, body.get("max_tokens", tokens))
        return self.llm.model_copy(update={"extra_body": body})
