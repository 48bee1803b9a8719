"""Tokens of one repository: created, found by their text, listed without it, limited and revoked."""

from __future__ import annotations

import pytest

from bot.ports import RepositoryRef
from bot.store.access import MAX_TOKENS, TooManyTokensError
from bot.store.tables import Store

PARSER = RepositoryRef("github.com", 7, 9, "octo", "parser")
LEXER = RepositoryRef("github.com", 7, 90, "octo", "lexer")


async def test_a_token_finds_its_repository_until_it_is_revoked(store: Store) -> None:
    await store.installations.add([PARSER, LEXER])
    first, second = await store.api_tokens.create(PARSER.key, "one"), await store.api_tokens.create(LEXER.key)
    assert await store.api_tokens.repository(first) == PARSER.key
    assert await store.api_tokens.repository(second) == LEXER.key
    one, two = await store.api_tokens.all()
    assert {(one.repository, one.label), (two.repository, two.label)} == {("octo/parser", "one"), ("octo/lexer", "")}
    assert first not in str(await store.repository_data(PARSER.key).rows("api_tokens"))
    mine = one if one.label else two
    assert await store.api_tokens.revoke(mine.id)
    assert not await store.api_tokens.revoke(mine.id)
    assert await store.api_tokens.repository(first) is None
    assert await store.api_tokens.repository(second) == LEXER.key


@pytest.mark.parametrize("text", ["", "thr_", "thr_" + "a" * 43, "x" * 10_000, "thr_" + "a" * 42 + "\n"])
async def test_other_texts_find_nothing(store: Store, text: str) -> None:
    assert await store.api_tokens.repository(text) is None
    assert not await store.api_tokens.revoke(text)
    assert not await store.api_tokens.revoke("%")


async def test_tokens_of_a_repository_are_limited_and_forgotten_with_it(store: Store) -> None:
    await store.installations.add([PARSER])
    for _ in range(MAX_TOKENS):
        await store.api_tokens.create(PARSER.key)
    with pytest.raises(TooManyTokensError):
        await store.api_tokens.create(PARSER.key)
    assert (await store.repository_data(PARSER.key).forget())["api_tokens"] == MAX_TOKENS
