"""Run git to fetch, the only network command, with restricted configuration and resources."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from bot.errors import BotError, GoneError, RateLimitedError, RefusedError, RetryableError
from nodes.search.git.running import environment
from nodes.trust.secrets import mask

HEAD = "refs/heads/head"
"""Our ref for the tip of the default branch, regardless of the branch's name."""
_ADDRESS = re.compile(r"(?:https?://[\w.:-]{1,255}|file://)/[^\s\x00-\x1f]{1,1000}")
_MAX_OUTPUT = 16_384
_LOOK = 0.2
"""Seconds between two checks of a clone's size."""
_OVERFLOWN = re.compile(
    "died of signal|[Oo]ut of memory|virtual memory|Cannot allocate memory|File too large|size limit exceeded"
)
"""Printed by git or a process that it started when it reached a limit of memory, time or file size."""
_NO_ROOM = 300.0
"""Seconds before a fetch is retried while the disk is full."""
_SIGNALLED = 128
"""git exits with this code for an error of its own; a shell exits with a higher one after a signal."""
_LOCAL = 60.0
"""Time limit in seconds for a command without network access."""
# A shell instead of a function between fork and exec, which is unsafe in a process with threads. ``ulimit -d`` limits
# private memory; mapped pack files do not count.
_CONFINED = '{ ulimit -d "$1"; ulimit -f "$2"; ulimit -t "$3"; } 2>/dev/null; shift 3; exec "$@"'
"""A shell sets the limits before git starts, so that every process that git starts has them too.

A limit that is already lower remains, and the shell's error about it is discarded.
"""


@dataclass(frozen=True, slots=True)
class MirrorLimits:
    """Limits on the resources of one mirror and of all mirrors."""

    size: int = 2_000_000_000
    """Maximum bytes of one mirror."""
    seconds: float = 300.0
    """Time limit of one fetch."""
    disk: int = 20_000_000_000
    """Bytes of all mirrors; above it the least recently used ones are deleted."""
    memory: int = 1_000_000_000
    """Bytes of private memory of each process of a fetch."""
    free: int = 1_000_000_000
    """Bytes of the disk that mirrors leave free."""


class TooLargeError(BotError):
    """A fetch reached a limit of size, time or memory and was ended; the message completes "the repository …"."""


class TooLargeToFetchError(RefusedError):
    """A repository cannot be fetched within the limits, not even its newest commit alone."""


class ForbiddenError(RetryableError):
    """The server refused access, permanently or because of too many requests. It gives the same response for both."""


class BrokenMirrorError(BotError):
    """git cannot use the files of the mirror or the data that the server sent."""


async def fetch(directory: Path, url: str, header: str, limits: MirrorLimits, *, depth: int | None = None) -> None:
    """Fetch the default branch's tip into a bare repository, and all tags unless ``depth`` is given.

    Raises:
        GoneError: the repository has no commit.
        RefusedError: the address or its protocol is not allowed.
        TooLargeError: a limit was reached.
        BrokenMirrorError: the files on disk prevent the fetch, or the data that the server sent is unusable.
        RetryableError: the network, the server or a full disk failed; a ``ForbiddenError`` may be permanent.
    """
    if not _ADDRESS.fullmatch(url):
        raise RefusedError("the clone address is not allowed")
    shallow = [f"--depth={depth}"] if depth else []
    refspecs = [f"+HEAD:{HEAD}"] + ([] if depth else ["+refs/tags/*:refs/tags/*"])
    arguments = ["fetch", "--quiet", "--no-tags", "--prune", "--no-write-fetch-head", "--no-recurse-submodules"]
    command = ["git", "--git-dir", str(directory), *arguments, *shallow, "--", url, *refspecs]
    process = await asyncio.create_subprocess_exec(
        *with_limits(command, limits),
        env=_environment(url, header),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=PIPE,
        start_new_session=True,
    )
    done = False
    try:
        errors = await _bounded(process, directory, limits)
        done = process.returncode == 0
    finally:
        if not done:
            await asyncio.to_thread(delete_temporary_files, directory)
    if process.returncode:
        raise _fault(errors, process.returncode)


