"""Sets a report's labels. Those that GitHub's limits refuse are left to a later job; the report does not wait."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from bot.errors import MissingPermissionError, OutcomeUnknownError, RateLimitedError, RefusedError
from bot.ports import EffectsPort, GitHubPort, Issue, OwnerCheck
from bot.publish.labels import sync_labels
from bot.publish.skip_reasons import reason_to_skip
from bot.repo_config import RepositoryConfig

logger = logging.getLogger(__name__)
Lacks = Callable[[MissingPermissionError], Awaitable[None]]
"""Called with a permission that the installation lacks."""


async def log_missing(error: MissingPermissionError) -> None:
    """Log a missing permission, without storing it."""
    logger.warning("%s", error, extra={"action": "permission_missing"})


LATER: Final = "labels-later"


@dataclass(frozen=True, slots=True)
class ReportLabels:
    """The labels of one issue's report."""

    github: GitHubPort
    effects: EffectsPort
    owner_check: OwnerCheck
    lacks: Lacks

    async def put(
        self, wanted: frozenset[str], issue: Issue, touched: Iterable[str], existing: frozenset[str] | None = None
    ) -> None:
        """Update the issue's labels now, or store them for a later job; a report never waits for them.

        A job that waits for a limit would hold up the later jobs of its issue.

        Args:
            wanted: The labels.
            issue: The issue as it is now.
            touched: Labels that a person added or removed.
            existing: The repository's labels, if they were read already.
        """
        key, payload = issue.ref.key, json.dumps(sorted(wanted))
        try:
            await self._sync(wanted, issue, touched, existing)
        except (RateLimitedError, OutcomeUnknownError) as error:
            logger.info("labels postponed: %s", error, extra={"action": "labels.later"})
            await self.effects.set_wanted(key, LATER, "", payload, payload)
            return
        later = await self.effects.get(key, LATER)
        if later is not None and later.done_hash != later.wanted_hash:
            await self.effects.record_done(key, LATER, "", later.wanted_hash)

    async def catch_up(self, issue_key: str, issue: Issue | None, config: RepositoryConfig, touched: set[str]) -> None:
        """Set postponed labels; drop them if the issue may not be written to any more."""
        later = await self.effects.get(issue_key, LATER)
        if later is None or later.done_hash == later.wanted_hash:
            return
        moved = issue is not None and issue.ref.key != issue_key
        if issue is None or moved or reason_to_skip(issue, config) is not None:
            await self.effects.record_done(issue_key, LATER, "", later.wanted_hash)
            return
        await self.put(frozenset(json.loads(later.payload)), issue, touched)

    async def _sync(
        self, wanted: frozenset[str], issue: Issue, touched: Iterable[str], existing: frozenset[str] | None
    ) -> None:
        try:
            await sync_labels(
                wanted,
                issue=issue,
                touched=touched,
                github=self.github,
                effects=self.effects,
                owner_check=self.owner_check,
                existing=existing,
            )
        except MissingPermissionError as error:
            await self.lacks(error)
        except RefusedError as error:
            logger.warning("labels refused: %s", error, extra={"action": "labels.refused"})
