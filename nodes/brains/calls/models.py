"""The chat models of this process: one HTTP client, one rate limit, and what each server is known to refuse."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from nodes.brains.calls.abilities import METHODS, Abilities, LearntRefusals, LimitName, Method
from nodes.brains.calls.budget import Pace, Price, RunBudget, RunLimits, no_price

if TYPE_CHECKING:
    import httpx
    from langchain_openai import ChatOpenAI

LONGER = 3
"""The factor of the output limit for a model whose answer was cut off, usually because it reasons first."""
_LEAST_ANSWER = 300
_NO_TEMPERATURE = re.compile(r"(?:.*/)?(?:o\d|gpt-5(?!.*chat))")
"""OpenAI's reasoning models answer 400 to any temperature except their own."""
_OPENAI = "https://api.openai.com/v1"
_CONNECT = 15.0
"""Seconds to reach the server, however long its answers take."""
_RUN_LIMITS = RunLimits(calls=40)


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The most that one conversation about code may take."""

    steps: int = 12
    """Turns of the model, the submission included."""
    tokens: int = 12_000
    """Estimated tokens of all answers to its calls."""


Effort = Literal["low", "normal", "high"]
"""How much a model does in a run; with ``low`` it finds terms and chooses files, and rules do the rest."""
READING: Mapping[Effort, ReadingLimits | None] = {
    "low": None,
    "normal": ReadingLimits(),
    "high": ReadingLimits(steps=30, tokens=30_000),
}
"""The conversation about the code at each level; None if there is none."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The models by role, and how to reach them."""

    supervisor: str = "gpt-4o"
    critic: str | None = None
    default: str = "gpt-4o"
    """Used by the critic and by tiers without a model of their own."""
    simple: str | None = None
    medium: str | None = None
    complex: str | None = None
    base_url: str | None = None
    api_key: str = ""
    timeout: float = 600.0
    """Seconds for one attempt; an answer with its retries may take twice as long.

    A model of seven billion parameters on a processor reads a prompt of 7,000 tokens in two to five minutes.
    """
    max_retries: int = 2
    """How often a request is repeated after 429, 5xx or a lost connection; Retry-After is honoured."""
    calls_per_minute: float = 10.0
    """Limit for the whole process. Servers and workers share one limit in the store instead."""
    limits: RunLimits = _RUN_LIMITS
    """For one run of this process alone. Servers and workers count in the store."""
    price: Price = no_price
    max_output_tokens: int = 3_000
    level: Effort = "normal"
    reading: ReadingLimits = ReadingLimits()
    memory: Path | None = None
    """The file that stores what was learnt about endpoints; None stores nothing."""
    agreement: Path | None = None
    """The file of a table of agreement that a backtest fitted; None for the shipped table."""


@dataclass(slots=True)
class ChatModel:
    """A chat model, and what is known about its server."""

    name: str
    llm: ChatOpenAI
    settings: ModelSettings
    abilities: Abilities = field(default_factory=Abilities)
    remember: Callable[[Abilities], None] = lambda _abilities: None
    """Stores the abilities whenever they change."""
    most_read: int = 0
    """The most tokens of a prompt that the server reported; its window is not smaller."""
    usual: float = 1.0
    """The tokens that the server reported of the last whole prompt, as a share of our estimate."""

    @property
    def deadline(self) -> float:
        """Seconds for one answer, including all retries."""
        return 2 * self.settings.timeout

    def learn(self, **changes: Any) -> None:
        """Change what is known about the server, for this and later requests."""
        # Replaced instead of changed in place: a request in progress still uses the abilities that it was sent with.
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

    def most(self, abilities: Abilities) -> int:
        """Return the output limit of a request for which these abilities are assumed."""
        limit = self.settings.max_output_tokens * (LONGER if abilities.longer else 1)
        if abilities.window is not None:
            # Prompt and answer share the window; a quarter for the answer leaves room for the question.
            limit = min(limit, max(_LEAST_ANSWER, abilities.window // 4))
        return limit if abilities.most_output is None else min(limit, abilities.most_output)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences for the report about limits of this model."""
        known, remarks = self.abilities, []
        if not known.temperature:
            remarks.append(f"{self.name} takes no temperature, so its decisions may differ from run to run.")
        if known.window is not None:
            remarks.append(f"{self.name} accepts about {known.window:,} tokens at once, so longer prompts were cut.")
        return tuple(remarks)


class Models:
    """The models that brains share. Close them with `aclose`."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self.pace = Pace(settings.calls_per_minute)
        self._models: dict[str, ChatModel] = {}
        self._client: httpx.AsyncClient | None = None
        self._remembered = LearntRefusals(settings.memory)

    def get(self, name: str) -> ChatModel:
        """Return the model of that name."""
        if name not in self._models:
            self._models[name] = self._build(name)
        return self._models[name]

    def budget(self, calls: int | None = None) -> RunBudget:
        """Return a new budget with the limits of one run, or with a lower limit on its calls."""
        limits = self.settings.limits
        if calls is not None:
            limits = replace(limits, calls=calls if limits.calls is None else min(calls, limits.calls))
        return RunBudget(self.pace, limits, self.settings.price)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def _build(self, name: str) -> ChatModel:
        import httpx  # noqa: PLC0415  the command line starts without a model's libraries
        from langchain_openai import ChatOpenAI  # noqa: PLC0415
        from pydantic import SecretStr  # noqa: PLC0415

        from nodes.brains.calls.dialects import Client  # noqa: PLC0415

        settings = self.settings
        timeout = httpx.Timeout(settings.timeout, connect=min(_CONNECT, settings.timeout))
        self._client = self._client or Client(timeout=timeout, follow_redirects=True)
        llm = ChatOpenAI(
            model=name,
            temperature=None,  # `sending` sets it in each request, because langchain-openai drops it silently
            base_url=settings.base_url or _OPENAI,
            api_key=SecretStr(settings.api_key or "none"),  # local servers need no key, but the client requires one
            timeout=timeout,
            max_retries=0,  # the budget must count every request, so retries happen in our code
            http_async_client=self._client,
            http_client=_no_client(),
        )
        key = f"{settings.base_url or _OPENAI} {name}"
        # Servers other than OpenAI's often accept only the older name of the output limit.
        limit: LimitName = "max_completion_tokens" if key.startswith(_OPENAI) else "max_tokens"
        first = Abilities(temperature=not _NO_TEMPERATURE.match(name), limit_name=limit)
        return ChatModel(name, llm, settings, self._remembered.load(key) or first, partial(self._remembered.save, key))


@cache
def _no_client() -> httpx.Client:
    """Return one synchronous client for all models. No call uses it, but building one for each model is slow."""
    import httpx  # noqa: PLC0415  as above

    return httpx.Client()
