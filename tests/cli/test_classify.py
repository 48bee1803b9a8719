"""``triage classify`` reads and prints lines."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.cli.process import ROOT, command, environment, triage
from tests.support.patience import patience
from tests.support.preloaded import Forked

CRASH = {"title": "Crash when the file is empty", "body": "It fails with an error."}
ADD = {"title": "Add support for YAML", "body": None}


def lines(*issues: object) -> bytes:
    return b"".join(json.dumps(issue).encode() + b"\n" for issue in issues)


def kinds(stdout: str) -> list[str]:
    return [json.loads(line)["kind"] for line in stdout.splitlines()]


def test_results_are_in_the_order_of_the_lines(tmp_path: Path) -> None:
    done = triage(tmp_path, "classify", "-", stdin=lines(CRASH, ADD, {**CRASH, "number": 7}))
    assert (done.returncode, done.stderr) == (0, "")
    assert kinds(done.stdout) == ["bug", "feature", "bug"]
    assert all(set(json.loads(line)) == {"kind", "confidence"} for line in done.stdout.splitlines())


def test_a_file_reads_as_standard_input_does(tmp_path: Path) -> None:
    (tmp_path / "issues.jsonl").write_bytes(b"\xef\xbb\xbf" + lines(CRASH) + b"\n  \n" + lines(ADD).rstrip())
    assert kinds(triage(tmp_path, "classify", "issues.jsonl").stdout) == ["bug", "feature"]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param({"title": "Crash on start", "body": None}, id="null-body"),
        pytest.param({"title": "Crash on start"}, id="no-body"),
        pytest.param({"title": None, "body": "Crash: it fails with a wrong error since 2.0."}, id="null-title"),
        pytest.param({"title": "Crash on start", "body": "It crashes. " * 500_000}, id="six-megabytes"),
        pytest.param({"title": "Crash \ud800", "body": "\x00\u202e crash"}, id="odd-characters"),
    ],
)
def test_a_valid_issue_is_classified(tmp_path: Path, line: object) -> None:
    done = triage(tmp_path, "classify", "-", stdin=lines(line))
    assert done.returncode == 0
    assert kinds(done.stdout) == ["bug"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        pytest.param(b"{", "is not JSON", id="cut"),
        pytest.param(b"[1]", "is not an object", id="list"),
        pytest.param(b'{"name": 1}', 'neither "title" nor "body"', id="no-issue"),
        pytest.param(b'{"title": 1}', '"title" that is not text', id="number"),
        pytest.param(b'{"title": "\xff"}', "not UTF-8", id="bytes"),
        pytest.param(b"[" * 200_000, "nested too deeply", id="deep"),
    ],
)
def test_a_bad_line_is_reported_after_the_results_of_the_lines_before_it(
    tmp_path: Path, line: bytes, says: str
) -> None:
    done = triage(tmp_path, "classify", "-", stdin=lines(CRASH) + b"\n" + line + b"\n" + lines(ADD))
    assert done.returncode == 2
    assert kinds(done.stdout) == ["bug"]
    assert done.stderr.startswith("triage: line 3 ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_empty_input_gives_an_empty_output(tmp_path: Path) -> None:
    done = triage(tmp_path, "classify", "-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    done = triage(tmp_path, "classify", "nowhere.jsonl")
    assert done.returncode == 2
    assert "nowhere.jsonl" in done.stderr


def test_a_result_is_printed_before_the_next_line_is_read() -> None:
    with Forked(
        command("classify", "-"), cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin
        assert process.stdout
        for issue in (CRASH, ADD):
            process.stdin.write(lines(issue))
            process.stdin.flush()
            assert "kind" in json.loads(process.stdout.readline())
        process.stdin.close()
        assert process.wait(patience(60)) == 0


def test_ctrl_c_ends_a_command_with_the_exit_code_that_help_names(tmp_path: Path) -> None:
    arguments = command("classify", "-")
    with Forked(arguments, cwd=tmp_path, env=environment(), stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(CRASH))
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=patience(60)) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b"stopped\n"
