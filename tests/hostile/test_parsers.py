"""Each grammar with its slowest tokens; ``make parsers`` runs all of them on a megabyte."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.parsers import SLOWEST, TOKENS, read
from nodes.search.languages.table import LANGUAGES

SIZE = 20_000


def test_there_are_enough_tokens() -> None:
    assert len(set(TOKENS)) == len(TOKENS) >= 70


@pytest.mark.tried("source files made to be slow to parse, in each language")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name + language.endings[0])
def test_hostile_source_ends_within_its_deadline(tmp_path: Path, language) -> None:
    tokens = SLOWEST.get(language.name, ["("])
    assert [one for one in read(tmp_path, language.name, language.endings[0], tokens, SIZE) if not one.in_time] == []
