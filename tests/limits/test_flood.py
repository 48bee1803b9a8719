"""One person floods an issue with commands; another reporter is answered promptly. Simulated clock."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.jobs import Commands, Triage
from bot.limits.writes import PER_HOUR
from bot.ports import Comment, IssueRef
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.sqlite_file import SqliteDatabase
from bot.store.jobs.deliveries import Arrival
from bot.worker.worker import Worker, open_worker
from tests.limits.day import Day
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import Call, Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo, person
from tests.support.repositories import make_repository

COMMENTS = 60
FLOOD = "\n".join(
    f"/triage {command}"
    for command in (*("status", "help", "why", "answer x", "bogus", "stop", "resume"), *(f"no-{n}" for n in range(5)))
)
"""Twelve commands; every comment contains a different number, so that no two are equal."""


@dataclass
class Seen:
    """The times by the simulated clock at which GitHub was written to."""

    day: Day
    posted: dict[str, list[float]] = field(default_factory=dict)
    writes: list[float] = field(default_factory=list)

    def __call__(self, call: Call) -> Fault | None:
        if call.method != "GET" and call.path.startswith("/repos/"):
            self.writes.append(self.day.jumped)
            if call.path.endswith("/comments"):
                self.posted.setdefault(call.path, []).append(self.day.jumped)
        return None


@dataclass
class Stage:
    github: GitHubServer
    repo: Repo
    worker: Worker

    def ref(self, number: int) -> IssueRef:
        host = self.github.url.partition("//")[2]
        url = f"{self.github.url}/octo/feedbox.git"
        return IssueRef(host, INSTALLATION, self.repo.id, "octo", "feedbox", number, url)

    async def opens(self, who: str, title: str) -> int:
        number: int = self.github.world.open_issue(self.repo, title, BODY, who)["number"]
        work = Triage(ref=self.ref(number), why="opened")
        await self.worker.store.inbox.accept(Arrival(f"issue-{number}", "issues", b"{}", (work,)))
        return number

    async def says(self, who: str, number: int, body: str) -> None:
        made, sender = self.github.world.comment(self.repo, number, body, who), person(who)
        times = {"created_at": made["created_at"], "updated_at": made["updated_at"]}
        comment = Comment(made["id"], sender["id"], who, author_is_bot=False, body=body, url=made["html_url"], **times)
        work = Commands(ref=self.ref(number), comment=comment, sender=who, sender_id=sender["id"])
        await self.worker.store.inbox.accept(Arrival(f"comment-{made['id']}", "issue_comment", b"{}", (work,)))


@pytest.mark.tried("floods of issues and commands by one account")
@pytest.mark.timeout(300)
async def test_a_flood_of_commands_delays_no_other_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    day, attempts = Day(), Counter[int]()
    monkeypatch.setattr(SqliteDatabase, "clock", lambda _self: day.now())
    with serve_github() as github:
        github.fault = seen = Seen(day)
        origin = tmp_path / "origin"
        repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
        given = Settings(github_api_url=github.url, github_server_url=github.url, triage_data_dir=tmp_path / "data")
        async with open_worker(ServerSettings(given, APP_ID, private_key(), (b"secret",))) as worker:
            stage = Stage(github, repo, worker)
            flooded = await stage.opens("eve", TITLE)
            for n in range(COMMENTS):
                await stage.says("eve", flooded, f"{n}\n{FLOOD}")
            other = await stage.opens("rita", f"{TITLE} in winter")
            await stage.says("rita", other, "/triage status")
            await asyncio.wait_for(day.live(worker, attempts, asyncio.Event()), 250)
            met = await worker.store.for_repository(stage.ref(flooded).repository).limited.today()
        ours = len(github.world.ours(repo, flooded))
        answered = github.world.ours(repo, other)
    assert ours <= 1 + 20, "one report, and replies up to the author's limit"
    assert len(github.world.reports(repo, other)) == 1
    assert len(answered) == 2, "the report and the reply"
    assert max(seen.posted[f"/repos/octo/feedbox/issues/{other}/comments"]) < 60.0
    assert len(seen.writes) < PER_HOUR // 4
    assert met["author.answers"] >= COMMENTS - 20
