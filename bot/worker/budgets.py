"""Budgets of a run: the scopes in which usage is counted, and the charges of its model calls."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from bot.limits.ceilings import Amount, Ceiling, Prices, Scope, cost, day_of, hour_of
from bot.limits.writes import installation_key
from bot.observability.measures import MODEL_COST
from bot.ports import Issue, RepositoryRef
from bot.settings.operator import Spending
from bot.store.runs.usage import SHORTEST_TO_REFUSE, StoredPace, UsageCounters
from nodes.brains.calls.budget import PlannedCall, PostponedError, Settle
from nodes.context.brain import ModelError
from nodes.state import Usage

MAX_POSTPONED = 20
"""Times that a run may be postponed for its model. After that rules judge, so that every run ends."""
LONGEST_POSTPONED = 3_600.0
"""Seconds. If a model asks for a longer wait, rules judge."""


@dataclass(frozen=True, slots=True)
class Budgets(Spending):
    """The operator's ceilings and prices, and the scopes in which usage is counted."""

    def day(self, ref: RepositoryRef, now: float) -> tuple[Scope, ...]:
        """Return the scopes of a day's usage that have a ceiling, and that of the repository."""
        today = day_of(now)
        scopes = (
            Scope("repository", ref.key, today, self.repository),
            Scope("installation", installation_key(ref.host, ref.installation_id), today, self.installation),
            Scope("all", "", today, self.everything),
        )
        return tuple(scope for scope in scopes if scope.ceiling or scope.kind == "repository")

    def writer(self, issue: Issue, now: float) -> tuple[Scope, ...]:
        """Return the scopes in which a triage run counts for the issue's author; empty if the author has no id."""
        if issue.author_id is None:
            return ()
        periods = ((hour_of(now), self.author.hour), (day_of(now), self.author.day))
        key = author_key(issue.ref.repository, issue.author_id)
        return tuple(Scope("author", key, period, {"issues": most}) for period, most in periods if most is not None)

    def answered(self, ref: RepositoryRef, person: int, now: float) -> tuple[Scope, ...]:
        """Return the scopes of a reply to a person's commands."""
        day, most = self.day(ref, now), self.author.answers
        if most is None:
            return day
        return (Scope("author", author_key(ref, person), hour_of(now), {"answers": most}), *day)


def run_scope(thread: str, ceiling: Ceiling) -> Scope:
    """Return the scope of a run, however many days it takes."""
    return Scope("run", thread, "run", ceiling)


def author_key(ref: RepositoryRef, author_id: int) -> str:
    """Return the key under which an author's usage in a repository is counted."""
    return f"{ref.key}@{author_id}"


@dataclass(frozen=True, slots=True)
class SharedBudget:
    """A run's model budget whose counters are in the store."""

    run: Scope
    day: Sequence[Scope]
    counters: UsageCounters
    pace: StoredPace
    prices: Prices
    limited: Callable[[str, str], Awaitable[None]]
    """Called with the code of a limit that was reached and a description."""

    def begin(self, before: Usage) -> None:
        """Do nothing: the store contains the run's usage."""

    async def reserve(self, call: PlannedCall) -> Settle:
        """Reserve a call's highest possible cost and wait for its turn; raises ``ModelError`` or ``PostponedError``."""
        amount = self.amount(call.model, call.input_tokens, call.output_tokens)
        # The budget comes before the pace: a call that is over budget must not take a turn from other runs.
        reached = await self.counters.reserve(self.scopes, amount)
        # A model's refusal is not a failure: the brain falls back to rules, and the run continues.
        if reached is not None:
            await self.limited(reached.code, f"{reached}; rules judge")
            raise ModelError(str(reached))
        async with self._refund_on_error(amount):
            turn = await self.pace.take()
            if not turn.granted:
                await self.limited("model.pace", "the rate limit for model calls is reached")
                await self._postpone("waiting for a turn to call the model", turn.wait)
            await asyncio.sleep(turn.wait)
        return partial(self._settle, call.model, amount)

    async def pause(self, seconds: float, *, limited: bool) -> None:
        """Sleep briefly; for a longer pause raise ``PostponedError``, or ``ModelError`` after too many.

        ``limited``: the server enforces a rate limit, so calls of all runs pause.
        """
        if limited:
            # All processes pause, because the limit applies to the account and not only to this run.
            await self.pace.close(seconds)
        if seconds > SHORTEST_TO_REFUSE:
            await self.limited("model.busy", f"the model's server asks to wait {seconds:.0f} s")
            await self._postpone(f"the model's server asks to wait {seconds:.0f} s", seconds)
        await asyncio.sleep(seconds)

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """Return all scopes in which a call counts, the smallest first."""
        return (self.run, *self.day)

    async def _postpone(self, why: str, seconds: float) -> None:
        # Counted in the store, because each postponed attempt may run in another process.
        if seconds > LONGEST_POSTPONED or await self.counters.postpone(self.run) > MAX_POSTPONED:
            raise ModelError(f"{why}; the wait is too long, or the run was postponed too often")
        raise PostponedError(why, after=seconds)

    def amount(self, model: str, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> Amount:
        """Return the amount of a call with this number of tokens."""
        price = cost(self.prices, model, input_tokens, output_tokens, cached_tokens)
        return Amount(calls=1, tokens=input_tokens + output_tokens, cost=price)

    async def _settle(self, model: str, reserved: Amount, usage: Usage) -> None:
        """Replace the reserved amount by the actual one: return the difference, or count it if the call cost more."""
        spent = self.amount(model, usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        MODEL_COST.labels(model).inc(spent.cost / 1_000_000)
        await self.counters.refund(self.scopes, reserved - spent)

    @contextlib.asynccontextmanager
    async def _refund_on_error(self, amount: Amount) -> AsyncIterator[None]:
        try:
            yield
        except BaseException:  # a call that was not sent costs nothing, whatever prevented it (cancellation included)
            await self.counters.refund(self.scopes, amount)
            raise
