"""A whole run on a small repository, on a terminal and in a pipe."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from bot.report.document import result_schema
from tests.cli.process import command, environment, triage
from tests.support.patience import patience
from tests.support.preloaded import Forked
from tests.support.repositories import git, make_repository

FILES = {
    "app/importer.py": "def import_orders(path):\n    with open(path) as stream:\n        return list(stream)\n",
    "app/exporter.py": "def export_orders(path):\n    with open(path, 'w') as stream:\n        stream.write('')\n",
    "app/parser.py": (
        "class ParseError(ValueError):\n    pass\n\n\ndef parse(text):\n    if not text:\n"
        "        raise ParseError('the order has no lines')\n    return text.split(',')\n"
    ),
    "tests/test_parser.py": "from app.parser import parse\n\n\ndef test_parse():\n    assert parse('a') == ['a']\n",
    "README.md": "# Orders\n",
}
ISSUE = """parse() fails on empty input

Traceback (most recent call last):
  File "app/parser.py", line 7, in parse
    raise ParseError('the order has no lines')
app.parser.ParseError: the order has no lines
"""
MISSING = """parse() fails without a text

Traceback (most recent call last):
  File "app/parser.py", line 8, in parse
    return text.split(',')
AttributeError: 'int' object has no attribute 'split'
"""
THIN = "Orders are wrong"
ANSI = "\x1b["


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with the repository ``app`` and the file ``issue.md``."""
    make_repository(tmp_path / "app", FILES)
    (tmp_path / "issue.md").write_text(ISSUE)
    return tmp_path


def test_the_comment_names_the_place(place: Path) -> None:
    done = triage(place, "run", "--repo", "app", "--issue", "issue.md")
    assert (done.returncode, done.stderr) == (0, "")
    assert "`parse` raises `app.parser.ParseError` on this line." in done.stdout
    assert "app/parser.py:" in done.stdout
    assert "The fix is probably" not in done.stdout  # the code refuses its input on purpose
    assert ANSI not in done.stdout


def test_a_live_token_in_the_issue_is_reported_and_not_repeated(place: Path) -> None:
    token = "ghp_" + "a1B2" * 9
    (place / "issue.md").write_text(f"{ISSUE}\nMy token is {token}\n")
    done = triage(place, "run", "issue.md", "--repo", "app")
    assert "what looks like a live token" in done.stderr
    assert token not in done.stdout + done.stderr


def test_the_document_matches_its_schema(place: Path) -> None:
    result = document(place)
    jsonschema.validate(result, result_schema())
    assert result["report"]["suspects"][0]["path"] == "app/parser.py"
    assert [entry["node"] for entry in result["trace"]][-1] in ("writer", "supervisor")


def test_every_quote_is_identical_to_the_commit(place: Path) -> None:
    (place / "app/app").mkdir(exist_ok=True)
    (place / "app/app/parser.py").write_text("the work tree says something else\n")
    report = document(place)["report"]
    assert report["suspects"]
    for suspect in report["suspects"]:
        held = git(place / "app", "show", f"{report['commit']}:{suspect['path']}").decode().split("\n")
        assert suspect["quote"].split("\n") == held[suspect["quote_start"] - 1 : suspect["quote_end"]]
        assert suspect["checked"]


def test_earlier_issues_from_a_file_are_compared_with(place: Path) -> None:
    deeper = ISSUE.partition("\n")[2].replace("line 7", "line 70")
    others = [{"number": n, "title": f"Chapter {n}", "body": f"Something about item{n}."} for n in range(2, 9)]
    first = {"number": 1, "title": "parse() fails on empty input", "body": deeper, "url": "https://x.example/issues/1"}
    (place / "issues.jsonl").write_text("\n".join(map(json.dumps, (*others, first))))
    done = triage(place, "run", "--repo", "app", "--issue", "issue.md", "--issues", "issues.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("**Probably the same as `#1` (open)**")
    (place / "issues.jsonl").write_text("{}")
    refused = triage(place, "run", "--repo", "app", "--issue", "issue.md", "--issues", "issues.jsonl")
    assert (refused.returncode, "line 1: number" in refused.stderr) == (2, True)


def test_the_ticket_has_a_title_and_fields(place: Path) -> None:
    (place / "missing.md").write_text(MISSING)
    done = triage(place, "run", "--repo", "app", "--issue", "missing.md", "--format", "ticket")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].startswith("# ")
    assert "type: bug" in lines
    assert "component: app/parser.py" in lines


