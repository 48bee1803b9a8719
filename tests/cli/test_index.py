"""``triage index`` reports its work, shares its cache, and may be killed at any time."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nodes.search.cache import Cache
from nodes.search.engine import cache_file
from nodes.search.git import Repository
from nodes.search.index.loading import load_index
from tests.cli.process import command, environment, triage
from tests.search.states import state
from tests.support.patience import patience
from tests.support.preloaded import Forked
from tests.support.repositories import make_repository

FILES = {
    f"pkg/m{number}.py": "".join(f"def f{number}_{n}(a, b):\n    return 'no {n} in {number}'\n\n\n" for n in range(60))
    for number in range(40)
}
IN_SMALL_STEPS = [sys.executable, "-m", "tests.cli.small_steps", "index", "--repo", "app"]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    make_repository(tmp_path / "app", FILES)
    return tmp_path


def test_index_prints_what_it_did(place: Path) -> None:
    first, second = (json.loads(triage(place, "index", "--repo", "app", "--json").stdout) for _ in range(2))
    assert (first["files"], first["texts"], first["parsed"], second["parsed"]) == (40, 40, 40, 0)
    assert first["cache"]["bytes"] == second["cache"]["bytes"] > 0
    assert Path(first["cache"]["path"]).exists()
    assert "40 files, 40 of them text; 0 parsed" in triage(place, "index", "--repo", "app").stdout


def test_without_a_writable_cache_queries_work_and_indexing_fails(place: Path) -> None:
    done = triage(place, "index", "--repo", "app", "--json")
    path = Path(json.loads(done.stdout)["cache"]["path"])
    shutil.rmtree(path)
    path.touch()
    refused = triage(place, "index", "--repo", "app")
    assert refused.returncode == 2
    assert "nothing could be stored" in refused.stderr.splitlines()[-1]
    answered = triage(place, "locate", "--repo", "app", "--text", "f7_3 fails")
    assert answered.returncode == 0
    assert answered.stderr.count("parsed files are not cached") == 1


def test_a_kill_at_any_instant_leaves_a_valid_cache(place: Path) -> None:
    began = time.perf_counter()
    triage(place, "locate", "--repo", "app", "--text", "x", TRIAGE_DATA_DIR=str(place / "other"))
    whole = time.perf_counter() - began
    for turn in range(6):
        process = Forked(IN_SMALL_STEPS, cwd=place, env=environment(), stdout=subprocess.DEVNULL)
        time.sleep(whole * (0.4 + turn * 0.15))
        process.kill()
        process.wait()
    assert_sound(place)


def test_concurrent_processes_write_one_valid_cache(place: Path) -> None:
    processes = [Forked(IN_SMALL_STEPS, cwd=place, env=environment(), stdout=subprocess.DEVNULL) for _ in range(3)]
    reader = Forked(
        command("locate", "--repo", "app", "--text", "f7_3 fails"), cwd=place, env=environment(), stdout=subprocess.PIPE
    )
    answer, _ = reader.communicate(timeout=patience(60))
    assert [process.wait(patience(60)) for process in processes] == [0, 0, 0]
    assert_sound(place)
    assert answer.decode() == triage(place, "locate", "--repo", "app", "--text", "f7_3 fails").stdout


def assert_sound(place: Path) -> None:
    """Check that the cache gives the same index as a fresh start, byte for byte."""
    repository = Repository.open(place / "app")
    cache = Cache(cache_file(place / "data" / "repos", repository.directory))
    sha = repository.resolve()
    known = load_index(repository, sha, cache, lambda *_: None)
    fresh = load_index(repository, sha, None, lambda *_: None)
    assert state(known.index) == state(fresh.index)
