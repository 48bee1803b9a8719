"""Wanted effects on GitHub: set once by the first caller, and deleted when a person deletes them."""

from __future__ import annotations

import asyncio

from bot.ports import RepositoryRef
from bot.store.tables import Store

REF = RepositoryRef("github.com", 7, 9, "octo", "parser")
KEY = "github.com/9#0"


async def test_exactly_one_of_several_concurrent_callers_is_the_first(store: Store) -> None:
    effects = store.for_repository(REF).effects
    claims = await asyncio.gather(*(effects.claim(KEY, "config", "c0ffee", f"issue {n}") for n in range(12)))
    assert len({claim.payload for claim in claims}) == 1
    assert (await effects.claim(KEY, "config", "another", "issue 99")).payload == "issue 99"


async def test_a_deleted_effect_is_wanted_again(store: Store) -> None:
    effects = store.for_repository(REF).effects
    await effects.set_wanted(KEY, "sticky", "", "a", "a")
    await effects.record_done(KEY, "sticky", "", "a", 5)
    await effects.forget(KEY, "sticky")
    assert await effects.get(KEY, "sticky") is None
    assert (await effects.set_wanted(KEY, "sticky", "", "a", "a")).github_id is None
