"""A server that cannot work names the reason in one line and does not start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from bot.server.registration import store_registration
from tests.cli.process import triage
from tests.serve.app import HTTP, SERVE, App, processes_of, running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.deliveries import SECRET
from tests.servers.github_server import Fault, GitHubServer, private_key
from tests.servers.github_world import APP_ID, Repo
from tests.servers.postgres import Postgres

NO_KEY = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
MODEL = {"TRIAGE_BRAIN": "llm", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
FAULTS = [
    pytest.param({"GITHUB_PRIVATE_KEY": NO_KEY}, "GITHUB_PRIVATE_KEY: not a private key", id="a-key-that-is-none"),
    pytest.param({"TRIAGE_BRAIN": "llm"}, "needs OPENAI_API_KEY", id="a-model-that-is-nowhere"),
    pytest.param({"TRIAGE_DATA_DIR": "/proc/nothing"}, "cannot write to /proc/nothing", id="no-place-to-write"),
    pytest.param({"TRIAGE_DATA_DIR": "a file"}, "cannot write to a file: File exists", id="a-file-for-a-folder"),
    pytest.param({"TRIAGE_DATA_DIR": "spoilt"}, "store.db cannot be used: file is not a database", id="no-store"),
    pytest.param({"HOST": "256.1.1.1"}, "cannot listen on 256.1.1.1 port 0", id="an-address-that-is-none"),
]


def test_the_process_that_answers_github_loads_no_graph() -> None:
    heavy = {"langgraph", "langsmith", "nodes.graph", "bot.worker.worker"}
    code = f"import sys, bot.server.process; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize(("settings", "says"), FAULTS)
def test_permanent_faults_are_reported_at_the_start(tmp_path: Path, settings: dict[str, str], says: str) -> None:
    (tmp_path / "a file").touch()
    (tmp_path / "spoilt").mkdir()
    (tmp_path / "spoilt" / "store.db").write_text("not a database")
    sound = {
        "GITHUB_APP_ID": str(APP_ID),
        "GITHUB_PRIVATE_KEY": private_key(),
        "GITHUB_WEBHOOK_SECRET": SECRET,
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "TRIAGE_DATA_DIR": str(tmp_path / "data"),
        "HOST": "127.0.0.1",
        "PORT": "0",
    }
    done = triage(tmp_path, "serve", **(sound | settings))
    assert done.returncode == 2, done.stderr
    assert says in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path, github: GitHubServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = {"GITHUB_APP_ID": "1", "GITHUB_PRIVATE_KEY": private_key(), "GITHUB_WEBHOOK_SECRET": SECRET}
        done = triage(
            tmp_path, "serve", "--host", "127.0.0.1", "--port", port, TRIAGE_DATA_DIR=str(tmp_path / "data"), **given
        )
    assert (done.returncode, f"port {port}: Address already in use" in done.stderr) == (2, True)


def test_damaged_checkpoints_restart_a_run_and_lose_no_issue(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "checkpoints.db").write_bytes(b"not a database" * 100)
    with running(github, tmp_path / "data") as app:
        number = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 15.0, lambda: app.log[-5:])
        assert any(line.get("action") == "checkpoints_lost" for line in app.log)


def test_a_server_without_an_app_stops_normally_and_starts_with_the_stored_app(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    unsaid = dict.fromkeys(("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_WEBHOOK_SECRET"), "")
    app = App(github, tmp_path / "data", unsaid)
    app.start(ready=False)
    assert app.setup_address().startswith(app.url)
    assert app.stop() == 0
    app_id, key = str(APP_ID), private_key()
    kept = {"github_app_id": app_id, "github_private_key": key, "github_webhook_secret": SECRET}
    store_registration(tmp_path / "data", kept)
    try:
        app.start()
        number = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 60.0, lambda: app.log[-5:])
    finally:
        app.kill()


def test_a_disk_without_space_for_mirrors_is_a_fault_that_the_server_names(
    github: GitHubServer, tmp_path: Path
) -> None:
    app = App(github, tmp_path / "data", {"TRIAGE_FREE_MB": "900000000", "TRIAGE_ADMIN_TOKEN": "o" * 16})
    try:
        app.start(ready=False)
        wait_for(lambda: any(line.get("action") == "worker_fault" for line in app.log), 60.0, lambda: app.log[-5:])
        answer = HTTP.get(f"{app.url}/readyz", headers={"Authorization": f"Bearer {'o' * 16}"})
        assert answer.status_code == 503
        assert "TRIAGE_FREE_MB" in answer.json()["faults"][0]
    finally:
        app.kill()


def test_a_wrong_clock_is_a_fault_that_the_server_names(github: GitHubServer, repo: Repo, tmp_path: Path) -> None:
    app = App(github, tmp_path / "data", {"TRIAGE_ADMIN_TOKEN": "o" * 16})
    refused = Fault(401, headers={"Date": formatdate(time.time() - 7_200, usegmt=True)}, message="'exp' is wrong")
    try:
        app.start()
        github.fault = lambda call: refused if call.path.endswith("access_tokens") else None
        app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: any(line.get("action") == "worker_fault" for line in app.log), 60.0, lambda: app.log[-5:])
        answer = HTTP.get(f"{app.url}/readyz", headers={"Authorization": f"Bearer {'o' * 16}"})
        assert (answer.status_code, "clock is 2:0" in answer.json()["faults"][0]) == (503, True)
    finally:
        github.fault = lambda _call: None
        app.kill()


def test_a_server_whose_database_is_away_says_so_until_it_is_there(
    postgres: Postgres, github: GitHubServer, tmp_path: Path
) -> None:
    url = postgres.migrated()
    postgres.stop()
    app = App(github, tmp_path / "data", {"DATABASE_URL": url})
    try:
        try:
            app.start(ready=False)
            away = HTTP.get(f"{app.url}/healthz")
            assert (away.status_code, away.json()["faults"]) == (503, ["the database does not respond yet"])
        finally:
            postgres.start()
        wait_for(lambda: HTTP.get(f"{app.url}/readyz").status_code == 200, 60.0, lambda: app.log[-5:])
    finally:
        app.kill()


@pytest.mark.timeout(400)  # a worker may be silent for twenty seconds before it counts as hung
@pytest.mark.parametrize("shared", [False, True], ids=["sqlite", "postgres-without-a-worker-of-its-own"])
def test_a_frozen_worker_makes_the_server_not_ready(
    request: pytest.FixtureRequest, github: GitHubServer, tmp_path: Path, *, shared: bool
) -> None:
    settings = {"DATABASE_URL": request.getfixturevalue("postgres").migrated()} if shared else {}
    app = App(github, tmp_path / "server", settings, words=(*SERVE, "--no-worker") if shared else SERVE)
    other = App(github, tmp_path / "worker", settings, words=("worker",))
    try:
        app.start(ready=not shared)
        if shared:
            assert HTTP.get(f"{app.url}/readyz").status_code == 503
            other.start()
            wait_for(lambda: HTTP.get(f"{app.url}/readyz").status_code == 200, 100.0)
        process = (other if shared else app).process
        assert process is not None
        _, worker, *_ = processes_of(process.pid)
        os.kill(worker, signal.SIGSTOP)
        try:
            wait_for(lambda: HTTP.get(f"{app.url}/readyz").status_code == 503, 100.0)
        finally:
            os.kill(worker, signal.SIGCONT)
        wait_for(lambda: HTTP.get(f"{app.url}/readyz").status_code == 200, 100.0)
    finally:
        for one in (app, other):
            if one.process is not None:
                one.kill()
