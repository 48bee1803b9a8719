"""A malicious git server costs limited time, memory and disk, and is not retried for a while."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from bot.errors import RateLimitedError, RetryableError
from bot.ports import RepositoryRef
from bot.runs.fetching import MirrorLimits, TooLargeToFetchError, fetch, size_of, with_limits
from bot.runs.mirrors import Mirrors, evict
from tests.servers.hostile_git import (
    delta_bomb,
    dribble,
    endless_negotiation,
    endless_pack,
    endless_refs,
    many_objects,
    refs,
    serve_hostile,
)
from tests.support.patience import patience
from tests.support.repositories import git

pytestmark = pytest.mark.tried("git bombs and hostile git servers")

REF = RepositoryRef("127.0.0.1", 1, 7, "octo", "bomb")
TIGHT = MirrorLimits(size=3_000_000, seconds=3.0, memory=200_000_000, free=0)
ROOMY = MirrorLimits(size=500_000_000, seconds=120.0, memory=200_000_000, free=0)


class At:
    """A source that names one address."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def tip(self) -> None:
        return None

    async def clone_url_and_header(self) -> tuple[str, str]:
        return self.url, ""


@pytest.mark.parametrize(
    ("pack", "advertised", "limits", "says"),
    [
        pytest.param(endless_pack, refs, TIGHT, "larger than 3,000,000 bytes", id="endless-pack"),
        pytest.param(dribble, refs, TIGHT, "longer than 3 seconds", id="dribble"),
        pytest.param(endless_negotiation, refs, TIGHT, "longer than 3 seconds", id="endless-negotiation"),
        pytest.param(endless_pack, endless_refs, ROOMY, "more memory", id="endless-refs"),
        pytest.param(many_objects, refs, ROOMY, "more memory", id="many-objects"),
        pytest.param(delta_bomb, refs, ROOMY, "more memory", id="delta-bomb"),
    ],
)
async def test_a_hostile_server_is_ended_by_a_limit_and_not_contacted_again(
    tmp_path: Path,
    pack: Callable[[], Iterable[bytes]],
    advertised: Callable[[], Iterable[bytes]],
    limits: MirrorLimits,
    says: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    mirrors, root = Mirrors(tmp_path / "repos", limits), tmp_path / "repos"
    with caplog.at_level(logging.WARNING), serve_hostile(pack, advertised) as server:
        await refused(mirrors, server.url)
        assert any(says in str(vars(record).get("reason", "")) for record in caplog.records), caplog.records
        requests = len(server.asked)
        began = time.monotonic()
        assert "the repository" in await refused(mirrors, server.url)
        assert (len(server.asked), time.monotonic() - began < 30) == (requests, True)
    assert size_of(root) < 1_000_000
    assert not processes_in(root)


async def refused(mirrors: Mirrors, url: str) -> str:
    with pytest.raises(TooLargeToFetchError) as raised:
        async with mirrors.ready(REF, At(url)):
            pass
    return str(raised.value)


def processes_in(root: Path) -> list[str]:
    """Return the command lines of processes whose working directory is below a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if os.fsencode(root) in words and int(process.name) != os.getpid():
            found.append(words.replace(b"\0", b" ").decode(errors="replace"))
    return found


async def test_a_response_without_a_repository_is_refused(tmp_path: Path) -> None:
    def nonsense() -> Iterable[bytes]:
        yield b"0008NAK\n0010\x01PACK\0\0\0\x02xx"

    with serve_hostile(nonsense) as server, pytest.raises((TooLargeToFetchError, RetryableError)):
        async with Mirrors(tmp_path / "repos", ROOMY).ready(REF, At(server.url)):
            pass
    assert size_of(tmp_path / "repos") < 1_000_000


async def test_nothing_is_fetched_onto_a_full_disk(tmp_path: Path) -> None:
    limits = MirrorLimits(free=shutil.disk_usage(tmp_path).free * 2)
    with serve_hostile(endless_pack) as server:
        with pytest.raises(RateLimitedError, match=r"no space to fetch: .* MB are free"):
            async with Mirrors(tmp_path / "repos", limits).ready(REF, At(server.url)):
                pass
        assert server.asked == []


async def test_a_fetch_that_fills_the_disk_is_ended(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "mirror")
    limits = MirrorLimits(size=500_000_000, seconds=60.0, free=shutil.disk_usage(tmp_path).free * 2)
    with serve_hostile(endless_pack) as server, pytest.raises(RateLimitedError, match="are free"):
        await fetch(tmp_path / "mirror", server.url, "", limits)


def test_no_process_of_a_fetch_writes_a_file_above_the_limit(tmp_path: Path) -> None:
    command = ["head", "-c", "9000000", "/dev/zero"]
    with (tmp_path / "pack").open("wb") as output:
        done = subprocess.run(with_limits(command, TIGHT), stdout=output, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode != 0
    assert (tmp_path / "pack").stat().st_size <= TIGHT.size + 512


def test_no_process_of_a_fetch_computes_longer_than_the_fetch_may_last() -> None:
    limits = MirrorLimits(seconds=0.5)
    done = subprocess.run(with_limits(["sh", "-c", "while :; do :; done"], limits), check=False, timeout=patience(60))
    assert -done.returncode in (signal.SIGXCPU, signal.SIGKILL)


def test_mirrors_are_deleted_until_the_disk_has_room(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "old", "used")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "pack").write_bytes(bytes(1_000_000))
        os.utime(tmp_path / name, (1_000_000 - age, 1_000_000 - age))
    gone = evict(tmp_path, 10**12, free=shutil.disk_usage(tmp_path).free + 500_000, in_use=lambda name: name == "used")
    assert gone == ["old"]
