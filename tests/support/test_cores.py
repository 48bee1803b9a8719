"""The option ``--cores`` of the tests: one process collects, forked ones run, and none of them ends unnoticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import patience, wait_for

ROOT = Path(__file__).parents[2]
# A shell's background jobs ignore Ctrl-C; a command in a terminal does not.
STARTED = """
import signal, sys, pytest
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(pytest.console_main())
"""
COLLECTED = """
import os, pathlib, pytest
notes = pathlib.Path({notes!r})
with open(notes / "collected", "a") as file:
    print(os.getpid(), file=file)

@pytest.fixture(scope="session", autouse=True)
def server():
    yield
    (notes / f"ended-{{os.getpid()}}").touch()

@pytest.fixture(scope="module", autouse=True)
def module(request):
    yield
    with open(notes / "modules", "a") as file:
        print(request.module.__name__, file=file)
"""


def start(folder: Path, *options: str, **files: str) -> subprocess.Popen[str]:
    """Start pytest on a folder with these files."""
    (folder / "notes").mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(COLLECTED.format(notes=str(folder / "notes")))
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return subprocess.Popen(
        [sys.executable, "-c", STARTED, "-p", "tests.support.cores", "-q", "--cores", "2", *options, str(folder)],
        cwd=ROOT,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(folder: Path, *options: str, **files: str) -> tuple[int, str]:
    """Return the exit code and what pytest printed."""
    process = start(folder, *options, **files)
    printed, _ = process.communicate(timeout=patience(40))
    return process.returncode, printed


def ended(folder: Path) -> int:
    """Return how many processes tore down what belonged to their session."""
    return len(list((folder / "notes").glob("ended-*")))


def test_one_process_collects_and_others_run_the_tests(tmp_path: Path) -> None:
    # Each file waits for the other process, which on a busy machine starts when one has run them all.
    test = (
        "import os, pathlib, time\n"
        "def test_one(tmp_path): assert not list(tmp_path.iterdir())\ndef test_two(tmp_path):\n"
        f"    seen, until = pathlib.Path({str(tmp_path / 'seen')!r}), time.monotonic() + {patience(20)}\n"
        "    (seen / str(os.getpid())).touch()\n"
        "    while len(list(seen.iterdir())) < 2 and time.monotonic() < until: time.sleep(0.01)\n"
    )
    (tmp_path / "seen").mkdir()
    (tmp_path / "below").mkdir()  # a folder with a conftest of its own
    (tmp_path / "below" / "conftest.py").write_text("")
    (tmp_path / "below" / "test_d.py").write_text(test)
    code, printed = run(tmp_path, test_a=test, test_b=test, test_c=test)
    assert (code, "8 passed" in printed) == (0, True), printed
    (collected,) = (tmp_path / "notes" / "collected").read_text().split()
    assert ended(tmp_path) == 2
    assert not (tmp_path / "notes" / f"ended-{collected}").exists()
    assert sorted((tmp_path / "notes" / "modules").read_text().split()) == ["test_a", "test_b", "test_c", "test_d"]


def test_files_are_taken_from_both_ends_so_that_short_ones_come_last(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    waits = (
        f"import pathlib, time\nmodules = pathlib.Path({str(notes / 'modules')!r})\ndef test_waits():\n"
        "    while not modules.exists() or not modules.read_text(): time.sleep(0.01)\n"
    )
    test = "def test_one(): pass\n"
    code, printed = run(tmp_path, test_a=waits, test_b=test, test_c=test, test_d=test)
    assert (code, "4 passed" in printed) == (0, True), printed
    assert (notes / "modules").read_text().split()[0] == "test_d"


def test_failures_are_reported_as_in_pytest(tmp_path: Path) -> None:
    test = (
        "import pytest\ndef test_one():\n    print('what it printed')\n    assert 1 == 2\n"
        "@pytest.mark.skip\ndef test_two(): pass\n"
    )
    code, printed = run(tmp_path, "--junitxml", str(tmp_path / "junit.xml"), test_a=test)
    assert (code, "1 failed, 1 skipped" in printed) == (1, True), printed
    assert "assert 1 == 2" in printed
    assert "what it printed" in printed
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text()


@pytest.mark.parametrize(
    ("end", "named"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "killed by SIGKILL"),
        ("os._exit(3)", "exit code 3"),
        ("ctypes.string_at(0)", "Fatal Python error: Segmentation fault"),
    ],
    ids=["killed", "exited", "segmentation-fault"],
)
def test_a_process_that_dies_fails_its_test_and_the_others_run(end: str, named: str, tmp_path: Path) -> None:
    test = (
        "import ctypes, os, signal, sys\ndef test_before(): pass\n"
        f"def test_dies():\n    os.write(1, b'its last words')\n    {end}\ndef test_after(): pass\n"
    )
    code, printed = run(tmp_path, test_a=test, test_b="def test_other(): pass\n")
    assert (code, "1 failed, 3 passed" in printed) == (1, True), printed
    assert "test_dies" in printed
    assert named in printed
    assert "its last words" in printed


def test_a_failing_teardown_of_the_session_is_a_failure(tmp_path: Path) -> None:
    test = (
        "import pytest\n@pytest.fixture(scope='session')\ndef late():\n    yield\n    raise OSError('it stays')\n"
        "def test_one(late): pass\n"
    )
    code, printed = run(tmp_path, test_a=test)
    assert (code, "OSError: it stays" in printed) == (1, True), printed


def test_it_stops_at_the_first_failure_if_asked_to(tmp_path: Path) -> None:
    files = {f"test_{number}": "def test_one(): assert False\n" for number in range(12)}
    code, printed = run(tmp_path, "-x", **files)
    assert code == 1
    assert "stopping after" in printed
    assert printed.count("\nFAILED") <= 4, printed


def test_after_ctrl_c_each_process_runs_its_teardown(tmp_path: Path) -> None:
    test = (
        f"import pathlib, time\nnotes = pathlib.Path({str(tmp_path)!r}, 'notes')\n"
        "def test_long():\n    (notes / f'begun-{__name__}').touch()\n    time.sleep(600)\n"
    )
    process = start(tmp_path, test_a=test, test_b=test)
    wait_for(lambda: len(list((tmp_path / "notes").glob("begun-*"))) == 2, 30)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=patience(20))
    assert (process.returncode, "KeyboardInterrupt" in printed) == (2, True), printed
    assert ended(tmp_path) == 2


def test_worker_processes_end_if_their_parent_is_killed(tmp_path: Path) -> None:
    test = (
        f"import pathlib, time\nnotes = pathlib.Path({str(tmp_path)!r}, 'notes')\n"
        "def test_long():\n    (notes / f'begun-{__name__}').touch()\n    time.sleep(1)\n"
        "def test_next(): time.sleep(600)\n"
    )
    process = start(tmp_path, test_a=test, test_b=test)
    wait_for(lambda: len(list((tmp_path / "notes").glob("begun-*"))) == 2, 30)
    process.kill()
    process.communicate(timeout=patience(20))
    wait_for(lambda: ended(tmp_path) == 2, 20)


def test_a_folder_without_tests_is_a_failure(tmp_path: Path) -> None:
    assert run(tmp_path)[0] == pytest.ExitCode.NO_TESTS_COLLECTED


def test_xdist_cannot_be_used_at_the_same_time(tmp_path: Path) -> None:
    code, printed = run(tmp_path, "-p", "xdist.plugin", "-n", "2")
    assert (code, "--cores excludes -n and --cov" in printed) == (pytest.ExitCode.USAGE_ERROR, True), printed
