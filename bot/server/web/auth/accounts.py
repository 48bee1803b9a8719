"""Accounts logged in through GitHub. Their tokens stay in memory, or leave it encrypted in the person's own cookie.

A cookie or a table that contained readable tokens would be worth stealing (docs/decisions.md).
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from cryptography.fernet import Fernet, InvalidToken

from bot.errors import RetryableError
from bot.github.registration import LoggedOutError, People, Person
from bot.server.web.auth.sessions import LASTS, Viewer

FRESH = 60.0
"""Seconds for which the visible repositories of a user are cached."""
STALE = 600.0
"""Seconds for which the cached value is still used while GitHub does not answer."""
MAX_LOGINS, MAX_OF_ONE = 1_000, 10
"""Stored logins in total and per user. Any GitHub account can log in any number of times, so both are bounded."""
AT_ONCE = 20
"""Logins that may be in progress at once. Each one sends several requests to GitHub."""


@dataclass
class _Account:
    viewer: Viewer
    token: str = field(repr=False)
    since: float
    asked_at: float
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class Accounts:
    """Logged-in users by the id in their cookie.

    Without a shared secret a restart logs them out, and one click logs them in again.
    """

    def __init__(
        self,
        people: People,
        host: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        shared_secret: bytes | None = None,
    ) -> None:
        """Start without any logged-in user.

        Args:
            people: the client that queries GitHub on behalf of a user.
            host: prefix of the keys of this GitHub server's repositories.
            clock: returns seconds from a monotonic clock.
            shared_secret: encrypts logins for the other servers that have it; None if logins belong to this process.
        """
        self.people = people
        self._host = host.lower()
        self._clock = clock
        self._cipher = Fernet(_encryption_key(shared_secret)) if shared_secret else None
        self._known: OrderedDict[str, _Account] = OrderedDict()
        self._finishing = 0

    async def log_in(self, token: str) -> str:
        """Log a user in by their GitHub token.

        Returns:
            The id to store in their cookie.

        Raises:
            LoggedOutError: GitHub does not accept the token.
            RetryableError: GitHub does not answer.
        """
        person, now = await self.people.account(token), self._clock()
        if not person.login:
            raise LoggedOutError("no login name")
        account = _Account(await self._viewer(person, token), token, now, now)
        key = secrets.token_urlsafe(24)
        self._known[key] = account
        self._make_room(person.login)
        return key

    def sealed(self, key: str) -> dict[str, str]:
        """Return the encrypted part of a cookie, with which another server can continue the login."""
        account = self._known.get(key)
        if self._cipher is None or account is None:
            return {}
        person = [account.viewer.name, account.viewer.id, account.token]
        return {"sealed": self._cipher.encrypt(json.dumps(person).encode()).decode()}

    @contextlib.contextmanager
    def login_in_progress(self) -> Iterator[None]:
        """Count a login as in progress for the duration of the block.

        Raises:
            RetryableError: too many logins are in progress.
        """
        if self._finishing >= AT_ONCE:
            raise RetryableError("too many logins at once")
        self._finishing += 1
        try:
            yield
        finally:
            self._finishing -= 1

    def _make_room(self, name: str) -> None:
        """Remove logins above the limits.

        A user displaces their own oldest logins first. Above the total limit, users who see no repository are removed
        before the others.
        """
        own = [key for key, account in self._known.items() if account.viewer.name == name]
        for key in own[:-MAX_OF_ONE]:
            self.log_out(key)
        if len(self._known) > MAX_LOGINS:
            blind = (key for key, account in self._known.items() if not account.viewer.repositories)
            self.log_out(next(blind, next(iter(self._known))))

    async def viewer(self, key: str, sealed: str = "") -> Viewer | None:
        """Return the user behind a cookie id with the repositories they may currently see; None if logged out.

        ``sealed`` is the encrypted login in the cookie, which this server continues if another one began it.

        Raises:
            RetryableError: GitHub has not answered for longer than ``STALE``.
        """
        account = self._known.get(key) or self._continued(key, sealed)
        if account is None or self._clock() - account.since > LASTS:
            self.log_out(key)
            return None
        # The lock lets one request refresh the account; concurrent requests of the same user then reuse the result.
        async with account.asking:
            if self._clock() - account.asked_at > FRESH and not await self._refresh(account):
                self.log_out(key)
                return None
        if key in self._known:
            self._known.move_to_end(key)  # keeps the least recently used login first, for _make_room
        return account.viewer

    def _continued(self, key: str, sealed: str) -> _Account | None:
        """Continue a login that another server, or this one before its restart, began; None if it is not readable."""
        if self._cipher is None or not sealed:
            return None
        try:
            name, number, token = json.loads(self._cipher.decrypt(sealed))
        except InvalidToken:
            return None
        # The permissions are read from GitHub before anything is shown, as after a minute.
        account = _Account(Viewer(name, frozenset(), id=number), token, self._clock(), -math.inf)
        self._known[key] = account
        self._make_room(name)
        return account

    def log_out(self, key: str) -> None:
        """Log a user out."""
        self._known.pop(key, None)

    async def _refresh(self, account: _Account) -> bool:
        """Refresh the visible repositories. Returns False if GitHub no longer accepts the token."""
        try:
            known = Person(account.viewer.name, account.viewer.id)
            viewer = await self._viewer(known, account.token)
        except LoggedOutError:
            return False
        except RetryableError:
            if self._clock() - account.asked_at > STALE:
                raise
            return True
        account.viewer, account.asked_at = viewer, self._clock()
        return True

    async def _viewer(self, person: Person, token: str) -> Viewer:
        found = {f"{self._host}/{number}": may for number, may in (await self.people.repositories(token)).items()}
        triages = frozenset(key for key, may in found.items() if may)
        return Viewer(person.login, frozenset(found), triages, person.id)


def _encryption_key(secret: bytes) -> bytes:
    """Return a key for ``Fernet``; it differs from the one that signs cookies."""
    return base64.urlsafe_b64encode(hashlib.sha256(b"tracehound.accounts:" + secret).digest())
