"""Installations of the App, and their tokens: short-lived, for one repository, with the permissions that are used."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from weakref import WeakValueDictionary

from bot import errors
from bot.github.responses import expect_shape
from bot.github.session import Session
from bot.github.values import InstallationSeen, Json

_LEVELS = ("read", "write", "admin")
WRITE_ISSUES = {"issues": "write", "contents": "read", "metadata": "read"}
READ_CODE = {"contents": "read", "metadata": "read"}
READ_PULLS = {"pull_requests": "read", "metadata": "read"}
_EARLY = 300.0
"""Seconds before the expiry of a token in which it is no longer used."""
_UNNAMED_LIFE = 600.0
"""Assumed lifetime, in seconds, of a token whose response contains no expiry."""
_KEPT = 2_000
"""Number of tokens in the cache."""
_TRIES = 3
"""Attempts of one request for a token."""
_REFUSED_FOR = 300.0
"""Seconds for which a refusal is cached."""
_Key = tuple[int, tuple[int | str, ...], tuple[tuple[str, str], ...]]


class Tokens:
    """Requests tokens and caches them until shortly before they expire; githubkit would keep revoked ones."""

    def __init__(self, session: Session, fixed: str | None = None) -> None:
        """Cache the tokens of a session's App; a ``fixed`` one, for which GitHub refuses what it does not permit."""
        self._session = session
        self._fixed = fixed
        self._cache: OrderedDict[_Key, tuple[str, float]] = OrderedDict()
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()
        self._refused: dict[_Key, tuple[errors.RefusedError, float]] = {}

    async def get(self, installation: int, repositories: Sequence[int | str], permissions: Mapping[str, str]) -> str:
        """Return a token for these repositories, by id or by name, and for no others.

        Raises:
            SuspendedError: The installation is suspended or gone.
            RefusedError: The installation has no access to a repository, or lacks a permission.
        """
        if self._fixed is not None:
            return self._fixed
        # Permissions are part of the key, so that a token is never used for more than it was requested for.
        key = (installation, tuple(repositories), tuple(sorted(permissions.items())))
        # One request per key at a time: tasks that wait for the lock find the token of the first one. The dict drops a
        # lock that no task refers to.
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            token, ends = self._cache.get(key, ("", 0.0))
            if ends - _EARLY < time.time():
                token, ends = await self._request_or_raise(key, installation, repositories, permissions)
                self._store(key, token, ends)
            return token

    def forget(self, token: str) -> None:
        """Drop a token that GitHub no longer accepts."""
        for key in [key for key, (cached, _) in self._cache.items() if cached == token]:
            del self._cache[key]

    async def _request_or_raise(
        self, key: _Key, installation: int, repositories: Sequence[int | str], permissions: Mapping[str, str]
    ) -> tuple[str, float]:
        """Request a token; a refusal of what is optional, such as ``.github`` or pull requests, is cached."""
        refused, until = self._refused.get(key, (None, 0.0))
        if refused is not None and time.time() < until:
            raise refused
        try:
            return await self._request(installation, repositories, permissions)
        except errors.RefusedError as error:
            if permissions == READ_PULLS or any(isinstance(repository, str) for repository in repositories):
                now = time.time()
                self._refused = {other: known for other, known in self._refused.items() if known[1] > now}
                self._refused[key] = error, now + _REFUSED_FOR
            raise

    async def _request(
        self, installation: int, repositories: Sequence[int | str], permissions: Mapping[str, str]
    ) -> tuple[str, float]:
        by_id = all(isinstance(repository, int) for repository in repositories)
        body = {"repository_ids" if by_id else "repositories": list(repositories), "permissions": dict(permissions)}
        path = f"/app/installations/{installation}"
        try:
            response = await self._post(f"{path}/access_tokens", body)
        except errors.RefusedError as error:
            # GitHub answers 422 for a missing permission as for other faults; only the message tells them apart.
            if "not granted" not in str(error):
                raise
            seen = await find_installation(self._session, path)
            lacks = lacking(seen.permissions, permissions) if seen is not None else ()
            raise errors.MissingPermissionError(str(error), permissions=lacks) from error
        with expect_shape("a token"):
            return str(response["token"]), _end(response.get("expires_at"))

    async def _post(self, path: str, body: Mapping[str, object]) -> Json:
        """Send a POST with retries. Unlike other POSTs this one may be repeated: an unused token does no harm."""
        for _ in range(_TRIES):
            try:
                authorization = await self._session.app_authorization()
                return (await self._session.send("POST", path, authorization=authorization, json=body)).object()
            except errors.OutcomeUnknownError:
                continue
            except errors.GoneError as error:
                raise errors.SuspendedError("the installation is gone") from error
        raise errors.RetryableError("GitHub gives no token")

    def _store(self, key: _Key, token: str, ends: float) -> None:
        self._cache[key] = (token, ends)
        self._cache.move_to_end(key)
        while len(self._cache) > _KEPT:
            self._cache.popitem(last=False)


async def find_installation(session: Session, path: str) -> InstallationSeen | None:
    """Return the installation at a path of the API; None if it does not exist."""
    try:
        response = await session.send("GET", path, authorization=await session.app_authorization())
    except errors.GoneError:
        return None
    with expect_shape("an installation"):
        seen = response.object()
        permissions = {str(name): str(level) for name, level in (seen.get("permissions") or {}).items()}
        return InstallationSeen(int(seen["id"]), suspended=bool(seen.get("suspended_at")), permissions=permissions)


def lacking(granted: Mapping[str, str], needed: Mapping[str, str]) -> tuple[str, ...]:
    """Return the needed permissions that were not granted, by name."""
    return tuple(name for name, level in needed.items() if _level(granted.get(name)) < _level(level))


def _level(name: str | None) -> int:
    return _LEVELS.index(name) if name in _LEVELS else -1


def _end(expires_at: object) -> float:
    try:
        return datetime.fromisoformat(str(expires_at)).timestamp()
    except ValueError:
        return time.time() + _UNNAMED_LIFE
