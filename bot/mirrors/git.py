"""The one network command of git that we run, in a process that can do nothing else."""

from __future__ import annotations

import asyncio
import os
import re
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bot.errors import BotError, GoneError, RefusedError, RetryableError
from bot.mirrors.disk import size_of
from nodes.search.git import environment
from nodes.trust.secrets import mask

HEAD = "refs/heads/head"
"""Our name for the tip of the default branch, whatever its own is."""
_ADDRESS = re.compile(r"(?:https?://[\w.:-]{1,255}|file://)/[^\s\x00-\x1f]{1,1000}")
_KEPT = 16_384
_LOOK = 0.2
"""Seconds between two looks at how large a clone has grown."""
_NOTHING = ("couldn't find remote ref HEAD", "remote HEAD refers to nonexistent ref")
_REFUSED = re.compile(r"transport '")
_UNANSWERED = (
    *("unable to access", "RPC failed", "early EOF", "hung up", "unexpected disconnect"),
    *("not valid: is this a git repository", "protocol error", "expected flush", "invalid server response"),
)
"""The network, or a proxy that answers with a page of its own: neither says anything of the repository."""
# GitHub says "not found" for what we may not see, and a proxy says it for everything.
_FORBIDDEN = re.compile(
    r"returned error: 40[13]\b|Authentication failed|could not read Username|repository '[^']*' not found"
)


@dataclass(frozen=True, slots=True)
class MirrorLimits:
    """How much one mirror, and all of them, may take."""

    size: int = 2_000_000_000
    """Bytes of one mirror."""
    seconds: float = 300.0
    """For one fetch."""
    disk: int = 20_000_000_000
    """Bytes of all mirrors; past it the least recently used ones go."""


class TooLargeError(BotError):
    """A fetch grew past its limit, or took too long, and was ended."""


class ForbiddenError(RetryableError):
    """The server did not let us in: for good, or because we ask too much just now. It uses the same word for both."""


class BrokenMirrorError(BotError):
    """git cannot use what is there."""


async def fetch(directory: Path, url: str, header: str, limits: MirrorLimits, *, depth: int | None = None) -> None:
    """Bring the default branch's tip, and tags where the whole history is wanted, into a bare repository.

    Raises:
        GoneError: there is no commit.
        RefusedError: there is no such repository.
        TooLargeError: a limit was met.
        BrokenMirrorError: what is on disk is in the way.
        RetryableError: the network, or the server; a ``ForbiddenError`` may be for good.
    """
    if not _ADDRESS.fullmatch(url):
        raise RefusedError("the clone address is not one that is fetched from")
    shallow = [f"--depth={depth}"] if depth else []
    wanted = [f"+HEAD:{HEAD}"] + ([] if depth else ["+refs/tags/*:refs/tags/*"])
    arguments = ["fetch", "--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-recurse-submodules"]
    command = ["git", "--git-dir", str(directory), *arguments, *shallow, "--", url, *wanted]
    process = await asyncio.create_subprocess_exec(
        *command, env=_environment(url, header), stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, start_new_session=True
    )
    says = await _bounded(process, directory, limits)
    if process.returncode:
        raise _fault(says)


async def run(*arguments: str) -> str:
    """Run a local git command and return what it printed.

    Raises:
        BrokenMirrorError: it failed.
    """
    process = await asyncio.create_subprocess_exec(
        "git", *arguments, env=environment(), stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise BrokenMirrorError(f"git {arguments[-1]} failed")
    return said.decode("utf-8", "replace").strip()


async def _bounded(process: Process, directory: Path, limits: MirrorLimits) -> str:
    """Wait, with an eye on the clock and on the disk; what was begun is ended whatever happens to us."""
    assert process.stderr is not None  # noqa: S101  a pipe was asked for
    says = asyncio.ensure_future(_drained(process.stderr))
    try:
        async with asyncio.timeout(limits.seconds):
            while not says.done():
                await asyncio.wait([says], timeout=_LOOK)
                if await asyncio.to_thread(size_of, directory) > limits.size:
                    raise TooLargeError(f"larger than {limits.size} bytes")
            await process.wait()
            return (await says).decode("utf-8", "replace")
    except TimeoutError as error:
        raise TooLargeError(f"took longer than {limits.seconds:.0f} seconds") from error
    finally:
        says.cancel()
        with suppress(ProcessLookupError):
            # git's helper processes are in the same session, and may outlive it.
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _drained(stream: asyncio.StreamReader) -> bytes:
    """All of a stream, of which the beginning is kept: git must never wait for us."""
    kept = b""
    while chunk := await stream.read(8_192):
        kept = (kept + chunk)[:_KEPT]
    return kept


def _environment(url: str, header: str) -> Mapping[str, str]:
    """What git is told: through the environment, since arguments and files can be read by others."""
    parts = urlsplit(url)
    allowed = {"https", "http", "file"} & {parts.scheme}
    settings = {
        "core.hooksPath": os.devnull,
        "core.fsmonitor": "false",
        "safe.directory": "*",
        "credential.helper": "",
        "gc.autoDetach": "false",
        "http.followRedirects": "false",
        "http.lowSpeedLimit": "1000",
        "http.lowSpeedTime": "30",
        "http.userAgent": "tracehound",
    }
    if header and parts.netloc:
        settings[f"http.{parts.scheme}://{parts.netloc}/.extraHeader"] = header
    authority = os.environ.get("SSL_CERT_FILE")
    if authority:
        settings["http.sslCAInfo"] = authority
    told = {
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_ASKPASS": "",
        "GIT_ALLOW_PROTOCOL": ":".join(allowed) or "none",
    }
    for number, (name, value) in enumerate(settings.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return environment() | told


def _fault(says: str) -> BotError:
    line = mask(" ".join(says.split()))[:300]
    if any(sign in says for sign in _NOTHING):
        return GoneError("the repository has no commit")
    if _FORBIDDEN.search(says):
        return ForbiddenError(f"git: {line}")
    if _REFUSED.search(says):
        return RefusedError(f"git: {line}")
    if any(sign in says for sign in _UNANSWERED):
        return RetryableError(f"git: {line}")
    return BrokenMirrorError(f"git: {line}")
