"""The engine's results for the small set as golden data, so that ranking changes are reviewable.

pytest tests/ranking/test_golden.py --rewrite-ranking
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nodes.search.engine import Engine
from nodes.search.types import Query
from tests.ranking.small_set import build_repositories, read_issues

GOLDEN = Path(__file__).with_name("golden.json")
SHOWN = 3
"""Number of files and of places per issue in the golden data."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    built = build_repositories(tmp_path_factory.mktemp("small"))
    engines = {name: Engine(path) for name, (path, _) in built.items()}
    issues = {}
    ranks: list[int] = []
    for row in read_issues():
        title, _, body = row["issue"].partition("\n")
        found = engines[row["repo"]].find(Query(title, body.strip("\n")), built[row["repo"]][1])
        files = [hit.path for hit in found.files]
        ranks.append(min(files.index(path) + 1 if path in files else 0 for path in row["gold_files"]))
        issues[f"{row['repo']}: {row['id']}"] = {
            "rank": ranks[-1],
            "confidence": round(found.confidence, 2),
            "files": files[:SHOWN],
            "places": [f"{place.path}::{place.symbol or place.start_line}" for place in found.locations[:SHOWN]],
        }
    return {
        "issues": len(ranks),
        "recall@1": round(sum(rank == 1 for rank in ranks) / len(ranks), 3),
        "recall@5": round(sum(1 <= rank <= 5 for rank in ranks) / len(ranks), 3),
        "MRR": round(sum(1 / rank for rank in ranks if rank) / len(ranks), 3),
        "answers": issues,
    }


def test_the_ranking_is_the_one_that_was_agreed_on(answers: dict[str, Any], request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--rewrite-ranking"):
        GOLDEN.write_text(json.dumps(answers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert answers == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_the_small_set_distinguishes_rankings() -> None:
    rows = read_issues()
    suffixes = {Path(path).suffix for row in rows for path in row["gold_files"]}
    assert len(rows) >= 25
    assert {".py", ".ts", ".go", ".rs", ".java", ".c"} <= suffixes
