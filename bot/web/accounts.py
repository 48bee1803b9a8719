"""Who is logged in with a GitHub account: their tokens stay here, in memory."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bot.errors import RetryableError
from bot.github.people import LoggedOutError, People
from bot.web.sessions import LASTS
from bot.web.viewer import Viewer

FRESH = 60.0
"""Seconds for which what somebody may see is not asked again."""
STALE = 600.0
"""Seconds for which it is still shown while GitHub does not answer."""
MOST, MOST_OF_ONE = 1_000, 10
"""Logins that are remembered, of everybody and of one person: any account of GitHub may log in, any number of times."""
AT_ONCE = 20
"""Logins that are being finished; each asks GitHub several times."""


@dataclass
class _Account:
    viewer: Viewer
    token: str = field(repr=False)
    since: float
    asked_at: float
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Accounts:
    """People by the id in their cookie; a restart logs them out, and one click in again."""

    def __init__(self, people: People, host: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Know nobody yet.

        Args:
            people: asks GitHub.
            host: what the keys of its repositories begin with.
            clock: seconds.
        """
        self.people = people
        self._host = host.lower()
        self._clock = clock
        self._known: OrderedDict[str, _Account] = OrderedDict()
        self._finishing = 0

    async def enter(self, token: str) -> str:
        """Let somebody in by their token; returns the id for their cookie.

        Raises:
            LoggedOutError: the token is nobody's.
            RetryableError: GitHub does not answer.
        """
        name, now = await self.people.login(token), self._clock()
        if not name:
            raise LoggedOutError("nobody")
        account = _Account(Viewer(name, await self._visible(token)), token, now, now)
        key = secrets.token_urlsafe(24)
        self._known[key] = account
        self._make_room(name)
        return key

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Count a login that is being finished, for the length of a block.

        Raises:
            RetryableError: too many are.
        """
        if self._finishing >= AT_ONCE:
            raise RetryableError("too many logins at once")
        self._finishing += 1
        try:
            yield
        finally:
            self._finishing -= 1

    def _make_room(self, name: str) -> None:
        """A person displaces their own logins first; among all, those who see nothing go before those who do."""
        own = [key for key, account in self._known.items() if account.viewer.name == name]
        for key in own[:-MOST_OF_ONE]:
            self.leave(key)
        if len(self._known) > MOST:
            blind = (key for key, account in self._known.items() if not account.viewer.repositories)
            self.leave(next(blind, next(iter(self._known))))

    async def viewer(self, key: str) -> Viewer | None:
        """Who it is, with what GitHub lets them see by now.

        Raises:
            RetryableError: GitHub has not said so for too long.
        """
        account = self._known.get(key)
        if account is None or self._clock() - account.since > LASTS:
            self.leave(key)
            return None
        async with account.asking:
            if self._clock() - account.asked_at > FRESH and not await self._asked_again(account):
                self.leave(key)
                return None
        if key in self._known:
            self._known.move_to_end(key)  # the first is the one that was not used for longest
        return account.viewer

    def leave(self, key: str) -> None:
        """Forget somebody."""
        self._known.pop(key, None)

    async def _asked_again(self, account: _Account) -> bool:
        """Whether they are still who they were."""
        try:
            seen = await self._visible(account.token)
        except LoggedOutError:
            return False
        except RetryableError:
            if self._clock() - account.asked_at > STALE:
                raise
            return True
        account.viewer, account.asked_at = Viewer(account.viewer.name, seen), self._clock()
        return True

    async def _visible(self, token: str) -> frozenset[str]:
        return frozenset(f"{self._host}/{number}" for number in await self.people.repositories(token))
