"""A simulated day whose clock skips idle time, with a worker, a GitHub and a model."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

from bot.jobs import Job
from bot.worker.dispatch.attempts import Dispatcher
from bot.worker.worker import Worker
from tests.servers.github_server import Call, Fault
from tests.servers.model_server import Reply, Request, error, fields_of, says

BEGINNING = 1_800_000_000.0 - 1_800_000_000.0 % 86_400 + 600
"""Ten past midnight."""
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


@dataclass
class Day:
    """A clock that runs in real time and jumps to the next due job when idle."""

    ahead: float = field(default_factory=lambda: BEGINNING - time.time())

    def now(self) -> float:
        return time.time() + self.ahead

    def __post_init__(self) -> None:
        self._first = self.ahead

    @property
    def jumped(self) -> float:
        """Return the skipped seconds, which do not depend on the machine's load."""
        return self.ahead - self._first

    @property
    def passed(self) -> float:
        """Return the seconds since the beginning."""
        return self.now() - BEGINNING

    async def live(self, worker: Worker, attempts: Counter[int], done: asyncio.Event) -> None:
        """Process all jobs until the condition is true."""

        async def counted(job: Job) -> None:
            attempts[job.id] += 1
            await worker.work(job)

        dispatcher = Dispatcher(worker.store.jobs, counted, concurrency=3)
        running = asyncio.create_task(dispatcher.run())
        while not done.is_set():
            await asyncio.sleep(0.02)
            counts = await worker.store.jobs.counts()
            due = await worker.store.jobs.idle()
            if counts.get("doing") or await self._is_due(worker):
                continue
            if due is None:
                # Neither of the two queries above sees a job that was claimed between them.
                if not {"todo", "doing"} & set(await worker.store.jobs.counts()):
                    done.set()
            else:
                self.ahead += due + 0.001
                dispatcher.wake()
        await dispatcher.drain(5.0)
        await running

    async def _is_due(self, worker: Worker) -> bool:
        statement = "SELECT 1 FROM jobs WHERE state = 'todo' AND due <= ?"
        now = self.now()
        return await worker.store._database.read(lambda db: db.execute(statement, (now,)).fetchone()) is not None


@dataclass
class StrictGitHub:
    """Accepts a number of writes per hour and refuses the others as GitHub does, without a time."""

    day: Day
    an_hour: int
    allowed: deque[float] = field(default_factory=deque)
    refused: int = 0

    def __call__(self, call: Call) -> Fault | None:
        if call.method == "GET" or not call.path.startswith("/repos/"):
            return None
        now = self.day.now()
        while self.allowed and self.allowed[0] <= now - 3_600:
            self.allowed.popleft()
        if len(self.allowed) >= self.an_hour:
            self.refused += 1
            return Fault(status=403, message=_SECONDARY)
        self.allowed.append(now)
        return None


@dataclass
class BusyModel:
    """Answers every other call with 429: usually for a moment, every tenth time for five minutes."""

    asked: int = 0
    refused: int = 0

    def __call__(self, request: Request) -> Reply:
        self.asked += 1
        if self.asked % 2:
            self.refused += 1
            return error(429, retry_after="300" if self.refused % 10 == 0 else "0.01")
        return sound(request)


def sound(request: Request) -> Reply:
    """Return the reply of a correct model, by the schema."""
    fields = fields_of(request)
    prompt = str(request["messages"])
    if "next_node" in fields:
        found = re.search(r"Iteration: (\d+) /", prompt)
        step = {2: "critic"}.get(int(found[1]) if found else 9, "writer")
        return says({**_DECISION, "next_node": step})
    return says(next(answer for key, answer in _ANSWERS.items() if key in fields))


_DECISION: dict[str, Any] = {
    "reasoning": "because",
    "question": None,
    "question_context": None,
    "confidence": 0.9,
    "question_options": [],
    "also": [],
}
_JUDGED = {"kind": "bug", "severity": "high", "severity_reason": "wrong dates", "confidence": 0.9}
_ANSWERS = {
    "root_cause": {
        "verdict": "The sign of the zone is dropped.",
        "root_cause": "The sign is matched and not used [E1].",
        "suspects": [{"evidence": "E1", "why": "it reads the zone"}],
        "missing": [],
        "ruled_out": [],
        "how_to_confirm": "Run it.",
        "labels": [],
        **_JUDGED,
    },
    "approved": {"approved": True, "gaps": [], "required_evidence": [], "contradictions": [], "confidence": 0.9},
    "problem": {"problem": "zones", "hypothesis": "the parser", "missing": [], "search_terms": ["zone"], **_JUDGED},
    "places": {"cause": [], "places": [{"evidence": "feedbox/dates.py:1", "why": "a sign"}], "confidence": 0.9},
}
