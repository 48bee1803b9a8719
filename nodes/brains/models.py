"""The chat models of this process: one HTTP client, one rate limit, one model per name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nodes.brains.model import Model
from nodes.brains.pace import Pace

if TYPE_CHECKING:
    import httpx

_OPENAI = "https://api.openai.com/v1"
_REASONING = re.compile(r"(?:.*/)?o\d")
"""OpenAI's o-series answers 400 to any temperature except its own default; langchain-openai sends it anyway."""


class ModelSettingsError(ValueError):
    """A model cannot be used as configured; the message is for the operator."""


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
    timeout: float = 60.0
    """Seconds for one attempt; an answer with its retries may take twice as long."""
    max_retries: int = 2
    """How often a request is repeated after 429, 5xx or a lost connection; Retry-After is honoured."""
    calls_per_minute: float = 10.0
    """For the whole process. Servers and workers use a limit that they share."""
    max_calls: int = 40
    """For one run."""
    max_output_tokens: int = 3_000


class Models:
    """The models that brains share. Close them with `aclose`."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self.pace = Pace(settings.calls_per_minute)
        self._models: dict[str, Model] = {}
        self._client: httpx.AsyncClient | None = None

    def get(self, name: str) -> Model:
        """Return the model of that name, at temperature 0 if it accepts a temperature."""
        if name not in self._models:
            self._models[name] = self._build(name)
        return self._models[name]

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def _build(self, name: str) -> Model:
        import httpx  # noqa: PLC0415  the command line starts without a model's libraries
        from langchain_openai import ChatOpenAI  # noqa: PLC0415
        from pydantic import SecretStr  # noqa: PLC0415

        settings = self.settings
        self._client = self._client or httpx.AsyncClient(timeout=settings.timeout, follow_redirects=True)
        limit = settings.max_output_tokens
        # Servers other than OpenAI's often accept only the older name of the limit.
        old_name = settings.base_url is not None and not settings.base_url.startswith(_OPENAI)
        llm = ChatOpenAI(
            model=name,
            temperature=None if _REASONING.match(name) else 0,
            max_completion_tokens=None if old_name else limit,
            extra_body={"max_tokens": limit} if old_name else None,
            base_url=settings.base_url or _OPENAI,
            api_key=SecretStr(settings.api_key or "none"),  # local servers need no key, but the client requires one
            timeout=settings.timeout,
            max_retries=0,  # the budget must count every request, so retries happen in our code
            http_async_client=self._client,
        )
        return Model(name, llm, 2 * settings.timeout, settings.max_retries, limit)


def check_model(settings: ModelSettings) -> None:
    """Check at start-up, without a call, that the supervisor is asked at temperature 0.

    Raises:
        ModelSettingsError: The supervisor's model accepts no temperature.
    """
    llm = Models(settings).get(settings.supervisor).llm
    payload = llm._get_request_payload([("human", "")])  # the only place that shows what langchain-openai drops
    if payload.get("temperature") != 0:
        raise ModelSettingsError(
            f"TRIAGE_SUPERVISOR_MODEL={settings.supervisor} takes no temperature, but the supervisor must decide at "
            "temperature 0. Choose a model that takes one, such as gpt-4o; other roles may keep this one."
        )
