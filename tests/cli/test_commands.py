"""The small commands: help, version, graph, schema, doctor, index, locate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.report.document import result_schema
from tests.cli.process import triage
from tests.support.repositories import make_repository

KEY = "sk-test0123456789abcdef0123456789"
COMMANDS = ("run", "locate", "index", "graph", "schema", "doctor")


def test_help_lists_every_command_and_exit_code(tmp_path: Path) -> None:
    done = triage(tmp_path, "--help")
    assert done.returncode == 0
    listed = [line.split()[0] for line in done.stdout.partition("Commands:\n")[2].splitlines() if line.strip()]
    assert [name for name in listed if name in COMMANDS] == list(COMMANDS)
    assert "130" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(tmp_path: Path, name: str) -> None:
    done = triage(tmp_path, name, "--help")
    assert done.returncode == 0
    assert f"{name} [OPTIONS]" in done.stdout.splitlines()[0]


def test_version(tmp_path: Path) -> None:
    done = triage(tmp_path, "--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "triage,")


def test_the_graph_is_drawn_with_its_destinations(tmp_path: Path) -> None:
    done = triage(tmp_path, "graph")
    assert done.returncode == 0
    assert "error_handler" not in done.stdout
    edges = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("supervisor -.->")]
    assert {edge.split()[-1].rstrip(";") for edge in edges} == {
        "__end__",
        "codebase_search",
        "critic",
        "human_input",
        "investigator",
        "tool",
        "web_search",
        "writer",
    }


def test_the_printed_schema_is_that_of_results(tmp_path: Path) -> None:
    assert json.loads(triage(tmp_path, "schema").stdout) == json.loads(json.dumps(result_schema()))


def test_the_doctor_finds_no_fault_without_any_setting(tmp_path: Path) -> None:
    done = triage(tmp_path, "doctor")
    assert done.returncode == 0, done.stdout
    assert "FAIL" not in done.stdout
    assert len(done.stdout.splitlines()) <= 10
    assert "TRIAGE_BRAIN" in triage(tmp_path, "doctor", "--all").stdout


def test_the_doctor_refuses_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    done = triage(tmp_path, "doctor", "--repo", "nowhere")
    assert (done.returncode, "--repo nowhere: there is no such folder" in done.stderr) == (2, True)


def test_the_doctor_never_prints_a_key(tmp_path: Path) -> None:
    done = triage(tmp_path, "doctor", OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert done.returncode == 1
    assert KEY not in done.stdout + done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert len(failed) == 1
    assert "OPENAI_BASE_URL" in failed[0]


def test_the_doctor_names_every_malformed_setting(tmp_path: Path) -> None:
    done = triage(tmp_path, "doctor", TRIAGE_BRAIN="maybe", OPENAI_BASE_URL="ftp://x")
    assert done.returncode == 1
    failed = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAIL")}
    assert failed == {"TRIAGE_BRAIN", "OPENAI_BASE_URL"}


def test_locate_ranks_best_first_and_gives_reasons(tmp_path: Path) -> None:
    sha = make_repository(
        tmp_path / "app",
        {
            "lexer.py": "def scan(text):\n    raise ValueError('no closing quote')\n",
            "reader.py": "def read(path):\n    return open(path).read()\n",
        },
    )
    arguments = ("locate", "--repo", "app", "--text", "scan fails with 'no closing quote'")
    found = json.loads(triage(tmp_path, *arguments, "--json").stdout)
    assert list(found) == ["commit", "confidence", "files", "locations", "seconds"]
    assert found["commit"] == sha
    assert 0 <= found["confidence"] <= 1
    for ranked in (found["files"], found["locations"]):
        scores = [place["score"] for place in ranked]
        assert scores == sorted(scores, reverse=True)
    first = found["locations"][0]
    assert (first["path"], first["symbol"]) == ("lexer.py", "scan")
    assert all(set(reason) == {"kind", "text", "contribution"} for reason in first["reasons"])
    assert sum(reason["contribution"] for reason in first["reasons"]) == pytest.approx(first["score"], abs=1e-4)
    assert triage(tmp_path, *arguments).stdout.startswith("lexer.py:1-2  scan")


def test_locate_prints_no_control_characters(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"a\x1b[31m.py": "def scan(text):\n    return '\x1b]0;owned\x07'\n"})
    done = triage(tmp_path, "locate", "--repo", "app", "--text", "scan returns the wrong text")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\x1b" in done.stdout


def test_index_prints_the_commit_that_it_read(tmp_path: Path) -> None:
    sha = make_repository(tmp_path / "app", {"a.py": "def f(): pass\n"})
    done = triage(tmp_path, "index", "--repo", "app")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{sha[:12]} is indexed")
