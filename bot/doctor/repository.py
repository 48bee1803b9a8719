"""Check one repository on GitHub: read access, configuration and labels."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator

from bot.doctor.check import Check
from bot.errors import BotError, UserError
from bot.github.token import TokenGitHub
from bot.limits import WHOLE, WriteBudget
from bot.ports import RepositoryRef
from bot.remote import token_for
from bot.repo_config.find import find_config
from bot.settings import Settings

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")


class _NoWrites:
    """Write limits of the doctor, which only reads: every write is refused and nothing is counted."""

    async def take(self, installation: str, budget: WriteBudget = WHOLE, repository: str = "") -> None:  # noqa: ARG002  the port's signature
        raise UserError("`triage doctor` writes nothing")

    async def check_paused(self, installation: str) -> None:
        """Never delay a request."""

    async def answered(self, installation: str, *, write: bool = False) -> None:
        """Count nothing."""

    async def limited(self, installation: str, after: float | None, *, whole: bool, write: bool = False) -> None:
        """Record nothing."""


def check_repository(full_name: str, settings: Settings) -> Iterator[Check]:
    """Check what a run in the repository would encounter.

    Raises:
        UserError: the name is not owner/name.
    """
    if not _NAME.fullmatch(full_name):
        raise UserError(f"--github {full_name}: write owner/name")
    try:
        yield from asyncio.run(_checked(full_name, settings))
    except BotError as error:
        says = f"cannot be read: {error}; install the App there, or set GITHUB_TOKEN"
        yield Check(ok=False, name=full_name, says=says)


async def _checked(full_name: str, settings: Settings) -> list[Check]:
    return [check async for check in _checks(full_name, settings)]


async def _checks(full_name: str, settings: Settings) -> AsyncIterator[Check]:
    token = await token_for(full_name, settings)
    github = TokenGitHub(
        token, writes=_NoWrites(), api_url=settings.github_api_url, server_url=settings.github_server_url
    )
    owner, _, name = full_name.partition("/")
    try:
        client = github.for_repository(RepositoryRef(settings.server, 0, 0, owner, name))
        sha = await client.tip()
        yield Check(
            ok=True, name=full_name, says=f"can be read; its default branch is at {sha[:10] if sha else 'no commit'}"
        )
        found = await find_config(client)
        faults = "; ".join(map(str, found.faults))
        says = f"`.github/triage.yml`: {faults}" if faults else f"mode {found.config.mode}"
        yield Check(ok=not faults, name="its configuration", says=says)
        there = await client.repository_labels()
        wanted = {*found.config.labels.map.values(), *(one for one in found.config.labels.allowed if "*" not in one)}
        missing = sorted(wanted - there)
        says = (
            "these labels do not exist, so they are never set; create them, or remove them "
            f"from the configuration: {', '.join(missing)}"
            if missing
            else "all there"
        )
        yield Check(ok=not (set(found.config.labels.map.values()) & set(missing)), name="its labels", says=says)
    finally:
        await github.aclose()
