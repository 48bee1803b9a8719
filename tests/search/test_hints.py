"""Places that maintainers taught for words of an issue: they count more in the ranking, and are not evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.ports import TaughtWord
from bot.runs.code import EngineCode
from nodes.search.engine import Engine
from nodes.search.facts.levels import statement
from nodes.search.ranking.features.priors import HINT, HINTED
from nodes.search.types import FileHit, Location, Query
from tests.support.repositories import make_repository

FILES: dict[str, bytes | str] = {
    "pkg/parser.py": "def parse_header(line):\n    if ':' not in line:\n"
    "        raise ValueError('header line has no colon')\n    return line.split(':')\n",
    **{f"pkg/rows{n}.py": f"def write_rows{n}(rows):\n    return [row + {n} for row in rows]\n" for n in range(6)},
    "pkg/export/sheet.py": "def cells(table):\n    return [cell for row in table for cell in row]\n",
    "pkg/export/tests.txt": "cells\n",
}
VAGUE = Query("The spreadsheet is empty", "I saved my work yesterday, and today it is gone.")
CERTAIN = Query("parse_header fails in the spreadsheet", "ValueError: header line has no colon when a line is folded")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    path = tmp_path_factory.mktemp("hints") / "r"
    make_repository(path, FILES)
    return Engine(path)


def code(engine: Engine, *taught: TaughtWord) -> EngineCode:
    return EngineCode(engine, engine.commit("HEAD"), (), taught)


def test_files_below_a_taught_path_count_one_point_more(engine: Engine) -> None:
    sha = engine.commit("HEAD")
    plain, hinted = engine.find(VAGUE, sha), engine.find(replace(VAGUE, hints=("pkg/export", "pkg/export")), sha)
    before, after = ({hit.path: hit for hit in one.files} for one in (plain, hinted))
    assert after["pkg/export/sheet.py"].score == pytest.approx(before["pkg/export/sheet.py"].score + HINT)
    assert after["pkg/parser.py"].score == pytest.approx(before["pkg/parser.py"].score)
    assert hinted.files[0].path == "pkg/export/sheet.py"
    scored: list[FileHit | Location] = [*hinted.files, *hinted.locations]
    for hit in scored:
        assert sum(reason.contribution for reason in hit.reasons) == pytest.approx(hit.score)
    assert [r.kind for r in after["pkg/export/sheet.py"].reasons if "taught" in r.text] == ["hint"]
    assert hinted == engine.find(replace(VAGUE, hints=("pkg/export",)), sha)


def test_a_hint_never_raises_the_confidence(engine: Engine) -> None:
    sha = engine.commit("HEAD")
    plain = engine.find(CERTAIN, sha)
    assert plain.files[0].path == "pkg/parser.py"
    agreeing, other = (engine.find(replace(CERTAIN, hints=(hint,)), sha) for hint in ("pkg/parser.py", "pkg/export"))
    assert agreeing.confidence == plain.confidence
    assert other.confidence <= max(HINTED, plain.confidence)
    moved = engine.find(replace(VAGUE, hints=("pkg/export",)), sha)
    assert moved.confidence <= HINTED


@pytest.mark.parametrize("hint", ["pkg/exp", "export", "PKG/EXPORT", "pkg/[e]xport", "../pkg/export", "", "*"])
def test_a_hint_for_a_missing_folder_has_no_effect(engine: Engine, hint: str) -> None:
    sha = engine.commit("HEAD")
    assert engine.find(replace(VAGUE, hints=(hint,)), sha) == engine.find(VAGUE, sha)


async def test_only_issues_that_name_the_word_get_the_hint(engine: Engine) -> None:
    taught = code(engine, TaughtWord("spreadsheet", "pkg/export"))
    assert (await taught.find(VAGUE)).files[0].path == "pkg/export/sheet.py"
    other = replace(VAGUE, title="The table is empty")
    assert await taught.find(other) == await code(engine).find(other)
    survey = await taught.survey(VAGUE)
    assert survey.leads[0].path == "pkg/export/sheet.py"
    assert survey.confidence <= HINTED
    assert statement(survey.facts, [lead.path for lead in survey.leads], survey.confidence).level == "none"


async def test_a_wrong_place_does_not_move_the_file_of_a_strong_fact(engine: Engine) -> None:
    wrong = code(engine, TaughtWord("spreadsheet", "pkg/export"), TaughtWord("folded", "pkg/rows1.py"))
    assert await wrong.find(CERTAIN) == await code(engine).find(CERTAIN)
    survey = await wrong.survey(CERTAIN)
    assert survey == await code(engine).survey(CERTAIN)
    assert any(fact.strong and fact.path == "pkg/parser.py" for fact in survey.facts)


async def test_a_file_that_is_ignored_stays_ignored(engine: Engine, tmp_path: Path) -> None:
    taught = EngineCode(engine, engine.commit("HEAD"), ("pkg/export/**",), (TaughtWord("spreadsheet", "pkg/export"),))
    assert not any(hit.path.startswith("pkg/export/") for hit in (await taught.find(VAGUE)).files)
