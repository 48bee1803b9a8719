"""A question is answered by the whole worker, and only where a fact answers it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.limits.test_admission import staged
from tests.serve.conftest import FILES
from tests.servers.github_server import serve_github
from tests.support.repositories import make_repository

OWNED = {
    **FILES,
    "CODEOWNERS": "/feedbox/dates.py @octo/times\n",
    "feedbox/cli.py": "from feedbox.dates import parse_date\n\n\ndef main(text):\n    return parse_date(text)\n",
}


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        pytest.param("Who owns feedbox/dates.py?", "", id="owner"),
        pytest.param("When was `parse_date` last changed?", "", id="change"),
        pytest.param("Which functions call `parse_date`?", "", id="callers"),
        pytest.param("Where is `parse_date` defined?", "The only definition of `parse_date`", id="definition"),
    ],
)
async def test_a_question_is_answered_by_a_fact_or_not_at_all(tmp_path: Path, title: str, shown: str) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            assert stage.repo.git is not None
            stage.repo.head = make_repository(stage.repo.git, OWNED)
            stage.repo.files[".github/triage.yml"] = "answer_questions: true\n"
            number = await stage.opened(title=title, body="I want to understand the code. Thank you.")
            posted = "".join(github.world.ours(stage.repo, number))
            assert (shown in posted) if shown else not posted
