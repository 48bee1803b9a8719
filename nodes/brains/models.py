"""The chat models of this process: one HTTP client, one rate limit, one model per name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nodes.brains.budget import RunBudget, RunLimits
from nodes.brains.model import LimitName, Model, first_abilities
from nodes.brains.pace import Pace
from nodes.brains.remembered import LearntRefusals

if TYPE_CHECKING:
    import httpx

_OPENAI = "https://api.openai.com/v1"
_CONNECT = 15.0
"""Seconds to reach the server, however long its answers take."""
_LIMITS = RunLimits(calls=40)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model makes which judgement, and how to reach it."""

    supervisor: str = "gpt-4o"
    critic: str | None = None
    default: str = "gpt-4o"
    """For the critic and for tiers without a model of their own."""
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
    """For the whole process. Servers and workers use a limit that they share."""
    limits: RunLimits = _LIMITS
    """For one run of this process alone. Servers and workers count in the store."""
    price: Callable[[str, int, int], int] = lambda _model, _into, _out: 0
    """What input and output tokens of a model cost, in millionths of a dollar."""
    max_output_tokens: int = 3_000
    effort: str | None = None
    """The reasoning effort to request; None leaves it to the model."""
    memory: Path | None = None
    """The file that stores what was learnt about endpoints; None stores nothing."""


class Models:
    """The models that brains share. Close them with `aclose`."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self.pace = Pace(settings.calls_per_minute)
        self._models: dict[str, Model] = {}
        self._client: httpx.AsyncClient | None = None
        self._remembered = LearntRefusals(settings.memory)

    def get(self, name: str) -> Model:
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

    def _build(self, name: str) -> Model:
        import httpx  # noqa: PLC0415  the command line starts without a model's libraries
        from langchain_openai import ChatOpenAI  # noqa: PLC0415
        from pydantic import SecretStr  # noqa: PLC0415

        settings = self.settings
        timeout = httpx.Timeout(settings.timeout, connect=min(_CONNECT, settings.timeout))
        self._client = self._client or httpx.AsyncClient(timeout=timeout, follow_redirects=True)
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
        return Model(
            name,
            llm,
            2 * settings.timeout,
            settings.max_retries,
            settings.max_output_tokens,
            settings.effort,
            self._remembered.load(key) or first_abilities(name, self._limit_name),
            lambda learnt: self._remembered.save(key, learnt),
        )

    @property
    def _limit_name(self) -> LimitName:
        """The name of the output limit to try first: servers other than OpenAI's often accept only the older one."""
        base = self.settings.base_url
        return "max_completion_tokens" if base is None or base.startswith(_OPENAI) else "max_tokens"


@cache
def _no_client() -> httpx.Client:
    """Return the client for calls without asyncio, of which there are none; building one for each model is slow."""
    import httpx  # noqa: PLC0415  as above

    return httpx.Client()
