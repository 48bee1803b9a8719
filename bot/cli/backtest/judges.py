"""The judges of a backtest's issues: rules, a model whose requests are recorded, or a recording."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

import httpx

from bot.cli.backtest.recording import RecordedCase, Recording, digest
from bot.cli.backtest.transports import Recorder, Replayer
from bot.errors import UserError
from bot.limits.ceilings import cost, read_prices
from bot.runs.model import model_settings
from bot.settings import Settings
from nodes.brains.calls.abilities import Abilities, LearntRefusals, Memory
from nodes.brains.calls.budget import Call, ModelBudget, Pace, Reserved, RunLimits
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.screening import brain_of
from nodes.context import Brain
from nodes.state import Usage

_MODELS = ("supervisor", "critic", "default", "simple", "medium", "complex")
_STORED = (*_MODELS, "timeout", "max_retries", "max_output_tokens", "effort", "level", "compress_from")


@dataclass
class Judging:
    """The brain for one issue, and what it used."""

    brain: Brain | None = None
    """None if rules judge."""
    used: dict[str, Usage] = field(default_factory=dict)
    """The usage of each model, by its name."""
    seconds: float = 0.0
    """The time for which the run waited for models."""


class Judge(Protocol):
    """Judges issues, one at a time."""

    name: str
    """For readers: the rules, or all models that take part."""
    key: str
    """Identifies the judge and its settings in stored results."""

    def has(self, identity: str) -> bool:
        """Return whether a stored result of this issue may be used instead of judging it."""

    def judging(self, identity: str, number: int) -> AbstractAsyncContextManager[Judging]:
        """Judge an issue, identified by its texts and its commit, inside the context.

        Raises:
            UserError: the issue cannot be judged.
        """


class Rules:
    """The program's rules, which need no model."""

    name = "rules"
    key = "rules"

    def has(self, identity: str) -> bool:  # noqa: ARG002  the protocol's signature
        """Return True: rules give the same result each time."""
        return True

    @asynccontextmanager
    async def judging(self, identity: str, number: int) -> AsyncIterator[Judging]:  # noqa: ARG002  as above
        """Judge without a model."""
        yield Judging()


class RecordedModel:
    """Models over the network. Every request is recorded. Close it with ``aclose``."""

    def __init__(self, settings: ModelSettings, recording: Recording) -> None:
        self.name = judge_of(settings)
        self.reads_code = settings.default
        self.key = settings_key(recording.settings)
        # The table that the results are fitted to must not depend on an earlier fit.
        self._settings = replace(settings, agreement=None)
        self._recording = recording
        self._pace = Pace(settings.calls_per_minute)
        self._network = httpx.AsyncHTTPTransport()

    def has(self, identity: str) -> bool:
        """Return whether the issue was recorded, so that a replay is possible."""
        return self._recording.case(identity) is not None

    @asynccontextmanager
    async def judging(self, identity: str, number: int) -> AsyncIterator[Judging]:
        """Judge with the models, and store their requests when the issue is done."""
        credentials = urlsplit(self._settings.base_url or "").password or ""
        recorder = Recorder(self._network, (self._settings.api_key, credentials))
        memory = _NotedMemory(LearntRefusals(self._settings.memory))
        models = Models(self._settings, pace=self._pace, memory=memory, transport=recorder)
        try:
            judging = _judging(models)
            yield judging
            judging.seconds = round(sum(exchange.seconds for exchange in recorder.exchanges), 3)
            self._recording.store(identity, number, RecordedCase(tuple(recorder.exchanges), memory.known))
        finally:
            await models.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._network.aclose()


