"""Every command that the pages print runs as printed: in a clone, with a simulated GitHub and stored data."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.ports import IssueRef
from bot.store.databases.sqlite import SqliteStore
from tests.cli.process import triage
from tests.docs.test_examples import BLOCKS
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID, GRANTED, INSTALLATION
from tests.support.repositories import add_entry, git, make_repository

TOKEN = "ghp_" + "person00" * 5
ELSEWHERE = ("serve", "worker", "action", "app create", "mcp", "replay", "migrate", "backup /")
"""Commands that serve, need an App, a saved delivery or PostgreSQL, or write outside: tests of their own run them."""
NAME_NOTHING = {"triage token revoke 5d2f", "triage jobs --replay 17"}
"""Commands whose number is an example: they fail, and repeat it."""
PARSER = "def parse(text):\n    return parse_date(open_store(text))\n"
CODE = {
    "feedbox/retry.py": "def retry(call, times):\n    for _ in range(times):\n        call()\n",
    "feedbox/parser.py": PARSER,
    "CODEOWNERS": "* @octo/reader\n",
}
"""What the printed questions ask for."""
ISSUE = '{"number": 1, "title": "It fails", "body": null, "state": "open", "url": "https://example.org/1"}\n'
ASKS = "triage forget --repository octo/parser"
"""It asks for a confirmation, which is not given here."""


def printed() -> Iterator[Any]:
    """Yield each different command of a script or a help text once, with its redirections, and where it is."""
    seen = set[str]()
    for block in BLOCKS:
        lines = block.text.replace("\\\n", " ").splitlines()
        if block.language == "text" and block.page.name == "cli.md":
            lines = [line for line in lines if re.match(r" +triage [a-z]+ ", line)]
        elif block.language != "sh":
            continue
        for line in lines:
            command = " ".join(re.sub(r"\s#\s.*", "", line).split())
            if re.match(r"triage [a-z]", command) and command not in seen:
                seen.add(command)
                if not command.removeprefix("triage ").startswith(ELSEWHERE):
                    yield pytest.param(command, id=f"{block.place} {command}"[:90])


async def _store(folder: Path, ids: list[int]) -> None:
    """Store what a server has after one run on each repository that the pages name."""
    store = SqliteStore(folder / "store.db")
    for number, name in zip(ids, ("feedbox", "parser"), strict=False):
        ref = IssueRef("github.com", INSTALLATION, number, "octo", name, 5)
        await store.installations.add([ref.repository])
        await store.for_issue(ref).runs.begin(())
    await store.aclose()


@dataclass(frozen=True)
class Person:
    """Somebody at a terminal, with a project's clone in ``~/src/app`` and a server's data."""

    home: Path
    settings: dict[str, str]

    @property
    def app(self) -> Path:
        return self.home / "src" / "app"


@pytest.fixture(scope="module")
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture(scope="module")
def person(github: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Person:
    one = Person(tmp_path_factory.mktemp("home"), {})
    make_repository(one.app, FILES)
    git(one.app, "tag", "v2.4.1")
    for name, text in CODE.items():
        add_entry(one.app, name, text)
    # Made now, because a question asks for the last week.
    who = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    subprocess.run(["git", "-C", one.app, *who, "commit", "-qm", "Read dates in the parser"], check=True)
    head = git(one.app, "rev-parse", "HEAD").decode().strip()
    ids = []
    for name in ("octo/feedbox", "octo/parser", "me/app", "owner/repo"):
        repo = github.world.repository(name, git=one.app, head=head)
        ids.append(repo.id)
        for _ in range(42):
            github.world.open_issue(repo, TITLE, BODY)
    github.world.tokens[TOKEN] = {"repositories": ids, "permissions": GRANTED}
    git(one.app, "remote", "add", "origin", f"{github.url}/octo/feedbox.git")
    (one.app / "issue.md").write_text(f"{TITLE}\n\n{BODY}")
    for name in ("issues.jsonl", "old.jsonl"):
        (one.app / name).write_text(ISSUE)
    asyncio.run(_store(one.home / "data", ids))
    (one.home / "key.pem").write_text(private_key())
    one.settings.update(
        HOME=str(one.home), TRIAGE_DATA_DIR=str(one.home / "data"), GITHUB_TOKEN=TOKEN,
        GITHUB_API_URL=github.url, GITHUB_SERVER_URL=github.url, GITHUB_APP_ID=str(APP_ID),
        GITHUB_WEBHOOK_SECRET="s", GITHUB_PRIVATE_KEY_PATH=str(one.home / "key.pem"),
    )  # fmt: skip
    return one


@pytest.mark.parametrize("command", [*printed()])
def test_a_printed_command_runs(person: Person, tmp_path: Path, command: str) -> None:
    here = tmp_path / "app"
    shutil.copytree(person.app, here)
    if ".github/triage.yml" in command:
        (here / ".github").mkdir()
        (here / ".github" / "triage.yml").write_text("mode: dry-run\n")
    line = command.replace("https://github.com", person.settings["GITHUB_SERVER_URL"])
    words, _, output = line.replace("~", str(person.home)).partition(" > ")
    words, _, read = words.partition(" < ")
    given = (here / read).read_bytes() if read else b""
    done = triage(here, *shlex.split(words)[1:], stdin=given, **person.settings)
    assert "Traceback" not in done.stderr
    if command in NAME_NOTHING:
        assert done.returncode != 0
        assert command.rsplit(maxsplit=1)[-1] in done.stderr
    elif command == ASKS:
        assert "cannot be undone" in done.stderr
    else:
        assert done.returncode == 0, done.stdout + done.stderr
    assert not output or done.stdout
