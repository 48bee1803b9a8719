"""Mirrors, fetched over HTTP by a real git from a real repository."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
import uvloop

from bot.errors import BotError, GoneError, RateLimitedError, RefusedError, RetryableError
from bot.github.app import GitHub
from bot.ports import RepositoryRef
from bot.runs import fetching as mirror_git
from bot.runs.fetching import BrokenMirrorError, ForbiddenError, MirrorLimits
from bot.runs.mirrors import Mirrors
from bot.store.writes import StoredWrites
from tests.servers.github_server import Fault, GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, INSTALLATION, Repo
from tests.support.patience import patience
from tests.support.repositories import git, make_repository
from tests.support.small_disk import filled, small_disk


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as running:
        yield running


@pytest.fixture
def repo(server: GitHubServer, tmp_path: Path) -> Repo:
    make_repository(tmp_path / "theirs", {"a.py": "one = 1\n"})
    return server.world.repository(git=tmp_path / "theirs" / ".git")


@pytest.fixture
async def source(server: GitHubServer, repo: Repo, writes: StoredWrites):
    github = GitHub(
        app_id=str(APP_ID), private_key=private_key(), writes=writes, api_url=server.url, server_url=server.url
    )
    yield github.for_repository(ref_to(repo))
    await github.aclose()


def ref_to(repo: Repo) -> RepositoryRef:
    return RepositoryRef("127.0.0.1", INSTALLATION, repo.id, repo.owner, repo.name)


async def test_a_mirror_has_the_tip_the_history_and_the_tags(tmp_path, repo, source) -> None:
    git(tmp_path / "theirs", "tag", "v1")
    tip = make_repository(tmp_path / "theirs", {"a.py": "one = 2\n"})
    async with Mirrors(tmp_path / "repos").ready(ref_to(repo), source) as mirror:
        assert mirror.sha == tip
        assert mirror.directory == tmp_path / "repos" / str(repo.id) / "mirror"
        assert git(mirror.directory, "tag").split() == [b"v1"]
        assert git(mirror.directory, "rev-parse", "HEAD").decode().strip() == tip
        assert await mirror.contains(git(tmp_path / "theirs", "rev-parse", "v1").decode().strip())
        assert not await mirror.contains("0" * 40)


async def test_a_later_call_sees_what_was_pushed_since_even_by_force(tmp_path, repo, source) -> None:
    mirrors = Mirrors(tmp_path / "repos")
    async with mirrors.ready(ref_to(repo), source) as mirror:
        old = mirror.sha
    git(tmp_path / "theirs", "commit", "--quiet", "--amend", "--message", "Other")
    tip = git(tmp_path / "theirs", "rev-parse", "HEAD").decode().strip()
    async with mirrors.ready(ref_to(repo), source) as mirror:
        assert mirror.sha == tip
        assert git(mirror.directory, "cat-file", "-t", old) == b"commit\n"  # the object alone proves nothing
        assert not await mirror.contains(old)


async def test_a_fetch_into_a_full_disk_waits_and_leaves_the_mirror_as_it_was(tmp_path, repo, source) -> None:
    with small_disk(tmp_path / "repos") as root:
        mirrors = Mirrors(root, MirrorLimits(free=0))
        async with mirrors.ready(ref_to(repo), source) as mirror:
            old = mirror.sha
        tip = make_repository(tmp_path / "theirs", {f"{n}.bin": os.urandom(60_000).hex() for n in range(10)})
        with filled(root):
            for _ in range(2):
                with pytest.raises(RateLimitedError, match="No space left"):
                    async with mirrors.ready(ref_to(repo), source):
                        pass
            assert git(root / str(repo.id) / "mirror", "cat-file", "-t", old) == b"commit\n"
        async with mirrors.ready(ref_to(repo), source) as mirror:
            assert mirror.sha == tip


async def test_a_current_mirror_is_used_although_the_disk_is_full(tmp_path, repo, source) -> None:
    async with Mirrors(tmp_path / "repos").ready(ref_to(repo), source) as mirror:
        fetched = mirror.sha
    full = Mirrors(tmp_path / "repos", MirrorLimits(free=10**18))
    assert "TRIAGE_FREE_MB" in full.fault()
    async with full.ready(ref_to(repo), source) as mirror:
        assert mirror.sha == fetched
    make_repository(tmp_path / "theirs", {"a.py": "one = 2\n"})
    with pytest.raises(RateLimitedError, match="no space to fetch"):
        async with full.ready(ref_to(repo), source):
            pass


async def test_no_secret_is_left_on_disk_or_shown_in_arguments(tmp_path, server, repo, source, monkeypatch) -> None:
    seen = tmp_path / "arguments"
    spy = tmp_path / "bin" / "git"
    spy.parent.mkdir()
    real = next(Path(part) / "git" for part in os.environ["PATH"].split(":") if (Path(part) / "git").exists())
    spy.write_text(f'#!/bin/sh\necho "$@" >> {seen}\nexec {real} "$@"\n')
    spy.chmod(spy.stat().st_mode | stat.S_IEXEC)
    monkeypatch.setenv("PATH", f"{spy.parent}:{os.environ['PATH']}")
    async with Mirrors(tmp_path / "repos").ready(ref_to(repo), source):
        pass
    _, header = await source.clone_url_and_header()
    secrets = [header.rpartition(" ")[2], *server.world.tokens]
    files = [file for file in (tmp_path / "repos").rglob("*") if file.is_file()]
    assert files
    for secret in secrets:
        assert secret not in seen.read_text()
        assert not any(secret.encode() in file.read_bytes() for file in files)


async def test_nothing_in_a_repository_is_run(tmp_path, repo, source) -> None:
    theirs = tmp_path / "theirs"
    make_repository(theirs, {".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = {theirs}\n', "a.py": ""})
    git(theirs, "config", "uploadpack.packObjectsHook", "touch /tmp/never")
    async with Mirrors(tmp_path / "repos").ready(ref_to(repo), source) as mirror:
        assert not list(mirror.directory.glob("hooks/*"))
        assert not (mirror.directory / "modules").exists()


@pytest.mark.parametrize("left", ["shallow.lock", "refs/heads/head.lock", "packed-refs.lock"])
async def test_leftovers_of_a_killed_git_are_removed(tmp_path, repo, source, left) -> None:
    mirrors = Mirrors(tmp_path / "repos")
    async with mirrors.ready(ref_to(repo), source) as mirror:
        pass
    (mirror.directory / left).write_text("")
    tip = make_repository(tmp_path / "theirs", {"a.py": "one = 3\n"})
    async with mirrors.ready(ref_to(repo), source) as mirror:
        assert mirror.sha == tip


async def test_a_broken_mirror_is_created_again(tmp_path, repo, source) -> None:
    mirrors = Mirrors(tmp_path / "repos")
    async with mirrors.ready(ref_to(repo), source) as mirror:
        pass
    for pack in mirror.directory.glob("objects/pack/*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(b"PACK nonsense")
    for loose in mirror.directory.glob("objects/??/*"):
        loose.chmod(0o600)
        loose.write_bytes(b"nonsense")
    make_repository(tmp_path / "theirs", {"a.py": "one = 4\n"})
    async with mirrors.ready(ref_to(repo), source) as mirror:
        assert git(mirror.directory, "show", "HEAD:a.py") == b"one = 4\n"


async def test_concurrent_requests_share_a_fetch_that_started_after_them(tmp_path, repo, source) -> None:
    mirrors, fetches = Mirrors(tmp_path / "repos"), 0

    class Counting(At):
        async def clone_url_and_header(self) -> tuple[str, str]:
            nonlocal fetches
            fetches += 1
            return await source.clone_url_and_header()

    async def use() -> str:
        async with mirrors.ready(ref_to(repo), Counting("")) as mirror:
            return mirror.sha

    assert len(set(await asyncio.gather(*(use() for _ in range(8))))) == 1
    assert fetches == 2


async def test_a_mirror_at_the_newest_commit_is_not_fetched_again(tmp_path, server, repo, source) -> None:
    mirrors, shas = Mirrors(tmp_path / "repos"), []
    fetches: list[str] = []
    server.fault = lambda call: fetches.append(call.path) if call.path.endswith("info/refs") else None
    for _ in range(3):
        async with mirrors.ready(ref_to(repo), source) as mirror:
            shas.append(mirror.sha)
    assert len(fetches) == 1
    shutil.rmtree(mirror.directory)
    async with mirrors.ready(ref_to(repo), source) as mirror:
        assert {mirror.sha} == set(shas)
    assert await mirror.contains(mirror.sha)


async def test_a_failed_fetch_serves_no_request(tmp_path, repo, source) -> None:
    mirrors = Mirrors(tmp_path / "repos")
    async with mirrors.ready(ref_to(repo), source):
        pass
    repo.git = None

    async def use() -> None:
        async with mirrors.ready(ref_to(repo), source):
            raise AssertionError

    results = await asyncio.gather(*(use() for _ in range(3)), return_exceptions=True)
    assert {type(error) for error in results} == {ForbiddenError}


async def test_too_large_a_history_is_left_out_and_too_large_a_tree_refused(tmp_path, repo, source) -> None:
    theirs = tmp_path / "theirs"
    for number in range(12):
        make_repository(theirs, {"a.py": f"n = {number}\n", "noise.bin": os.urandom(60_000)})
    tip = make_repository(theirs, {"a.py": "n = 99\n"})
    async with Mirrors(tmp_path / "repos", MirrorLimits(size=300_000)).ready(ref_to(repo), source) as mirror:
        assert mirror.sha == tip
        assert git(mirror.directory, "rev-list", "--count", "HEAD").strip() == b"1"
    make_repository(theirs, {"noise.bin": os.urandom(600_000)})
    with pytest.raises(RefusedError, match="larger than"):
        async with Mirrors(tmp_path / "repos2", MirrorLimits(size=300_000)).ready(ref_to(repo), source):
            pass
    assert not (tmp_path / "repos2" / str(repo.id) / "mirror").exists()


async def test_the_least_recently_used_mirror_is_deleted_first_and_none_in_use(tmp_path, server, repo, source) -> None:
    mirrors = Mirrors(tmp_path / "repos", MirrorLimits(disk=1))
    root = tmp_path / "repos"
    for number in (5, 6):
        (root / str(number)).mkdir()
        (root / str(number) / "index.db").write_bytes(b"x" * 100)
    async with mirrors.ready(ref_to(repo), source):
        assert [folder.name for folder in root.iterdir()] == [str(repo.id)]
    roomy = Mirrors(root, MirrorLimits(disk=10**9))
    (root / "5").mkdir()
    async with roomy.ready(ref_to(repo), source):
        assert {folder.name for folder in root.iterdir()} == {"5", str(repo.id)}


async def test_an_empty_repository_is_distinguished_from_a_missing_one(tmp_path, server, repo, source) -> None:
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "--quiet", "--bare")
    repo.git = tmp_path / "empty"
    with pytest.raises(GoneError):
        async with Mirrors(tmp_path / "repos").ready(ref_to(repo), source):
            pass
    repo.git = None
    with pytest.raises(ForbiddenError):
        async with Mirrors(tmp_path / "repos").ready(ref_to(repo), source):
            pass


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        pytest.param(Fault(status=502), RetryableError, id="it-fails"),
        pytest.param(Fault(), RetryableError, id="it-hangs-up"),
        pytest.param(Fault(status=429, headers={"Retry-After": "1"}), RetryableError, id="too-many-calls"),
        pytest.param(Fault(status=403, headers={"Retry-After": "1"}), ForbiddenError, id="a-limit-or-for-good"),
        pytest.param(Fault(status=404), ForbiddenError, id="it-is-not-there-or-not-ours"),
    ],
)
async def test_a_fetch_that_fails_is_distinguished_from_one_that_is_refused(
    tmp_path, server, repo, fault, kind
) -> None:
    server.fault = lambda _call: fault
    with pytest.raises(BotError) as raised:
        async with Mirrors(tmp_path / "repos").ready(ref_to(repo), At(f"{server.url}/octo/not-found-403-401.git")):
            pass
    assert type(raised.value) is kind


class At:
    """A source that names one address."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def tip(self) -> None:
        return None

    async def clone_url_and_header(self) -> tuple[str, str]:
        return self.url, "Authorization: Basic eA=="


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "ext::sh -c touch% /tmp/never",
        "--upload-pack=touch /tmp/never",
        "ssh://host/x.git",
        "git@host:x.git",
        "https://host/a b",
        "http://host/x\n--foo",
        "/etc",
    ],
)
async def test_an_address_without_http_is_refused(tmp_path, repo, url) -> None:
    with pytest.raises(RefusedError):
        async with Mirrors(tmp_path / "repos").ready(ref_to(repo), At(url)):
            pass


