"""The units of systemd: checked by systemd where it is installed, and started as plain processes."""

from __future__ import annotations

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from bot.worker.dispatch.worker_process import DRAIN
from tests.cli.process import ROOT
from tests.serve.app import HTTP, App
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.postgres import Postgres
from tests.support.patience import patience

PROGRAM = "/opt/tracehound/bin/triage"
UNITS = sorted((ROOT / "docs" / "systemd").glob("*.service"))


def service(path: Path) -> configparser.SectionProxy:
    """Return the section that describes the process."""
    read = configparser.RawConfigParser(strict=True, delimiters="=")
    read.optionxform = str  # type: ignore[assignment, method-assign]
    read.read_string(path.read_text())
    return read["Service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    for path in UNITS:
        text = path.read_text().replace(PROGRAM, "/bin/true")
        (tmp_path / path.name.replace("@.", "@1.")).write_text(text)
    checked = ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())]
    done = subprocess.run(checked, capture_output=True, text=True, timeout=patience(30), check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_starts_answers_and_drains_in_time(postgres: Postgres, tmp_path: Path, path: Path) -> None:
    unit = service(path)
    assert float(unit["TimeoutStopSec"]) >= DRAIN + 5
    assert unit["KillMode"] == "mixed"  # the main process ends its worker, and waits for it
    given = dict(word.split("=", 1) for word in unit["Environment"].split())
    state = "/var/lib/" + unit["StateDirectory"]
    assert given.pop("TRIAGE_DATA_DIR") == state
    given["SERVE_OPTIONS"] = "--no-worker"  # what the comment on top of the unit says
    program, *words = [given.get(word.removeprefix("$"), word) for word in unit["ExecStart"].split()]
    assert program == PROGRAM
    with serve_github() as github:
        start(github, tmp_path / "data", postgres.migrated(), words)


def start(github: GitHubServer, data: Path, url: str, words: list[str]) -> None:
    """Start the unit's command, and stop it as systemd does."""
    app = App(github, data, {"DATABASE_URL": url, "HOST": "127.0.0.1", "PORT": "0"}, words)
    app.start(ready=False)
    try:
        assert app.up.wait(patience(60)), app.log
        if app.url:
            assert HTTP.get(f"{app.url}/healthz", timeout=patience(10)).status_code == 200
    finally:
        assert app.stop() == 0
    assert not [line for line in app.log if "traceback" in line]
