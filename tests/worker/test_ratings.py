"""Reactions to reports: who counts, which report they are about, and how often they are read."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bot.ports import IssueRef, Permission
from bot.report.record import ENOUGH, read_record
from bot.settings import Settings
from bot.settings.server import ServerSettings
from bot.store.runs.feedback import read_feedback
from bot.store.tables import Store
from bot.worker.outcomes import FRESH, MAX_READS, PAUSE, WITHIN, read_ratings
from bot.worker.tools import Tools, open_tools
from bot.worker.upkeep import run_upkeep_round
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, BOT, Json, person
from tests.web.stored import COMMENT, Ran, ran


def reaction(user: Json | str, content: str, at: float) -> Json:
    """Return a reaction as GitHub lists it."""
    given = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"user": person(user) if isinstance(user, str) else user, "content": content, "created_at": given}


@dataclass
class Rated:
    """A posted report and the reactions to it."""

    github: GitHubServer
    given: Tools
    ref: IssueRef
    comment: int
    now: float

    @property
    def store(self) -> Store:
        return self.given.store

    def react(self, *reactions: Json) -> None:
        self.github.world.ratings[self.comment] = list(reactions)


@asynccontextmanager
async def rated(folder: Path, **permissions: str) -> AsyncIterator[Rated]:
    """Yield a report that was posted, and people with their permissions."""
    with serve_github() as github:
        settings = Settings(triage_data_dir=folder, github_api_url=github.url, github_server_url=github.url)
        async with open_tools(ServerSettings(settings, APP_ID, private_key(), (b"secret",))) as given:
            world, store = github.world, given.store
            repo = world.repository("octo/parser")
            repo.permissions |= permissions
            issue = world.open_issue(repo, "It hangs", "")
            ref = IssueRef("127.0.0.1", repo.installation, repo.id, repo.owner, repo.name, issue["number"])
            await store.installations.add([ref.repository])
            comment = world.comment(repo, ref.number, COMMENT, BOT)["id"]
            found = Rated(github, given, ref, comment, datetime(2026, 5, 1, tzinfo=UTC).timestamp())
            store._database.clock = store.outcomes._clock = lambda: found.now  # type: ignore[method-assign]
            await ran(store, Ran(repository=ref.repository, number=ref.number, comment=COMMENT))
            await store.for_repository(ref.repository).effects.record_done(ref.key, "sticky", "", "h", comment)
            yield found


async def test_reactions_of_maintainers_to_a_report_are_judgements_of_it(tmp_path: Path) -> None:
    async with rated(tmp_path, lee="triage", mia="push", noa="admin") as report:
        at = report.now + 60
        report.react(
            reaction("lee", "+1", at),
            reaction("mia", "-1", report.now - 60),  # about the report before
            reaction("noa", "+1", at),
            reaction("noa", "-1", at),
            reaction("noa", "heart", at),
            reaction("rita", "-1", at),
            reaction(BOT, "-1", at),
            {"user": None, "content": "-1", "created_at": "2026-05-02T00:00:00Z"},
        )

        async def judged() -> list[tuple[str, bool]]:
            found = await report.store._database.read(lambda db: read_feedback(db, report.ref.key, 1))
            return [(one.actor, one.judgement.right) for one in found if one.source == "reaction"]

        await run_upkeep_round(report.given)
        assert await judged() == [("lee", True)]
        record = report.store.of_repository(report.ref.repository.key).outcomes
        assert (await record.standing()).judged == [(0.78, True)]
        assert (await record.feedback_counts()).thumbs_up == 1
        report.react(reaction("mia", "-1", at))
        await run_upkeep_round(report.given)
        assert await judged() == [("lee", True)]  # not read again so soon
        report.now += PAUSE + 1
        await run_upkeep_round(report.given)
        assert await judged() == [("mia", False)]  # taken back, and another one
        report.now += WITHIN
        report.react()
        await run_upkeep_round(report.given)
        assert await judged() == [("mia", False)]


async def test_many_strangers_neither_hide_a_maintainer_nor_cost_many_requests(tmp_path: Path) -> None:
    async with rated(tmp_path, Noa="triage") as report:
        at = report.now + 60
        report.react(*(reaction(f"s{n}", "-1", at) for n in range(50)), reaction("Noa", "+1", at))
        reads, rounds = [0], 0
        while not (found := (await report.store.of_repository(report.ref.repository.key).outcomes.standing()).judged):
            report.now += PAUSE + 1
            await read_ratings(report.store, report.given.github.for_repository)
            reads.append(len(report.github.asked("GET", "/collaborators/")))
            rounds += 1
            assert rounds <= 11
        assert found == [(0.78, True)]
        assert max(after - before for before, after in itertools.pairwise(reads)) == MAX_READS
        logins = [call.path.split("/collaborators/")[1] for call in report.github.asked("GET", "/collaborators/")]
        assert len(set(logins[:51])) == 51
        # The first stranger was asked for longer ago than a permission stays fresh, and has a turn again.
        assert report.now - at > FRESH
        known = await report.store.for_repository(report.ref.repository).permissions.of(["S0"])
        assert known == {"s0": (Permission.READ, report.now)}


def test_judgements_count_only_beside_enough_fixes() -> None:
    fixes, wrong = [(0.8, True)] * ENOUGH, [(0.8, False)] * 20
    assert read_record(fixes[1:], wrong) is None
    alone, both = read_record(fixes), read_record(fixes, wrong)
    assert alone is not None
    assert both is not None
    assert both.confidence(0.8) < alone.confidence(0.8)
    assert (alone.basis, both.basis) == ("30 known fixes", "30 known fixes and 20 judgements")
