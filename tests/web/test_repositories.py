"""The accuracy of a repository's reports on its page."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import pytest

from bot.store.runs.outcomes import Verdict
from bot.store.tables import Store
from tests.web.people import Site, opened
from tests.web.stored import Ran, ran, scored


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


async def test_the_page_of_a_repository_without_a_fix_is_explained(site: Site) -> None:
    ref = await ran(site.store, Ran())
    page = words(await site.page("/repositories/octo/parser"))
    assert "1 report awaits its fix" in page
    assert "shipped calibration" not in page
    await site.store.for_issue(ref).outcome.keep(Verdict("unknown", why="no commit says so"))
    later = words(await site.page("/repositories/octo/parser"))
    assert "1 was closed without a fix that was found" in later
    assert "awaits" not in later


async def test_accuracy_is_counted(site: Site) -> None:
    await scored(site.store, months=3, each=4)
    page = await site.page("/repositories/octo/parser")
    text = words(page)
    month = re.search(r"2026-02 (\d+) (\d+) (\d+)% \d+% to \d+% (\d+) ", text)
    assert month is not None
    found, first, share, three = map(int, month.groups())
    assert (found, first <= three <= found, share) == (4, True, 25 * first)
    assert f'value="{first / 4}" aria-label="First file right in 2026-02"' in page
    assert (
        "Words such as “likely” are based on the shipped calibration until 30 fixes of this repository are known."
        in text
    )
    assert re.search(r"octo/parser 12 \d{4}-", words(await site.page("/repositories")))