def with_limits(command: Sequence[str], limits: MirrorLimits) -> list[str]:
    """Wrap a command in limits that all its processes inherit. ``ulimit`` counts memory in kB, files in 512 bytes."""
    limits_for_shell = (limits.memory // 1_000, limits.size // 512 + 1, int(limits.seconds) + 1)
    return ["/bin/sh", "-c", _CONFINED, "sh", *map(str, limits_for_shell), *command]


async def run(*arguments: str) -> str:
    """Run a local git command and return its output; BrokenMirrorError if it failed or took too long."""
    # Not by the event loop: uvloop forks, which copies the page tables of a large process, and it closes a pipe that it
    # is given twice. The second time that may be a file which another thread has just opened.
    command = ["git", *arguments]
    try:
        done = await asyncio.to_thread(
            subprocess.run, command, env=environment(), stdin=DEVNULL, stdout=PIPE, stderr=DEVNULL, timeout=_LOCAL
        )
    except subprocess.TimeoutExpired as error:
        raise BrokenMirrorError(f"git {arguments[-1]} timed out") from error
    if done.returncode:
        raise BrokenMirrorError(f"git {arguments[-1]} failed")
    return done.stdout.decode("utf-8", "replace").strip()


def full(message: str) -> RateLimitedError:
    """Return the error for a full disk. The job waits as long as needed, since unused mirrors may be deleted."""
    return RateLimitedError(f"no space to fetch: {message}", after=_NO_ROOM, limit="disk.full")


async def _bounded(process: Process, directory: Path, limits: MirrorLimits) -> str:
    """Wait for git, and check time and disk space; on every exit, kill the processes that are still running."""
    assert process.stderr is not None  # noqa: S101  a pipe was asked for
    errors = asyncio.ensure_future(_drained(process.stderr))
    try:
        async with asyncio.timeout(limits.seconds):
            while not errors.done():
                await asyncio.wait([errors], timeout=_LOOK)
                if await asyncio.to_thread(size_of, directory) > limits.size:
                    raise TooLargeError(f"is larger than {limits.size:,} bytes")
                if (await asyncio.to_thread(shutil.disk_usage, directory)).free < limits.free:
                    raise full(f"less than {limits.free / 1e6:,.0f} MB (TRIAGE_FREE_MB) are free")
            await process.wait()
            return (await errors).decode("utf-8", "replace")
    except TimeoutError as error:
        raise TooLargeError(f"takes longer than {limits.seconds:.0f} seconds to fetch") from error
    finally:
        errors.cancel()
        with suppress(ProcessLookupError):
            # git's helper processes are in the same session, and may outlive git.
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def _drained(stream: asyncio.StreamReader) -> bytes:
    """Read a stream to its end and return the beginning; a full pipe would block git."""
    beginning = b""
    while chunk := await stream.read(8_192):
        beginning = (beginning + chunk)[:_MAX_OUTPUT]
    return beginning


def _environment(url: str, header: str) -> Mapping[str, str]:
    """Return git's configuration as environment variables, since other users can read arguments and files."""
    parts = urlsplit(url)
    allowed = {"https", "http", "file"} & {parts.scheme}
    # ``fetch.fsckObjects`` stays off: it refuses old repositories for dates and modes that are harmless here, since no
    # object is checked out.
    settings = {
        "core.hooksPath": os.devnull,
        "core.fsmonitor": "false",
        "safe.directory": "*",
        "credential.helper": "",
        "gc.autoDetach": "false",
        # Git's hint about the empty graft file would hide its error message.
        "advice.graftFileDeprecated": "false",
        # Limits on the memory of unpacking: a blob of a few kB may expand to gigabytes.
        "core.bigFileThreshold": "32m",
        "core.deltaBaseCacheLimit": "32m",
        "core.packedGitWindowSize": "32m",
        "core.packedGitLimit": "256m",
        "pack.deltaCacheSize": "32m",
        "pack.windowMemory": "64m",
        "pack.threads": "2",
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
    variables = {
        "GIT_CONFIG_COUNT": str(len(settings)),
        "GIT_ASKPASS": "",
        "GIT_ALLOW_PROTOCOL": ":".join(allowed) or "none",
    }
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return environment() | variables


def _fault(errors: str, code: int) -> BotError:
    line = f"git: {mask(' '.join(errors.split()))[:300]}"
    if code < 0 or code > _SIGNALLED or _OVERFLOWN.search(errors):
        return TooLargeError("needs more memory, time or disk space to fetch than allowed")
    for sign, kind in _FAULTS:
        if sign.search(errors):
            return kind(line)
    return BrokenMirrorError(line)


_FAULTS: tuple[tuple[re.Pattern[str], Callable[[str], BotError]], ...] = (
    (re.compile("No space left on device"), full),
    (
        re.compile("couldn't find remote ref HEAD|remote HEAD refers to nonexistent ref"),
        lambda _line: GoneError("the repository has no commit"),
    ),
    # GitHub responds "not found" for repositories that the token may not read, and a proxy for any reason.
    (
        re.compile(
            r"returned error: 40[13]\b|Authentication failed|could not read Username|repository '[^']*' not found"
        ),
        ForbiddenError,
    ),
    (re.compile("transport '"), RefusedError),
    # A network failure, or a proxy's own page as response: neither says anything about the repository.
    (
        re.compile(
            "unable to access|RPC failed|early EOF|hung up|unexpected disconnect|not valid: is this a git repository"
            "|protocol error|expected flush|invalid server response"
        ),
        RetryableError,
    ),
)
"""Patterns of git's messages and the error for each; the first match wins."""


def size_of(directory: Path) -> int:
    """Return the bytes of the files below a directory; files that vanish during the walk count as zero."""
    total = 0
    stack = [os.fspath(directory)]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        # git deletes files and folders while this walk reads them.
        except OSError:
            continue
    return total


def delete_temporary_files(mirror: Path) -> None:
    """Delete the temporary files of a killed git process; no other process works in a mirror."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock", "objects/*/tmp_obj_*"):
        for left in mirror.glob(pattern):
            left.unlink(missing_ok=True)
