"""A word that is taught in a comment directs the search of later issues, with the whole worker."""

from __future__ import annotations

from pathlib import Path

from bot.jobs import Commands
from bot.ports import Comment, TaughtWord
from bot.store.jobs.deliveries import Arrival
from nodes.evidence import Evidence
from tests.limits.test_admission import Stage, staged
from tests.servers.github_server import serve_github
from tests.servers.github_world import person


async def say(stage: Stage, number: int, body: str, who: str) -> None:
    """Write a comment and run its commands."""
    written = stage.github.world.comment(stage.repo, number, body, who)
    times = {name: written[name] for name in ("created_at", "updated_at")}
    sender = person(who)["id"]
    comment = Comment(written["id"], sender, who, author_is_bot=False, body=body, url=written["html_url"], **times)
    work = Commands(ref=stage.ref(number), comment=comment, sender=who, sender_id=sender)
    await stage.worker.store.inbox.accept(Arrival(f"said-{written['id']}", "issue_comment", b"{}", (work,)))
    while (job := await stage.worker.store.jobs.claim("control", "us")) is not None:
        await stage.worker.work(job)


async def test_later_issues_that_name_the_word_are_searched_there(tmp_path: Path) -> None:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            stage.repo.permissions["mia"] = "push"
            first = await stage.opened()
            await say(stage, first, "/triage component shelf = feedbox/stor.py", "mia")
            assert "The nearest: `feedbox/store.py`" in github.world.ours(stage.repo, first)[-1]
            await say(stage, first, "/triage component shelf = feedbox/store.py", "rita")
            await say(stage, first, "/triage component shelf = feedbox/store.py", "mia")
            key = stage.ref(first).repository.key
            assert await stage.worker.store.of_repository(key).components.all() == (
                TaughtWord("shelf", "feedbox/store.py"),
            )

            async def score(body: str) -> float:
                """Return the score of the taught file among what the run of a new issue read."""
                number = await stage.opened(title="It is lost after a restart", body=body)
                run = f"{stage.ref(number).key}:1"
                rows = await stage.worker.store._database.read(
                    lambda db: db.execute("SELECT body FROM evidence WHERE run = ?", (run,)).fetchall()
                )
                found = [Evidence.model_validate_json(row) for (row,) in rows]
                return max(one.score for one in found if one.locator and one.locator.path == "feedbox/store.py")

            text = "The date shown for the article is gone."
            plain = await score(text)
            assert await score(f"{text} The bookshelf stays.") == plain
            assert await score(f"{text} The shelf stays.") > plain
