"""A parser that hangs costs its deadline once and one file's outline, and never blocks the triage process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from nodes.search.cache import Cache
from nodes.search.engine import Engine
from nodes.search.git import Repository
from nodes.search.index.loading import Loaded, load_index
from nodes.search.languages import pool, protocol
from nodes.search.types import Query
from tests.search.states import state
from tests.serve.app import processes_of, wait_for
from tests.support.patience import patience
from tests.support.repositories import make_repository

pytestmark = pytest.mark.usefixtures("fresh_helpers")

SOUND = {
    "lib/parser.rb": "class Parser\n  def parse_header(line)\n    raise 'header line has no colon'\n  end\nend\n",
    "lib/writer.js": "export function writeRows(rows) {\n  return rows;\n}\n",
    "pkg/reader.py": "def read_rows():\n    return 1\n",
    "README.md": "What it is\n",
}
HANGS = "// wreckage\n" + ("case 1:" * 20 + "\n") * 140
"""A TypeScript file whose parser needs minutes."""


def load(path: Path, cache: Cache | None = None) -> Loaded:
    repository = Repository.open(path)
    return load_index(repository, repository.resolve(), cache, lambda *_: None)


def definitions(loaded: Loaded, path: str) -> tuple[str, ...]:
    return loaded.index.meta(loaded.index.number_of[path]).names


def test_a_file_that_misses_its_deadline_is_searched_as_plain_text_and_remembered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make_repository(tmp_path / "r", {**SOUND, "lib/bad.ts": HANGS})
    cache = Cache(tmp_path / "cache")
    loaded = load(tmp_path / "r", cache)
    assert loaded.unparsed == 1
    assert definitions(loaded, "lib/parser.rb") == ("Parser", "Parser.parse_header")
    assert definitions(loaded, "lib/writer.js") == ("writeRows",)
    assert definitions(loaded, "lib/bad.ts") == ()
    assert Engine(tmp_path / "r", tmp_path).find(Query("wreckage"), "HEAD").files[0].path == "lib/bad.ts"
    record = next(record for record in caplog.records if record.name.startswith("nodes."))
    assert vars(record)["action"] == "index_unparsed"
    again = load(tmp_path / "r", cache)
    assert (again.parsed, state(again.index)) == (0, state(loaded.index))


def test_a_language_that_misses_too_often_is_read_as_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "MAX_MISSED_OF_A_LANGUAGE", 1)
    bad = {f"lib/bad{number}.ts": f"// {number}\n{HANGS}" for number in range(12)}
    last = "class Last {}\n" + "// it is the largest, so it comes last\n" * 5_000
    make_repository(tmp_path / "r", {**SOUND, **bad, "lib/last.ts": last, "last.js": "function last() {}\n" * 9_000})
    loaded = load(tmp_path / "r")
    assert loaded.unparsed == len(bad) + 1
    assert definitions(loaded, "lib/parser.rb")
    assert definitions(loaded, "last.js")
    assert definitions(loaded, "lib/last.ts") == ()


def test_too_many_missed_deadlines_end_the_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_MISSED", 1)
    bad = {f"lib/bad{number}.ts": f"// {number}\n{HANGS}" for number in range(4)}
    make_repository(tmp_path / "r", {**SOUND, **bad})
    loaded = load(tmp_path / "r")
    assert loaded.unparsed == len(bad)
    assert loaded.texts == len(SOUND) + len(bad)
    assert definitions(loaded, "pkg/reader.py")


def test_nothing_is_parsed_after_too_many_missed_deadlines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_MISSED", 1)
    largest = "function last() {}\n" * 9_000  # files are parsed from the smallest to the largest
    make_repository(tmp_path / "r", {**SOUND, "lib/bad.ts": HANGS, "last.js": largest})
    loaded = load(tmp_path / "r")
    assert definitions(loaded, "lib/parser.rb")
    assert (loaded.unparsed, definitions(loaded, "last.js")) == (2, ())


def test_processor_time_of_all_files_together_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_PROCESSOR", 0.0)
    files = {f"a{number}.js": f"function f{number}() {{}}\n" * 500 for number in range(300)}
    make_repository(tmp_path / "r", files)
    loaded = load(tmp_path / "r")
    assert loaded.texts == len(files)
    assert loaded.unparsed > 0


def test_other_helpers_continue_the_work_of_a_killed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "r", SOUND)
    expected = state(load(tmp_path / "r").index)
    begin = protocol.Helper.__init__
    killed: list[int] = []

    def begin_and_die(self, *given, **named):
        begin(self, *given, **named)
        if not killed:
            killed.append(self._process.pid)
            self._process.kill()

    monkeypatch.setattr(protocol.Helper, "__init__", begin_and_die)
    assert state(load(tmp_path / "r").index) == expected
    assert killed


def test_a_helper_that_makes_no_progress_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sha = make_repository(tmp_path / "r", {"bad.ts": HANGS})
    repository = Repository.open(tmp_path / "r")
    (entry,) = repository.tree(sha)
    jobs = [protocol.BlobToParse("bad.ts", entry.path, entry.blob, entry.size)]
    monkeypatch.setattr(protocol, "STALL", 0.0)
    helper = protocol.Helper(protocol.Task(str(repository.directory), jobs, os.getpid(), []))
    try:
        os.kill(helper._process.pid, signal.SIGSTOP)
        assert helper.ended() == -signal.SIGKILL
    finally:
        helper.close()


@pytest.mark.parametrize("code", [1, -signal.SIGKILL])
def test_without_a_working_helper_no_wrong_index_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    make_repository(tmp_path / "r", SOUND)
    cache = Cache(tmp_path / "cache")
    expected = state(load(tmp_path / "r").index)
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", "/bin/false" if code == 1 else _killed(tmp_path))
        loaded = load(tmp_path / "r", cache)
    assert definitions(loaded, "lib/parser.rb") == ()
    assert definitions(loaded, "pkg/reader.py") == ("read_rows",)
    assert state(load(tmp_path / "r", cache).index) == expected


def _killed(folder: Path) -> str:
    script = folder / "killed"
    script.write_text("#!/bin/sh\nkill -9 $$\n")
    script.chmod(0o755)
    return str(script)


def test_files_that_the_parent_cannot_read_plainly_go_to_a_helper(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"a.py": "def f():\n\treturn 1\n", "b.py": "def g():\n    return 1\n"})
    loaded = load(tmp_path / "r")
    assert (definitions(loaded, "a.py"), definitions(loaded, "b.py")) == (("f",), ("g",))


def test_batches_and_helpers_do_not_change_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{folder}/{name}": text for folder in "abc" for name, text in SOUND.items()}
    make_repository(tmp_path / "r", {**files, "tabs.py": "def f():\n\treturn 1\n"})
    expected = state(load(tmp_path / "r").index)
    monkeypatch.setattr(pool, "BATCH_BYTES", 50)
    monkeypatch.setattr(pool, "helpers_for", lambda _hard, _easy: 2)
    assert state(load(tmp_path / "r").index) == expected


PLAIN_FILES = {f"pkg/part{number}.py": f"def part_{number}():\n    return {number}\n" for number in range(30)}


def test_what_a_killed_helper_did_not_finish_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "r", PLAIN_FILES)
    expected = state(load(tmp_path / "r").index)
    monkeypatch.setattr(pool, "BATCH_BYTES", 200)
    monkeypatch.setattr(pool, "helpers_for", lambda _hard, _easy: 2)
    begin = protocol.Helper.__init__
    stopped: list[int] = []

    def begin_and_die(self, *given, **named):
        begin(self, *given, **named)
        if not stopped:
            stopped.append(self._process.pid)
            wait_for(lambda: os.fstat(self._output.fileno()).st_size > 0, 30)
            self._process.kill()

    monkeypatch.setattr(protocol.Helper, "__init__", begin_and_die)
    assert state(load(tmp_path / "r").index) == expected
    assert stopped


def test_an_index_without_all_of_its_blobs_is_incomplete(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"a.py": "x = 1\n"})
    repository = Repository.open(tmp_path / "r")
    (entry,) = repository.tree(repository.resolve())
    names = enumerate((("a", entry.blob), ("b", "b" * 40)))
    jobs = [protocol.BlobToParse(name, f"{name}.py", blob, 1, number) for number, (name, blob) in names]
    for some, complete in ((jobs, False), (jobs[:1], True)):
        read = pool.Pool(repository, some)
        assert [keys for keys, _ in read.build()] == [[job.key for job in some]]
        assert read.complete is complete


USES_THE_ENGINE = """
import sys
from nodes.search.engine import Engine
from nodes.search.types import Query
import bot.runs.code, bot.server.web.pages.run
ranking = Engine(sys.argv[1]).find(Query("header line has no colon"), "HEAD")
assert ranking.locations[0].symbol == "Parser.parse_header", ranking
assert not [name for name in sys.modules if name.startswith("tree_sitter")]
"""


def test_the_process_of_the_engine_loads_no_parser(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {**SOUND, "tabs.py": "def f():\n\treturn 1\n"})
    command = [sys.executable, "-c", USES_THE_ENGINE, str(tmp_path / "r")]
    assert subprocess.run(command, check=False, timeout=patience(100)).returncode == 0


LIMITED = "from nodes.search.languages.helper import _limit; _limit(); {}"


@pytest.mark.parametrize(
    ("does", "code"),
    [
        pytest.param("bytearray(2 << 30)", 1, id="memory"),
        pytest.param("import resource as r; assert r.getrlimit(r.RLIMIT_CPU)[0] == 300", 0, id="processor"),
    ],
)
def test_a_helper_limits_itself(does: str, code: int) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED.format(does)], stderr=subprocess.PIPE, check=False, timeout=60)
    assert done.returncode == code, done.stderr
    assert (b"MemoryError" in done.stderr) is (code == 1)


LOADS = "import sys; from nodes.search.engine import Engine; Engine(sys.argv[1]).warm('HEAD')"


def test_helpers_end_with_their_parent(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {f"bad{number}.ts": f"// {number}\n{HANGS}" for number in range(8)})
    parent = subprocess.Popen([sys.executable, "-c", LOADS, tmp_path / "r"])
    try:
        wait_for(lambda: len(helpers := list(processes_of(parent.pid))) > 1 and _is_helper(helpers), 60)
        helpers = list(processes_of(parent.pid))[1:]
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    wait_for(lambda: not any(map(_runs, helpers)), 60)
    assert not any(map(_runs, helpers))


def _is_helper(processes: list[int]) -> bool:
    return any(b"nodes.search.languages.helper" in _words(process) for process in processes)


def _words(process: int) -> bytes:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return b""


def _runs(process: int) -> bool:
    return bool(_words(process))


def test_other_threads_run_while_a_file_is_parsed(tmp_path: Path) -> None:
    make_repository(tmp_path / "r", {"bad.ts": HANGS})
    loading = threading.Thread(target=load, args=(tmp_path / "r",))
    loading.start()
    longest, last = 0.0, time.monotonic()
    while loading.is_alive():
        time.sleep(0.001)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    assert longest < 0.5 * max(1.0, os.getloadavg()[0])