async def test_a_server_that_is_down_is_retried_later(tmp_path, repo) -> None:
    with pytest.raises(RetryableError):
        async with Mirrors(tmp_path / "repos").ready(ref_to(repo), At("http://127.0.0.1:9/x.git")):
            pass


async def test_a_local_path_is_fetched_from_where_github_runs_on_this_machine(tmp_path, repo) -> None:
    mirrors = Mirrors(tmp_path / "repos", local_addresses=True)
    async with mirrors.ready(ref_to(repo), At(f"file://{tmp_path}/theirs/.git")) as mirror:
        assert git(mirror.directory, "show", "HEAD:a.py") == b"one = 1\n"


@pytest.mark.parametrize("script", ["exec sleep 600", "exec >&-; exec sleep 600"], ids=["silent", "output-closed"])
async def test_a_local_command_that_does_not_end_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    never = tmp_path / "bin" / "git"
    never.parent.mkdir()
    never.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\n{script}\n")
    never.chmod(0o755)
    monkeypatch.setenv("PATH", str(never.parent), prepend=os.pathsep)
    monkeypatch.setattr(mirror_git, "_LOCAL", patience(0.3))
    with pytest.raises(BrokenMirrorError, match="timed out"):
        await mirror_git.run("rev-parse", "HEAD")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


class _Watched:
    """A pipe that records whether it was still open when it was closed."""

    def __init__(self, pipe: IO[bytes], lost: list[OSError]) -> None:
        self._pipe, self._lost = pipe, lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)

    def close(self) -> None:
        try:
            if not self._pipe.closed:
                os.fstat(self._pipe.fileno())
        except OSError as error:
            self._lost.append(error)
        self._pipe.close()


@pytest.mark.parametrize("loop", [uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def test_a_pipe_is_closed_once_as_its_number_may_be_another_threads_then(
    monkeypatch: pytest.MonkeyPatch, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    lost: list[OSError] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            self.stdout = _Watched(self.stdout, lost)  # type: ignore[assignment,arg-type]

    monkeypatch.setattr(subprocess, "Popen", Popen)
    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(mirror_git.run("version")).startswith("git version")
    assert lost == []
