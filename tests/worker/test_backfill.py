"""A backfill's list compared with what is then written, and its resumption after a kill."""

from __future__ import annotations

import asyncio
import re
import subprocess
from pathlib import Path

from bot.worker.dispatch.attempts import Attempts
from bot.worker.dispatch.health import Outage
from tests.cli.process import command, environment, triage
from tests.limits.test_admission import Stage, staged
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import private_key, serve_github
from tests.servers.github_world import APP_ID
from tests.support.preloaded import Forked

HOSTILE = f"{TITLE} \x1b[31m</td><b>"


def beside(stage: Stage, folder: Path) -> dict[str, str]:
    """Return the settings of a command that uses the same store."""
    return {
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_PRIVATE_KEY": private_key(),
        "GITHUB_WEBHOOK_SECRET": "secret",
        "GITHUB_API_URL": stage.github.url,
        "GITHUB_SERVER_URL": stage.github.url,
        "TRIAGE_DATA_DIR": str(folder / "data"),
        "TRIAGE_BRAIN": "rules",
    }


async def test_what_is_planned_is_written_once_although_the_command_is_killed(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            repo, settings = stage.repo, beside(stage, tmp_path)
            repo.labels.add("bug")
            await stage.worker.store.installations.add([stage.ref(1).repository])
            for title in (TITLE, HOSTILE, TITLE, TITLE):
                github.world.open_issue(repo, title, BODY)
            repo.issues[4]["locked"] = True
            github.world.comment(repo, 1, "me too")

            async def run(*more: str) -> subprocess.CompletedProcess[str]:
                return await asyncio.to_thread(triage, tmp_path, "backfill", "octo/feedbox", *more, **settings)

            dry = await run()
            assert [line.split()[0] for line in dry.stdout.splitlines()] == ["#3", "#2", "#1"]
            assert "\x1b" not in dry.stdout
            plan = dry.stderr
            assert (
                "3 issues of the newest 4 open ones to triage; mode comment, at most 15 writes to GitHub, 480 an hour\n"
                in plan
            )
            assert "left alone: 1, because the conversation is locked\n" in plan
            assert [call for call in github.asked("POST") if "access_tokens" not in call.path] == []
            words = command("backfill", "octo/feedbox", "--write")
            with Forked(
                words,
                env=environment(**settings),
                cwd=tmp_path,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            ) as process:
                first = await asyncio.to_thread(process.stdout.readline)
                process.kill()
            assert first.split()[0] == b"#3"
            second = await run("--write")
            resumed = re.search(r"left alone: (\d), because it is queued already\n", second.stderr)
            assert resumed is not None, second.stderr
            assert len(second.stdout.splitlines()) == 3 - int(resumed[1])
            github.calls.clear()
            attempts = Attempts(stage.worker.store.jobs, stage.worker.work, Outage())
            while (job := await stage.worker.store.jobs.claim("run", "us")) is not None:
                await attempts.make(job)
            calls = [call for call in github.calls if "access_tokens" not in call.path]
            assert sum(call.method != "GET" for call in calls) == 12
            assert [len(github.world.reports(repo, number)) for number in (1, 2, 3, 4)] == [1, 1, 1, 0]
            third = await run("--write")
            assert "0 issues of the newest 4 open ones to triage" in third.stderr
            assert "left alone: 3, because it was triaged before\n" in third.stderr
            assert third.stdout == ""