def test_the_same_input_gives_the_same_output(place: Path) -> None:
    first, second = (without_times(document(place, fresh=fresh)) for fresh in (False, True))  # of two hash seeds
    assert first == second


def test_input_from_a_pipe_is_the_same_issue(place: Path) -> None:
    piped = triage(place, "run", "--repo", "app", "--issue", "-", stdin=ISSUE.encode())
    assert piped.stdout == triage(place, "run", "--repo", "app", "--issue", "issue.md").stdout


def test_the_repository_is_only_read(place: Path) -> None:
    before = snapshot(place / "app")
    document(place)
    assert snapshot(place / "app") == before


def test_without_a_terminal_no_run_waits(place: Path) -> None:
    done = triage(place, "run", "--repo", "app", "--text", THIN)
    assert done.returncode == 0
    assert "Question" not in done.stderr


def test_a_thin_issue_is_asked_about(place: Path) -> None:
    done = triage(place, "run", "--repo", "app", "--text", THIN, "--interactive", "--format", "json", stdin=b"3\n\n\n")
    assert done.returncode == 0
    questions = re.findall(r"^Question (\d+): (.+\?)", done.stderr, re.MULTILINE)
    assert 1 <= len(questions) <= 2
    assert done.stderr.count("Why: ") == len(questions)
    options = dict(re.findall(r"^  (\d)\) (.+)$", done.stderr.split("Question 2:")[0], re.MULTILINE))
    assert list(options) == ["1", "2", "3"]
    first = json.loads(done.stdout)["questions"][0]
    assert (first["answer"], first["answered_by"]) == (options["3"], "you")


def test_a_free_text_answer_is_stored(place: Path) -> None:
    text = b"the file that export_orders writes has no lines\n"
    done = triage(place, "run", "--repo", "app", "--text", THIN, "--interactive", "--format", "json", stdin=text)
    result = json.loads(done.stdout)
    assert result["questions"][0]["answer"] == text.decode().strip()
    assert result["report"]["suspects"][0]["path"] == "app/exporter.py"


@pytest.mark.parametrize("number", [b"9", b"0", "²".encode()], ids=["too-high", "zero", "superscript"])
def test_a_number_without_an_option_is_a_free_text_answer(place: Path, number: bytes) -> None:
    done = triage(
        place, "run", "--repo", "app", "--text", THIN, "--interactive", "--format", "json", stdin=number + b"\n"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["questions"][0]["answer"] == number.decode()


def test_a_question_survives_ctrl_c(place: Path) -> None:
    questions = interrupted_question(place)
    again = triage(place, "run", "--repo", "app", "--text", THIN, "--interactive", "--format", "json", stdin=b"3\n")
    assert again.returncode == 0, again.stderr
    assert question_in(again.stderr) == questions
    result = json.loads(again.stdout)
    assert [exchange["question"] for exchange in result["questions"]].count(questions) == 1
    assert [entry["node"] for entry in result["trace"]].count("investigator") == 1


def interrupted_question(place: Path) -> str:
    """Start a run, wait for its question, press Ctrl-C, and return the question."""
    with Forked(
        command("run", "--repo", "app", "--text", THIN, "--interactive"),
        cwd=place,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        shown = b""
        while b"Answer (" not in shown:
            byte = process.stderr.read(1)
            assert byte, shown
            shown += byte
        process.send_signal(signal.SIGINT)
        # The input stays open: the process must end without another line.
        status = process.wait(timeout=patience(60))
        rest = process.stderr.read().decode()
        assert status == 130, rest
        assert process.stdout is not None
        assert process.stdout.read() == b""
    assert rest.strip().splitlines()[-1].startswith("stopped; "), rest
    assert "Traceback" not in rest
    return question_in(shown.decode())


def question_in(stderr: str) -> str:
    found = re.search(r"^Question 1: (.+)$", stderr, re.MULTILINE)
    assert found, stderr
    return found[1]


def document(place: Path, *, fresh: bool = False) -> dict[str, Any]:
    done = triage(place, "run", "--repo", "app", "--issue", "issue.md", "--format", "json", fresh=fresh)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_times(part) for name, part in value.items() if name != "duration_ms"}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_run_leaves_no_checkpoint(place: Path) -> None:
    assert triage(place, "run", "issue.md", "--repo", "app", TRIAGE_DATA_DIR=str(place / "data")).returncode == 0
    with contextlib.closing(sqlite3.connect(place / "data" / "checkpoints.db")) as database:
        assert database.execute("SELECT COUNT(*) FROM checkpoints").fetchone() == (0,)
