"""Wanted effects on GitHub: set once by the first caller, and deleted when a person deletes them."""

from __future__ import annotations

import asyncio

from bot.ports import Effect, RepositoryRef
from bot.store.effects import Effects
from bot.store.tables import Store

REF = RepositoryRef("github.com", 7, 9, "octo", "parser")


async def claim(effects: Effects, subject: str, key: str) -> Effect:
    return await effects.set_wanted("config", subject, key, key, first_wins=True)


async def test_exactly_one_of_several_concurrent_callers_is_the_first(store: Store) -> None:
    effects = store.for_repository(REF).effects
    claims = await asyncio.gather(*(claim(effects, "c0ffee", f"issue {n}") for n in range(12)))
    assert len({claim.payload for claim in claims}) == 1
    assert (await claim(effects, "another", "issue 99")).payload == "issue 99"


async def test_a_deleted_effect_is_wanted_again(store: Store) -> None:
    effects = store.for_repository(REF).effects
    await effects.set_wanted("sticky", "", "a", "a")
    await effects.record_done("sticky", "", "a", 5)
    await effects.forget("sticky")
    assert await effects.get("sticky") is None
    assert (await effects.set_wanted("sticky", "", "a", "a")).github_id is None
