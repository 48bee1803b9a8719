"""Locate all stored data of a repository, for the commands that export or delete it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import TypeAdapter

from bot.errors import UserError
from bot.settings import load_settings
from bot.store.databases.checkpoints import open_saver
from bot.store.databases.opening import open_existing_store
from bot.store.repository_data import RepositoryData

_ANY: TypeAdapter[Any] = TypeAdapter(Any)


@dataclass(frozen=True, slots=True)
class StoredRepository:
    """The stored repositories with one name; more than one if a repository was deleted and created again."""

    repositories: tuple[RepositoryData, ...]
    saver: BaseCheckpointSaver[Any]
    folder: Path
    """The folder of this machine's mirrors."""

    async def checkpoints(self, one: RepositoryData) -> AsyncIterator[dict[str, Any]]:
        """Yield the checkpoints of its unfinished runs."""
        for thread in await one.threads():
            found = await self.saver.aget_tuple({"configurable": {"thread_id": thread}})
            if found is not None:
                values = _ANY.dump_python(found.checkpoint["channel_values"], mode="json", fallback=str)
                yield {"table": "checkpoints", "thread": thread, "values": values}

    async def forget_checkpoints(self, one: RepositoryData) -> int:
        """Delete its checkpoints; return the number of runs."""
        threads = await one.threads()
        for thread in threads:
            await self.saver.adelete_thread(thread)
        return len(threads)

    def mirrors(self, one: RepositoryData) -> list[Path]:
        """Return its mirror on this machine; empty if there is none."""
        folder = self.folder / one.key.rpartition("/")[2]
        return [folder] if folder.is_dir() else []


@asynccontextmanager
async def opened(name: str) -> AsyncIterator[StoredRepository]:
    """Open the stored data of a repository, by its last known name.

    Raises:
        UserError: nothing is stored under this name.
    """
    settings = load_settings()
    store = open_existing_store(settings)
    try:
        keys = await store.installations.keys_of(name)
        if not keys:
            raise UserError(f"no data is stored for {name}")
        async with open_saver(settings) as saver:
            yield StoredRepository(tuple(map(store.repository_data, keys)), saver, settings.triage_data_dir / "repos")
    finally:
        await store.aclose()
