"""The log of a job names the repository and says what was written, without text of the issue."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from nodes.brains.rules import RulesBrain
from tests.limits.test_admission import staged
from tests.servers.github_server import GitHubServer, serve_github


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


class Records(logging.Handler):
    """Collects each record with the ids that were bound when it was written."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[str, str, dict[str, object]]] = []

    def emit(self, record: logging.LogRecord) -> None:
        bound = dict(structlog.contextvars.get_contextvars())
        self.rows.append((getattr(record, "action", ""), record.getMessage(), bound))

    def published(self) -> str:
        return [message for action, message, _ in self.rows if action == "run_published"][-1]


@pytest.fixture
def records() -> Iterator[Records]:
    handler, logger = Records(), logging.getLogger("bot")
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(before)


async def test_the_log_names_the_repository_and_the_comment(
    github: GitHubServer, tmp_path: Path, records: Records
) -> None:
    async with staged(github, tmp_path) as stage:
        await stage.opened(title="parse_date ignores the sign of the zone")
        comment = next(iter(github.world.comments))
        assert f"comment {comment} contains a report (bug) with" in records.published()
        await stage.opened(title="It breaks", body="")
        assert "contains a question to the reporter" in records.published()
    assert {ids.get("repository") for action, _, ids in records.rows if action == "job_done"} == {"octo/feedbox"}
    assert not any("ignores the sign" in message for _, message, _ in records.rows)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        pytest.param("mode: dry-run\n", "nothing was written, since the mode is dry-run: a report", id="dry-run"),
        pytest.param("mode: label\n", "no comment, since the mode is label: a report", id="label"),
        pytest.param("comment_on: [feature]\n", "no comment, since it would say too little", id="other-kind"),
    ],
)
async def test_the_log_states_why_nothing_was_written(
    github: GitHubServer, tmp_path: Path, records: Records, file: str, says: str
) -> None:
    async with staged(github, tmp_path) as stage:
        stage.repo.files[".github/triage.yml"] = file
        number = await stage.opened(title="parse_date ignores the sign of the zone")
        assert stage.reported(number) == ""
    assert records.published().startswith(says)


async def test_a_run_whose_writer_failed_once_is_run_again_and_posted(
    github: GitHubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, calls = RulesBrain.write, list[object]()

    async def fails_once(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return await write(*given)

    monkeypatch.setattr(RulesBrain, "write", fails_once)
    async with staged(github, tmp_path) as stage:
        number = await stage.opened(title="parse_date ignores the sign of the zone")
        assert stage.reported(number)
    assert len(calls) == 2