class ReplayedModel:
    """The models of a recording. No request leaves this process."""

    def __init__(self, recording: Recording) -> None:
        """Replay a recording.

        Raises:
            UserError: its settings are of another release.
        """
        try:
            self._settings = read_settings(recording.settings)
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"{recording.path} was written by another release: record again with --fresh") from error
        self.name = judge_of(self._settings)
        self.reads_code = self._settings.default
        self.key = settings_key(recording.settings)
        self._recording = recording

    def has(self, identity: str) -> bool:  # noqa: ARG002  the protocol's signature
        """Return False: a replay computes every result from the recorded responses."""
        return False

    @asynccontextmanager
    async def judging(self, identity: str, number: int) -> AsyncIterator[Judging]:
        """Judge with recorded responses.

        Raises:
            UserError: the issue, or a request about it, is not in the recording.
        """
        case = self._recording.case(identity)
        if case is None:
            raise UserError(
                f"{self._recording.path} has no issue #{number} with this text at this commit: give the same --repo, "
                "--issues and --limit as for the recording, or record it without --replay"
            )
        replayer = Replayer(case)
        # No model is called, so no rate limit applies and no server needs a pause.
        pace = Pace(60_000_000.0, sleep=_no_pause)
        models = Models(
            self._settings,
            pace=pace,
            memory=_NotedMemory(None, dict(case.known)),
            transport=replayer,
            clock=replayer.clock,
        )
        try:
            judging = _judging(models)
            yield judging
            judging.seconds = round(replayer.clock.now, 3)
        finally:
            await models.aclose()
        if replayer.missing:
            raise UserError(
                f"a request about issue #{number} is not in {self._recording.path}: prompts, ranking or checks of this "
                "release differ from those of the recording; record again with --fresh, or replay with that release"
            )


def judge_of(settings: ModelSettings) -> str:
    """Return the names of all models that take part."""
    return "+".join(dict.fromkeys(filter(None, (getattr(settings, role) for role in _MODELS))))


def stored_settings(settings: Settings) -> dict[str, Any]:
    """Return what a replay must know of the models' settings: neither the key nor the credentials of an address."""
    models = model_settings(settings)
    address = _without_credentials(models.base_url) if models.base_url else None
    own = {name: getattr(models, name) for name in _STORED}
    return {**own, "base_url": address, "limits": asdict(models.limits), "prices": settings.triage_prices}


def read_settings(stored: dict[str, Any]) -> ModelSettings:
    """Return the settings that ``stored_settings`` described.

    Raises:
        KeyError, TypeError, ValueError: they are of another release.
    """
    prices = read_prices(stored["prices"])
    return ModelSettings(
        **{name: stored[name] for name in _STORED},
        base_url=stored["base_url"],
        limits=RunLimits(**stored["limits"]),
        price=partial(cost, prices),
    )


def settings_key(stored: dict[str, Any]) -> str:
    """Return a digest of the settings that affect results; prices do only if they limit a run."""
    limited = stored.get("limits", {}).get("cost") is not None
    kept = {name: value for name, value in stored.items() if name != "prices" or limited}
    return digest(json.dumps(kept, sort_keys=True))


def _without_credentials(address: str) -> str:
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _judging(models: Models) -> Judging:
    """Return a brain with a budget of its own: a run's limits are for one issue, not for the whole backtest."""
    judging = Judging()
    judging.brain = brain_of(models, _MeteredBudget(models.budget(), judging.used))
    return judging


async def _no_pause(_seconds: float) -> None:
    return


class _NotedMemory:
    """Records what was known about each model at its first use; wraps another memory if there is one."""

    def __init__(self, inner: Memory | None, known: dict[str, Abilities | None] | None = None) -> None:
        self._inner = inner
        self.known: dict[str, Abilities | None] = known or {}

    def load(self, key: str) -> Abilities | None:
        """Return what is known. The first call records it; later calls include what the issue taught."""
        # By name alone: the address may contain credentials, and one backtest has one address.
        name = key.rpartition(" ")[2]
        return self.known.get(name) if self._inner is None else self.known.setdefault(name, self._inner.load(key))

    def save(self, key: str, abilities: Abilities) -> None:
        """Pass on what was learnt."""
        if self._inner is not None:
            self._inner.save(key, abilities)


@dataclass
class _MeteredBudget:
    """Counts what each model used."""

    inner: ModelBudget
    used: dict[str, Usage]

    def begin(self, before: Usage) -> None:
        self.inner.begin(before)

    async def reserve(self, call: Call) -> Reserved:
        return _Metered(await self.inner.reserve(call), call.model, self.used)

    async def pause(self, seconds: float, *, limited: bool) -> None:
        await self.inner.pause(seconds, limited=limited)


@dataclass
class _Metered:
    inner: Reserved
    model: str
    used: dict[str, Usage]

    async def settle(self, usage: Usage) -> None:
        self.used[self.model] = self.used.get(self.model, Usage()) + usage
        await self.inner.settle(usage)
