"""``triage init`` writes a file that fits the repository, and says how its last fixes would have been found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.cli.proposal import Form, configuration, label_map, meaning_of, read_held
from bot.settings.repository import RepositoryConfig, read_config
from nodes.search.git import Repository
from tests.backtest.story import build
from tests.cli.process import ROOT, triage
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import GRANTED, Repo
from tests.support.repositories import git, make_repository

TOKEN = "ghp_" + "person00" * 5
CONFIGURATION, WORKFLOW = ".github/triage.yml", ".github/workflows/triage.yml"
LINE = re.compile(r"on your last (\d) fixes: a fixed file first in \d, in the first five in \d(, by the fixes'.*)?\n")
TEXT = {
    ".github/ISSUE_TEMPLATE/bug_report.yml": "name: Bug\nlabels: [C-bug, triage]\ntype: Defect\nbody: []\n",
    ".github/ISSUE_TEMPLATE/feature-request.md": "---\nname: Idea\nlabels: 'kind: idea'\n---\n\nWhat?\n",
    ".github/ISSUE_TEMPLATE/broken.yml": "labels: [\n",
    ".github/ISSUE_TEMPLATE/config.yml": "blank_issues_enabled: false\n",
    ".github/CODEOWNERS": "/app/parser/ @rita\n",
    "app/parser/read.py": "def read(text):\n    return text\n",
    "app/store.py": "def save(text):\n    return text\n",
}


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture(scope="module")
def project(github: GitHubServer) -> Repo:
    repo = github.world.repository("octo/app", head="0" * 40)
    repo.labels |= {"C-bug", "kind: idea", "docs", "needs more info", "area: parser", "area: build", "question"}
    repo.types = ("Bug", "Feature", "Task")
    github.world.tokens[TOKEN] = {"repositories": [repo.id], "permissions": GRANTED}
    return repo


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    make_repository(tmp_path / "app", TEXT)
    return tmp_path / "app"


def written(clone: Path) -> RepositoryConfig:
    return read_config((clone / CONFIGURATION).read_text(encoding="utf-8"))


@pytest.mark.usefixtures("project")
def test_the_file_has_the_labels_and_types_that_github_has(clone: Path, github: GitHubServer) -> None:
    git(clone, "remote", "add", "origin", f"{github.url}/octo/app.git")
    git(clone, "tag", "v1.2.0")
    here = {"GITHUB_API_URL": github.url, "GITHUB_SERVER_URL": github.url, "GITHUB_TOKEN": TOKEN}
    done = triage(clone, "init", **here)
    assert done.returncode == 0, done.stderr
    found = written(clone)
    assert found.labels.allowed == ("question", "area: *")
    kinds = {"bug": "C-bug", "feature": "kind: idea", "docs": "docs", "needs-answer": "needs more info"}
    assert found.labels.map == kinds
    assert found.types.map == {"bug": "Defect", "feature": "Feature"}
    assert "7 labels and 3 issue types on GitHub, 2 forms, 1 tag and .github/CODEOWNERS." in done.stderr
    assert f"{CONFIGURATION}: valid; mode comment" in done.stderr
    assert done.stdout.startswith("no fix to try")
    assert triage(clone, "config", "check").returncode == 0


def test_without_a_network_the_labels_of_forms_are_used(clone: Path) -> None:
    git(clone, "remote", "add", "origin", "http://127.0.0.1:9/octo/app.git")
    done = triage(clone, "init", GITHUB_API_URL="http://127.0.0.1:9", GITHUB_SERVER_URL="http://127.0.0.1:9")
    assert done.returncode == 0, done.stderr
    assert written(clone).labels.map == {"bug": "C-bug", "feature": "kind: idea"}
    assert "From 3 labels that forms name (octo/app on GitHub was not read: " in done.stderr


def test_a_clone_without_a_remote_is_reported_without_an_origin(tmp_path: Path) -> None:
    make_repository(tmp_path / "app", {"app.py": "x = 1\n"})
    done = triage(tmp_path / "app", "init", "--dry-run")
    assert "(no remote origin is on GitHub, so GitHub was not read)" in done.stderr


def test_it_ends_with_a_line_about_the_last_fixes(tmp_path: Path) -> None:
    build(tmp_path / "feed")
    done = triage(tmp_path, "init", "--repo", "feed", "--workflow")
    assert done.returncode == 0, done.stderr
    assert LINE.fullmatch(done.stdout)
    assert (tmp_path / "feed" / WORKFLOW).read_text() in (ROOT / "docs" / "action.md").read_text()
    assert "no remote origin" not in done.stdout
    assert triage(tmp_path, "init", "--repo", "feed", "--limit", "2", "--dry-run").stderr.count("last 2 fixes") == 1


def test_a_dry_run_prints_the_files_and_writes_nothing(clone: Path) -> None:
    done = triage(clone, "init", "--dry-run", "--workflow", "--limit", "0")
    assert done.returncode == 0, done.stderr
    text, name, _ = done.stdout.partition("name: triage\n")
    assert read_config(text).labels.map["bug"] == "C-bug"
    assert name
    assert not (clone / CONFIGURATION).exists()


def test_a_file_that_exists_is_not_changed(clone: Path) -> None:
    (clone / ".github").mkdir()
    (clone / CONFIGURATION).write_text("mode: label\n")
    done = triage(clone, "init")
    assert (done.returncode, done.stdout) == (2, "")
    assert "exists already and is not changed: --dry-run prints what would be written" in done.stderr
    done = triage(clone, "init", "--workflow", "--limit", "0")
    assert done.returncode == 0, done.stderr
    assert f"{CONFIGURATION} exists already and is not changed\n{WORKFLOW} is written\n" in done.stderr
    assert (clone / CONFIGURATION).read_text() == "mode: label\n"


def test_nothing_is_written_outside_the_repository(clone: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (clone / ".github").symlink_to(tmp_path / "elsewhere")
    done = triage(clone, "init", "--limit", "0")
    assert (done.returncode, list((tmp_path / "elsewhere").iterdir())) == (2, [])
    assert "its folder is a link that leads out of the repository" in done.stderr


def test_a_bare_repository_has_no_place_for_files(tmp_path: Path, clone: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(clone), "bare.git")
    done = triage(tmp_path, "init", "--repo", "bare.git")
    assert done.returncode == 2
    assert "give --dry-run" in done.stderr
    assert triage(tmp_path, "init", "--repo", "bare.git", "--dry-run").returncode == 0


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("Type: Bug", "bug"),
        ("kind/bug", "bug"),
        ("C-bug", "bug"),
        ("🐛 bug", "bug"),
        ("debug", ""),
        ("bug fixed", ""),
        ("feature_request", "feature"),
        ("Documentation", "docs"),
        ("status: waiting for author", "needs-answer"),
        ("Needs More Info", "needs-answer"),
        ("needs review", ""),
        ("duplicate", "duplicate"),
    ],
)
def test_what_a_name_stands_for(name: str, meaning: str) -> None:
    assert meaning_of(name) == meaning


def test_the_label_of_a_form_must_exist_and_one_named_like_the_kind_is_next() -> None:
    form = Form("bug_report", ("crash", "C-bug"), "")
    assert label_map([form], ["type: bug", "bug", "c-bug"]) == {"bug": "C-bug"}
    assert label_map([form], ["type: bug", "bug"]) == {"bug": "bug"}


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    labels = ['area: "x', "area: a\nmode: label", "area: {b}", "area: : #c", "bug: &a"]
    make_repository(tmp_path / "x", {"a/b.py": "", ".github/ISSUE_TEMPLATE/a.yml": "labels: *x\n"})
    repository = Repository.open(tmp_path / "x")
    held = read_held(repository, repository.resolve(), 2_000_000_000)
    config = read_config(configuration(held, labels, ["Bug\nmode: label"], "a\nmode: label"))
    assert config.mode == "comment"
