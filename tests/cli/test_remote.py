"""``triage run --issue owner/repo#n`` reads the issue, fetches the code and writes nothing to GitHub."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.local.issue_text import issue_of
from bot.cli.options import NamedIssue
from bot.server.registration import store_registration
from tests.cli.process import triage
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, GRANTED, Repo
from tests.support.repositories import git, make_repository

TOKEN = "ghp_" + "person00" * 5


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture(scope="module")
def repo(github: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    origin = tmp_path_factory.mktemp("origin")
    repo = github.world.repository("octo/feedbox", git=origin, head=make_repository(origin, FILES))
    github.world.tokens[TOKEN] = {"repositories": [repo.id], "permissions": GRANTED}
    github.world.open_issue(repo, TITLE, BODY)
    return repo


@pytest.fixture
def here(github: GitHubServer) -> dict[str, str]:
    return {"GITHUB_API_URL": github.url, "GITHUB_SERVER_URL": github.url}


APP = {"GITHUB_APP_ID": str(APP_ID), "GITHUB_WEBHOOK_SECRET": "s"}


@pytest.mark.parametrize("way", ["a-token", "the-app", "the-stored-app"])
def test_a_private_issue_is_read_and_linked(
    github: GitHubServer, repo: Repo, here: dict[str, str], tmp_path: Path, way: str
) -> None:
    given = {"GITHUB_TOKEN": TOKEN} if way == "a-token" else {**APP, "GITHUB_PRIVATE_KEY": private_key()}
    if way == "the-stored-app":
        store_registration(tmp_path / "data", {name.lower(): value for name, value in given.items()})
        given = {"TRIAGE_DATA_DIR": str(tmp_path / "data")}
    done = triage(tmp_path, "run", "--issue", "octo/feedbox#1", **here, **given)
    assert done.returncode == 0, done.stderr
    assert f"{github.url}/octo/feedbox/blob/{repo.head}/feedbox/dates.py#L" in done.stdout
    assert [call for call in github.asked("POST") if "/issues/" in call.path] == []


@pytest.mark.parametrize("command", ["run", "locate"])
def test_the_address_of_an_issue_names_it(
    github: GitHubServer, repo: Repo, here: dict[str, str], tmp_path: Path, command: str
) -> None:
    """Copied from a browser, with what follows the number."""
    make_repository(tmp_path / "app", FILES)
    address = f"{github.url}/octo/feedbox/issues/1?notification=1#issuecomment-7"
    done = triage(tmp_path / "app", command, address, **here, GITHUB_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert "feedbox/dates.py" in done.stdout


@pytest.mark.parametrize("command", ["run", "locate"])
@pytest.mark.parametrize("number", ["1", "#1"])
def test_a_number_is_an_issue_of_the_clones_project(
    github: GitHubServer, repo: Repo, here: dict[str, str], tmp_path: Path, command: str, number: str
) -> None:
    make_repository(tmp_path / "app", FILES)
    git(tmp_path / "app", "remote", "add", "origin", f"{github.url}/octo/feedbox.git")
    done = triage(tmp_path / "app", command, number, **here, GITHUB_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert "feedbox/dates.py" in done.stdout


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://github.com/octo/feedbox", "https://github.com/octo/feedbox/issues/7"),
        ("https://person@github.com/octo/feedbox.git/", "https://github.com/octo/feedbox/issues/7"),
        ("git@github.com:octo/feed.box.git", "https://github.com/octo/feed.box/issues/7"),
        ("ssh://git@git.example:2222/octo/feedbox.git", "https://git.example/octo/feedbox/issues/7"),
        ("http://git.example:8080/octo/feedbox.git", "http://git.example:8080/octo/feedbox/issues/7"),
    ],
)
def test_the_remote_names_the_project(tmp_path: Path, remote: str, address: str) -> None:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "remote", "add", "origin", remote)
    found = issue_of(NamedIssue("#7", repo=str(tmp_path)), str)
    assert found == (address, str(tmp_path))


def test_a_number_without_a_project_is_an_error(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", FILES)
    git(tmp_path / "app", "remote", "add", "origin", "/srv/git/app")
    done = triage(tmp_path / "app", "run", "42")
    assert done.returncode != 0
    assert "owner/repo#42" in done.stderr


def test_text_is_triaged_in_the_current_repository(tmp_path: Path) -> None:
    make_repository(tmp_path / "origin", FILES)
    git(tmp_path, "clone", "--quiet", "origin", "app")
    (tmp_path / "issue.md").write_text(f"{TITLE}\n\n{BODY}")
    done = triage(tmp_path / "app" / "feedbox", "run", "../../issue.md")
    assert done.returncode == 0, done.stderr
    assert "feedbox/dates.py" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("https://github.example/octo/feedbox/issues/1",), "GITHUB_SERVER_URL", id="another-server"),
        pytest.param(("https://github.example/octo/feedbox",), "owner/repo#n", id="no-issue"),
        pytest.param(("octo/feedbox#1", "--issue", "octo/feedbox#1"), "once", id="named-twice"),
        pytest.param(("octo/feedbox#1", "--title", "It fails"), "--title", id="a-title-of-its-own"),
        pytest.param(("--issue", "octo/feedbox#1"), "GITHUB_TOKEN", id="private-and-no-token"),
        pytest.param(("--issue", "octo/nowhere#1"), "octo/nowhere", id="no-such-repository"),
        pytest.param(("--issue", "octo/feedbox#0"), "owner/repo#n", id="no-number"),
        pytest.param(("--text", "it fails"), "--repo", id="no-repository"),
    ],
)
def test_an_unreadable_input_is_reported_in_one_line(
    repo: Repo, here: dict[str, str], tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = triage(tmp_path, "run", *arguments, **here)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr.splitlines()[-1]


def test_a_clone_can_neither_name_a_server_nor_a_token(repo: Repo, tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"app.py": "x = 1\n"})
    (tmp_path / "app" / ".env").write_text("GITHUB_API_URL=http://collector.example\nTRIAGE_MODEL=theirs\n")
    unreachable = {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_TOKEN": TOKEN}
    done = triage(tmp_path / "app", "run", "--issue", "octo/feedbox#1", **unreachable)
    assert done.returncode == 2
    assert "so it is ignored" in done.stderr
    assert "collector" not in done.stderr


def test_a_token_that_github_rejects_is_named(here: dict[str, str], tmp_path: Path) -> None:
    done = triage(tmp_path, "run", "octo/feedbox#1", **here, GITHUB_TOKEN="revoked")
    assert (done.returncode, done.stderr.rstrip().endswith("Bad credentials; check GITHUB_TOKEN")) == (2, True)


def test_a_file_named_like_an_issue_takes_precedence(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", FILES)
    (tmp_path / "octo").mkdir()
    (tmp_path / "octo" / "feedbox#1").write_text(f"{TITLE}\n\n{BODY}")
    done = triage(tmp_path, "run", "--repo", "app", "--issue", "octo/feedbox#1")
    assert done.returncode == 0, done.stderr
    assert "feedbox/dates.py" in done.stdout


@pytest.mark.parametrize("form", ["md", "json"])
def test_with_unreadable_code_a_report_is_still_written(
    github: GitHubServer, here: dict[str, str], tmp_path: Path, form: str
) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "empty")
    repo = github.world.repository(f"octo/empty-{form}", git=tmp_path / "empty")
    held = github.world.tokens.setdefault(TOKEN, {"repositories": [], "permissions": GRANTED})
    held["repositories"].append(repo.id)
    github.world.open_issue(repo, TITLE, BODY)
    done = triage(tmp_path, "run", "--issue", f"{repo.full_name}#1", "--format", form, **here, GITHUB_TOKEN=TOKEN)
    assert done.returncode == 0, done.stderr
    assert "could not be read: the repository has no commit yet" in done.stderr
    assert "The code could not be read, so the report names no place." in done.stdout
    assert "Searched the code" not in done.stdout
    assert ('"not_found": "code_not_readable"' in done.stdout) == (form == "json")
