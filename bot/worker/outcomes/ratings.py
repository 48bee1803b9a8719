"""Reads people's 👍 and 👎 on recent reports: GitHub sends no delivery for reactions."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.errors import BotError, RefusedError
from bot.ports import GitHubPort, Judgement, Permission, RepositoryRef
from bot.store.runs.feedback import Feedback
from bot.store.runs.outcomes import Unrated
from bot.store.tables import Store
from bot.worker.outcomes.permissions import permissions_of

WITHIN, PAUSE = 14 * 86_400.0, 20 * 3_600.0
"""Seconds after a publication in which the ratings of a report are read, and seconds between two reads."""
MAX_REPORTS = 50
"""Maximum number of reports in one round."""

logger = logging.getLogger(__name__)


async def read_ratings(store: Store, github_for: Callable[[RepositoryRef], GitHubPort]) -> int:
    """Store the reactions to recent reports, those read longest ago first. Returns the number of reports read.

    Only reactions of people with at least the triage permission are stored, as with ``/triage right``.
    """
    due = await store.outcomes.unrated(within=WITHIN, pause=PAUSE, most=MAX_REPORTS)
    for one in due:
        try:
            found = await _ratings(store, github_for(one.ref.repository), one)
        except RefusedError:
            found = []  # archived or no longer accessible: nothing can be read there
        except BotError as error:
            logger.info("%s", error, extra={"action": "not_rated", "repository": one.ref.repository.key})
            continue
        await store.outcomes.keep_ratings(one, found)
    return len(due)


async def _ratings(store: Store, github: GitHubPort, one: Unrated) -> list[Feedback]:
    # GitHub's times have whole seconds.
    ratings = [rating for rating in await github.ratings(one.comment_id) if rating.at >= int(one.published_at)]
    stored = store.for_repository(one.ref.repository).permissions
    # Each round reads the permissions of few people: many strangers must neither cost much nor hide a maintainer.
    may = await permissions_of((rating.login for rating in ratings), stored, github, store.clock())
    return [
        Feedback("reaction", rating.login, Judgement(right=rating.up), rating.at)
        for rating in ratings
        if may.get(rating.login, Permission.NONE) >= Permission.TRIAGE
    ]
