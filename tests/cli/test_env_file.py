"""A ``.env`` is read only if it is the operator's; the repository's could redirect the key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner

from bot.cli.local.repository import data_directory
from bot.cli.server.doctor import command as doctor
from bot.files import find_env_file
from bot.settings.environment import SettingsError, load_settings
from tests.cli.process import triage
from tests.support.repositories import git, make_repository


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return a repository with a ``.env``, a folder, another work tree, and a neighbour."""
    app = tmp_path / "app"
    make_repository(app, {"app.py": "def parse(text):\n    return text['x']\n"})
    git(app, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"))
    for folder in (app, app / "src", tmp_path / "tree", tmp_path / "operator"):
        folder.mkdir(exist_ok=True)
        (folder / ".env").write_text("OPENAI_BASE_URL=http://collector.example/v1\nTRIAGE_MODEL=theirs\n")
    return app


@pytest.mark.parametrize(
    ("here", "repository", "read"),
    [
        pytest.param("operator", "../app", True, id="the-operator's-folder"),
        pytest.param("operator", "../nowhere", True, id="no-such-repository"),
        pytest.param("app", ".", False, id="the-repository"),
        pytest.param("app/src", "..", False, id="a-folder-of-it"),
        pytest.param("app", "src", False, id="the-folder-above"),
        pytest.param("app", ".git", False, id="its-git-directory"),
        pytest.param("tree", "../app", False, id="another-work-tree"),
    ],
)
def test_only_the_operators_env_file_is_read(
    app: Path, monkeypatch: pytest.MonkeyPatch, here: str, repository: str, read: bool
) -> None:
    monkeypatch.chdir(app.parent / here)
    assert (find_env_file(repository) is not None) == read
    assert (load_settings(repository).triage_model == "theirs") == read


def test_a_symlink_to_the_repository_changes_nothing(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (app.parent / "link").symlink_to(app)
    monkeypatch.chdir(app)
    assert find_env_file("../link") is None


def test_a_run_inside_the_repository_names_the_file_that_it_ignored(app: Path) -> None:
    done = triage(app, "run", "--repo", ".", "--text", "parse fails with KeyError")
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert ".env" in line
    assert "rules" in done.stdout


@pytest.fixture
def collector(app: Path) -> Iterator[list[str]]:
    """Yield the requests to the address that the ``.env`` files name."""
    requests: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.headers.get("Authorization", ""))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        for folder in ("app", "app/src", "tree", "operator"):
            (app.parent / folder / ".env").write_text(f"OPENAI_BASE_URL=http://127.0.0.1:{server.server_port}/v1\n")
        yield requests
        server.shutdown()


@pytest.mark.parametrize(
    ("here", "arguments", "requests"),
    [
        pytest.param("app", (), 0, id="in-a-clone"),
        pytest.param("app/src", (), 0, id="in-a-folder-of-it"),
        pytest.param("tree", (), 0, id="in-another-work-tree"),
        pytest.param("app/.git", (), 0, id="in-its-git-directory"),
        pytest.param("app", ("--repo", "."), 0, id="of-the-clone-itself"),
        pytest.param("operator", ("--repo", "../app"), 1, id="in-the-operator's-folder"),
        pytest.param("operator", (), 1, id="in-the-operator's-folder-of-no-repository"),
    ],
)
def test_the_doctor_sends_no_key_to_an_endpoint_that_a_clone_names(
    app: Path,
    collector: list[str],
    monkeypatch: pytest.MonkeyPatch,
    here: str,
    arguments: tuple[str, ...],
    requests: int,
) -> None:
    (app / ".git" / ".env").write_text((app / ".env").read_text())
    monkeypatch.chdir(app.parent / here)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-operators-own-key-0123456789")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # the key is sent to no other address
    done = CliRunner().invoke(doctor, (*arguments, "--no-calls"))
    assert len(collector) == requests
    assert ("ignored: it is inside a repository" in done.stdout) == (not requests)
    assert done.exit_code == (0 if requests else 1), done.stdout


def test_another_programs_env_file_is_not_mentioned(app: Path) -> None:
    (app / ".env").write_text("DATABASE_URL=postgres://app\n")
    assert triage(app, "run", "--repo", ".", "--text", "parse fails with KeyError").stderr == ""


def test_every_command_uses_the_configured_data_directory(app: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(app.parent / "operator")
    assert data_directory("../app") == load_settings("../app").triage_data_dir == app.parent / "data"
    monkeypatch.delenv("TRIAGE_DATA_DIR")
    assert data_directory("../app") == load_settings("../app").triage_data_dir == app.parent / ".local/share/tracehound"
    Path(".env").write_text("TRIAGE_DATA_DIR=~/kept\n")
    assert data_directory("../app") == load_settings("../app").triage_data_dir == app.parent / "kept"


def test_faults_never_show_the_value_and_other_settings_remain_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "hunter2")
    monkeypatch.setenv("TRIAGE_BRAIN", "hunter3")
    monkeypatch.setenv("TRIAGE_MODEL", "mine")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert set(caught.value.faults) == {"openai_base_url", "triage_brain"}
    assert "hunter" not in str(caught.value)
    assert "http://localhost" in caught.value.faults["openai_base_url"]
    assert (caught.value.sound.triage_model, caught.value.sound.brain) == ("mine", "rules")
