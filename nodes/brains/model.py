"""A chat model and what is known of its server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

Method = Literal["json_schema", "function_calling", "json_mode"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")
"""Ways of asking for JSON, the best first."""


@dataclass(slots=True)
class Model:
    """A chat model, and what was learnt of its server."""

    name: str
    llm: ChatOpenAI
    deadline: float
    """Seconds for one answer, however often it is asked for."""
    max_retries: int = 0
    """How often a request is repeated that a busy server, or none, has answered."""
    max_output_tokens: int = 3_000
    method: Method = "json_schema"
    """The best way of asking that its server has not refused."""

    def limited(self, tokens: int | None) -> ChatOpenAI:
        """The chat model, its answers limited to so many tokens where that is less than they are."""
        if tokens is None:
            return self.llm
        if self.llm.max_tokens is not None:
            return self.llm.model_copy(update={"max_tokens": min(tokens, self.llm.max_tokens)})
        body = dict(self.llm.extra_body or {})
        body["max_tokens"] = min(tokens, body.get("max_tokens", tokens))
        return self.llm.model_copy(update={"extra_body": body})
