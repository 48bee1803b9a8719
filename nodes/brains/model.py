"""A chat model, and what was learnt about its server from the requests that it refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

Method = Literal["json_schema", "function_calling", "json_mode", "prompt"]
METHODS: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode", "prompt")
"""Methods to request JSON, best first; the last one only asks for it in words."""
LimitName = Literal["max_tokens", "max_completion_tokens"]
LONGER = 3
"""The factor of the output limit for a model whose answer was cut off, mostly because it reasons first."""
_LEAST_ANSWER = 300
_NO_TEMPERATURE = re.compile(r"(?:.*/)?(?:o\d|gpt-5(?!.*chat))")
"""OpenAI's reasoning models answer 400 to any temperature except their own."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model at an endpoint accepts. Everything is assumed to work until it is refused."""

    method: Method = "json_schema"
    """The best method that was not refused."""
    temperature: bool = True
    limit_name: LimitName = "max_completion_tokens"
    system: bool = True
    effort: bool = True
    """Whether a reasoning effort may be set."""
    longer: bool = False
    """Whether an answer was cut off at the usual limit."""
    most_output: int | None = None
    """The highest output limit that the server accepts."""
    window: int | None = None
    """Tokens of prompt and answer together, once a prompt was too long for it; None if every prompt fitted."""
    counts: bool = True
    """Whether the reported tokens of a prompt measure it; some servers report only what was not cached."""


def first_abilities(name: str, limit_name: LimitName) -> Abilities:
    """Return what to assume about a model of this name."""
    return Abilities(temperature=not _NO_TEMPERATURE.match(name), limit_name=limit_name)


@dataclass(slots=True)
class Model:
    """A chat model, and what was learnt about its server."""

    name: str
    llm: ChatOpenAI
    deadline: float
    """Seconds for one answer, including all retries."""
    max_retries: int = 0
    """How often a request is repeated if the server was busy or did not answer."""
    max_output_tokens: int = 3_000
    effort: str | None = None
    abilities: Abilities = field(default_factory=Abilities)
    remember: Callable[[Abilities], None] = lambda _abilities: None
    """Receives what was learnt."""

    def learn(self, **changes: Any) -> None:
        """Change what is known about the server, for this and later requests."""
        self.abilities = replace(self.abilities, **changes)
        self.remember(self.abilities)

    def next_method(self, refused: Method) -> bool:
        """Use the method after a refused one; return False if none is left."""
        later = METHODS[METHODS.index(refused) + 1 :]
        if not later:
            return False
        # Another run of this process may have learnt more in the meantime.
        self.learn(method=max(later[0], self.abilities.method, key=METHODS.index))
        return True

    def most(self, room: int | None, abilities: Abilities | None = None) -> int:
        """Return the output limit of a request.

        Args:
            room: Tokens that the caller has left for the answer; None if it has no limit of its own.
            abilities: What is assumed for this request, if it differs from what is known.
        """
        known = abilities or self.abilities
        own = self.max_output_tokens if room is None else min(self.max_output_tokens, room)
        limit = own * (LONGER if known.longer else 1)
        if known.window is not None:
            limit = min(limit, max(_LEAST_ANSWER, known.window // 4))
        return limit if known.most_output is None else min(limit, known.most_output)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a report says about judgements by this model."""
        known, remarks = self.abilities, []
        if not known.temperature:
            remarks.append(f"{self.name} takes no temperature, so its decisions may differ from run to run.")
        if known.window is not None:
            remarks.append(f"{self.name} holds about {known.window:,} tokens at once, so longer prompts were cut.")
        return tuple(remarks)
