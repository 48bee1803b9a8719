"""Open pull requests for a report, where the App may read them."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.errors import BotError
from bot.ports import GitHubPort
from nodes.context import OpenPull

logger = logging.getLogger(__name__)
LISTED, READ = 50, 8
"""Number of open pull requests that are listed, and of those whose files are read; each costs a request."""


@dataclass(frozen=True, slots=True)
class OpenPulls:
    """Reads the most recently changed open pull requests of one repository."""

    github: GitHubPort

    async def __call__(self, paths: Sequence[str]) -> tuple[OpenPull, ...]:
        """Return open pull requests, the first ones with their files if paths are wanted; none if GitHub refuses."""
        try:
            listed = await self.github.open_pulls(LISTED)
            files = [await self.github.pull_files(one.number) for one in listed[: READ if paths else 0]]
        # The permission is optional, and a report is complete without them; `triage doctor` explains what it adds.
        except BotError as error:
            logger.info("pull requests not read: %s", error, extra={"action": "pulls.unread"})
            return ()
        read = [replace(one, paths=names) for one, names in zip(listed, files, strict=False)]
        return (*read, *listed[len(read) :])
