"""Mirrors of target repositories: bare, limited in size, and without secrets on disk or in process arguments."""

import asyncio
import logging
import math
import os
import shutil
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from bot.errors import RefusedError
from bot.ports import RepositoryRef
from bot.runs import fetching

TAGS_KEPT = 900.0
"""Seconds after which a mirror is fetched even if its tip is current: there may be new tags."""

REFUSED_FOR = 3_600.0
"""Seconds during which a repository that cannot be fetched within the limits is not tried again."""

logger = logging.getLogger(__name__)


class CloneSource(Protocol):
    """Provides the address of a repository."""

    async def tip(self) -> str | None:
        """Return the newest commit of the default branch; None if it is unknown."""

    async def clone_url_and_header(self) -> tuple[str, str]:
        """Return the clone address and the HTTP header that authenticates the request."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """A repository on this machine, as of the last fetch."""

    directory: Path
    """The bare repository. Derived files may be stored next to it and are deleted with it."""
    sha: str
    """The tip of the default branch."""

    async def contains(self, sha: str) -> bool:
        """Return whether a pinned commit is on the default branch; its object survives a force push in the mirror."""
        try:
            await fetching.run("--git-dir", str(self.directory), "merge-base", "--is-ancestor", sha, fetching.HEAD)
        except fetching.BrokenMirrorError:
            return False
        return True


class Mirrors:
    """All mirrors below one folder, which only this process uses."""

    def __init__(
        self, root: Path, limits: fetching.MirrorLimits | None = None, *, local_addresses: bool = False
    ) -> None:
        """Use ``root`` for the mirrors; ``local_addresses`` allows paths, for a GitHub on this machine."""
        root.mkdir(parents=True, exist_ok=True)
        self._root = root
        self._local = local_addresses
        self._limits = limits or fetching.MirrorLimits()
        self._using: Counter[str] = Counter()
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._started: Counter[str] = Counter()
        self._succeeded: Counter[str] = Counter()
        """Number of the last fetch that succeeded: a caller that asked before it began need not fetch again."""
        self._tips: dict[str, tuple[str, float]] = {}
        """The tip after the last fetch, and the time of that fetch (monotonic seconds)."""
        self._too_large: dict[str, tuple[str, float]] = {}
        """The reason why a repository cannot be fetched, and the end of that state (monotonic seconds)."""

    def fault(self) -> str:
        """Return why nothing can be fetched at present; empty if there is space."""
        free, needed = shutil.disk_usage(self._root).free, self._limits.free
        return "" if free >= needed else f"{free / 1e6:,.0f} MB are free, and TRIAGE_FREE_MB is {needed / 1e6:,.0f}"

    @asynccontextmanager
    async def ready(self, repository: RepositoryRef, source: CloneSource) -> AsyncIterator[Mirror]:
        """Provide a mirror that is no older than this call, and prevent its deletion while it is used.

        Raises:
            GoneError: the repository has no commit.
            RefusedError: it does not exist, or is larger than the limits even without its history.
            RetryableError: the network or the server failed; a ``ForbiddenError`` may be permanent.
        """
        name = str(repository.id)
        self._using[name] += 1
        try:
            yield await self._fetched(name, source)
        finally:
            self._using[name] -= 1

    async def tidy(self, *, older_than: float, known: Collection[str]) -> list[str]:
        """Remove mirrors unused for this many seconds, or of unknown repositories; returns their names."""
        before = time.time() - older_than
        in_use = self._in_use
        return await asyncio.to_thread(unused, self._root, before, known=known.__contains__, in_use=in_use)

    def _in_use(self, name: str) -> bool:
        return self._using[name] > 0

    async def _fetched(self, name: str, source: CloneSource) -> Mirror:
        # A fetch that begins after this call is recent enough, even if another caller makes it while this one waits.
        started_before = self._started[name]
        directory = self._root / name / "mirror"
        async with self._locks[name]:
            if self._succeeded[name] <= started_before or not directory.exists():
                self._started[name] += 1
                if not ((directory / "HEAD").exists() and await self._is_current(name, source)):
                    self._tips.pop(name, None)
                    await self._fetch(directory, source)
                    self._tips[name] = await _tip(directory), time.monotonic()
                self._succeeded[name] = self._started[name]
            sha, _ = self._tips[name]
        # The folder's mtime is the time of last use, by which ``evict`` and ``unused`` choose.
        os.utime(directory.parent)
        await self._make_room()
        return Mirror(directory, sha)

    async def _is_current(self, name: str, source: CloneSource) -> bool:
        """Return whether the mirror is current. A request for the tip is ten times faster than an empty fetch."""
        sha, fetched = self._tips.get(name, ("", -math.inf))
        if time.monotonic() - fetched < TAGS_KEPT:
            return await source.tip() == sha
        # Only a fetch brings new tags, and only it needs space.
        if not await asyncio.to_thread(self.fault):
            return False
        try:
            self._tips[name] = await _tip(self._root / name / "mirror"), fetched
        except fetching.BrokenMirrorError:
            return False
        return await source.tip() == self._tips[name][0]

    async def _fetch(self, directory: Path, source: CloneSource) -> None:
        name = directory.parent.name
        reason, until = self._too_large.get(name, ("", 0.0))
        if time.monotonic() < until:
            raise fetching.TooLargeToFetchError(reason)
        await self._make_room()
        if fault := await asyncio.to_thread(self.fault):
            raise fetching.full(fault)
        url, header = await source.clone_url_and_header()
        if urlsplit(url).scheme == "file" and not self._local:
            raise RefusedError("a payload may not name a path on this machine")
        try:
            try:
                await self._into(directory, url, header)
            except fetching.BrokenMirrorError as error:
                logger.warning("mirror recreated", extra={"action": "mirror.broken", "reason": str(error)})
                shutil.rmtree(directory, ignore_errors=True)
                await self._into(directory, url, header)
        except (fetching.BrokenMirrorError, fetching.TooLargeError) as error:
            shutil.rmtree(directory, ignore_errors=True)
            is_large = isinstance(error, fetching.TooLargeError)
            # If git cannot use the files of an empty directory, the server's data is the cause.
            reason = f"the repository {error}" if is_large else "git cannot use the repository that the server sent"
            # Remembered for a while, since each try would cost minutes and gigabytes.
            self._too_large[name] = reason, time.monotonic() + REFUSED_FOR
            raise fetching.TooLargeToFetchError(reason) from error

    async def _into(self, directory: Path, url: str, header: str) -> None:
        """Fetch the whole history or, if that exceeds a limit, the newest commit alone."""
        try:
            await _make_bare(directory)
            await fetching.fetch(directory, url, header, self._limits)
        except fetching.TooLargeError as error:
            logger.warning("history omitted", extra={"action": "mirror.shallow", "reason": str(error)})
            shutil.rmtree(directory, ignore_errors=True)
            await _make_bare(directory)
            await fetching.fetch(directory, url, header, self._limits, depth=1)

    async def _make_room(self) -> None:
        limits = self._limits
        evicted = await asyncio.to_thread(evict, self._root, limits.disk, free=limits.free, in_use=self._in_use)
        for name in evicted:
            logger.info("mirror removed", extra={"action": "mirror.evicted", "repository": name})


async def _tip(directory: Path) -> str:
    """Return the fetched commit, by our own ref: a revision whose name the repository chooses is never an argument."""
    return await fetching.run("--git-dir", str(directory), "rev-parse", "--verify", f"{fetching.HEAD}^{{commit}}")


async def _make_bare(directory: Path) -> None:
    if (directory / "HEAD").exists():
        await asyncio.to_thread(fetching.delete_temporary_files, directory)
        return
    # Our own branch, so that git never uses a branch name that the repository chose.
    branch = fetching.HEAD.removeprefix("refs/heads/")
    await fetching.run("init", "--quiet", "--bare", "--template=", f"--initial-branch={branch}", str(directory))


def evict(root: Path, budget: int, *, in_use: Callable[[str], bool], free: int = 0) -> list[str]:
    """Remove the least recently used folders below a root until the rest fits; returns their names.

    ``in_use`` returns whether the folder of a name must stay; ``free`` bytes must be free on the disk.
    """
    folders = sorted((folder for folder in root.iterdir() if folder.is_dir()), key=lambda f: f.stat().st_mtime)
    sizes = {folder: fetching.size_of(folder) for folder in folders}
    total, removed = sum(sizes.values()), []
    # Too little free space lowers the budget: mirrors can be fetched again, and the store's data cannot.
    budget = min(budget, total - max(0, free - shutil.disk_usage(root).free))
    for folder in folders:
        if total <= budget:
            break
        if not in_use(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            total -= sizes[folder]
            removed.append(folder.name)
    return removed


def unused(root: Path, before: float, *, known: Callable[[str], bool], in_use: Callable[[str], bool]) -> list[str]:
    """Remove folders that were not used since a time or are not ``known``, unless in use; returns their names."""
    removed = []
    for folder in [folder for folder in root.iterdir() if folder.is_dir()]:
        if not in_use(folder.name) and (folder.stat().st_mtime < before or not known(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder.name)
    return removed
