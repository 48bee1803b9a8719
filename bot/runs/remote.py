"""Read an issue on GitHub and fetch its repository, for the command line without a server."""

import fcntl
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from bot.errors import BotError, GoneError, RefusedError, UserError
from bot.files import restrict_permissions
from bot.github.app import TokenGitHub, installation_token
from bot.github.repository import RepositoryClient
from bot.github.responses import TokenRefusedError
from bot.ports import Issue, RepositoryRef
from bot.runs.code import NoCode
from bot.runs.fetching import ForbiddenError
from bot.runs.mirrors import Mirrors
from bot.server.registration import read_registration
from bot.settings.environment import Settings
from bot.settings.server import app_key

_NAME = r"([A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100})"
_REFERENCE = re.compile(rf"{_NAME}#([1-9]\d{{0,9}})")
_ADDRESS = re.compile(rf"https?://([^/\s@]{{1,255}})/{_NAME}/(?:issues|pull)/([1-9]\d{{0,9}})(?:[/?#]\S{{0,500}})?")
_HOW = "set GITHUB_TOKEN, or the App's settings, for private repositories"


@dataclass(frozen=True, slots=True)
class Reference:
    """An issue by its repository's current name and its number."""

    full_name: str
    number: int
    host: str = ""
    """The host of its address; empty for ``owner/repo#n``."""

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """Parse ``owner/repo#n`` or the address of an issue's page; return None for any other text."""
        if found := _REFERENCE.fullmatch(text or ""):
            return cls(found[1], int(found[2]))
        found = _ADDRESS.fullmatch(text or "")
        return cls(found[2], int(found[3]), found[1].lower()) if found else None

    def __str__(self) -> str:
        return f"{self.full_name}#{self.number}"


async def read_remote(reference: Reference, settings: Settings, *, clone: bool) -> tuple[Issue, Path | NoCode | None]:
    """Read an issue, and clone its repository or update the clone; return its folder, or why it cannot be fetched.

    Without GITHUB_TOKEN and the App's settings only public issues are readable.

    Raises:
        UserError: the issue does not exist or is on another server, or GitHub refuses access.
    """
    host = urlsplit(settings.github_server_url).netloc.lower()
    if reference.host not in ("", host):
        raise UserError(
            f"the issue is on {reference.host}: set GITHUB_SERVER_URL and GITHUB_API_URL, which are now those of {host}"
        )
    try:
        async with opened(reference.full_name, settings, await token_for(reference.full_name, settings)) as client:
            issue = await _issue(client, reference)
            return issue, await _mirrored(client, reference, settings) if clone else None
    # GitHub answers 404 for a private repository too, so the message names both reasons.
    except GoneError as error:
        raise UserError(f"{reference.full_name} does not exist, or cannot be read: {_HOW}") from error
    except UserError:
        raise
    except BotError as error:
        advice = "; check GITHUB_TOKEN" if isinstance(error, TokenRefusedError) else ""
        raise UserError(f"{reference}: {error}{advice}") from error


async def token_for(full_name: str, settings: Settings) -> str:
    """Return GITHUB_TOKEN if set, else a read-only installation token for this repository, else an empty string."""
    if settings.github_token is not None:
        return settings.github_token.get_secret_value()
    app, key = str(settings.github_app_id or ""), app_key(settings)
    if not app:
        kept = read_registration(settings.triage_data_dir)  # as `/setup` stored it
        app, key = kept.get("github_app_id", ""), kept.get("github_private_key")
    if not app or not key:
        return ""
    return await installation_token(full_name, app_id=app, private_key=key, api_url=settings.github_api_url)


@asynccontextmanager
async def opened(full_name: str, settings: Settings, token: str) -> AsyncIterator[RepositoryClient]:
    """Open a repository, ``owner/name``, for reading with a token or, if it is empty, without; writes are refused."""
    github = TokenGitHub(token, api_url=settings.github_api_url, server_url=settings.github_server_url)
    owner, _, name = full_name.partition("/")
    try:
        yield github.for_repository(RepositoryRef(settings.server, 0, 0, owner, name))
    finally:
        await github.aclose()


async def _issue(client: RepositoryClient, reference: Reference) -> Issue:
    issue = await client.issue(reference.number)
    if issue is None or issue.is_pull_request:
        raise UserError(f"issue {reference} does not exist, or cannot be read: {_HOW}")
    return issue


async def _mirrored(client: RepositoryClient, reference: Reference, settings: Settings) -> Path | NoCode:
    """Fetch the repository into the data directory, within the limits of the server's mirrors."""
    owner, _, name = reference.full_name.partition("/")
    host = urlsplit(settings.github_server_url).netloc
    # The id names the folder, so the clone of a renamed repository is found again.
    ref = RepositoryRef(host, 0, await client.id(), owner, name)
    restrict_permissions(settings.triage_data_dir)
    root = settings.triage_data_dir / "clones" / re.sub(r"[^\w.-]", "_", host)
    with _locked(root):
        try:
            async with Mirrors(root).ready(ref, client) as mirror:
                return mirror.directory
        except (RefusedError, ForbiddenError) as error:
            return NoCode.because(error)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """Lock the folder so that two commands never fetch into it at once; the second one waits."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        with (root / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # the kernel releases it even if the process is killed
            yield
    except OSError as error:
        raise UserError(f"cannot write to {root}: {error.strerror}; set TRIAGE_DATA_DIR") from error
