"""A repository with a bug, a simulated GitHub that serves it, and the server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.app import App, running
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.support.repositories import make_repository

FILES = {
    "feedbox/__init__.py": "",
    "feedbox/dates.py": (
        '"""Dates of feeds."""\n\nimport re\n\n\n'
        "def parse_date(text):\n"
        '    """Read an RFC 822 date with its zone."""\n'
        '    match = re.search(r"([+-])(\\d\\d)(\\d\\d)$", text)\n'
        "    if match is None:\n"
        '        raise ValueError(f"no zone in {text!r}")\n'
        "    hours = int(match[2])\n"
        "    return hours * 60 + int(match[3])\n"
    ),
    "feedbox/store.py": '"""Articles on disk."""\n\n\ndef save(article, path):\n    path.write_text(article.body)\n',
    "README.md": "# feedbox\n\nReads feeds.\n",
}
TITLE = "parse_date ignores the sign of the zone"
BODY = """\
`parse_date("Mon, 02 Jun 2025 19:10:00 -0700")` gives the minutes of +0700.

```
Traceback (most recent call last):
  File "app.py", line 3, in <module>
    parse_date("Mon, 02 Jun 2025")
  File "/usr/lib/python3/site-packages/feedbox/dates.py", line 10, in parse_date
    raise ValueError(f"no zone in {text!r}")
ValueError: no zone in 'Mon, 02 Jun 2025'
```

feedbox 1.2.0, Python 3.12 on Debian.
"""


@pytest.fixture(scope="session")
def github() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture(scope="session")
def feedbox(github: GitHubServer, tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Return the repository for the fixtures of a module."""
    origin = tmp_path_factory.mktemp("origin")
    sha = make_repository(origin, FILES)
    return github.world.repository("octo/feedbox", git=origin, head=sha)


@pytest.fixture
def repo(github: GitHubServer, feedbox: Repo) -> Repo:
    """Return the test's own copy in a separate installation, because other tests' writes would use up its limits."""
    number = len(github.world.repos)
    name = f"octo/feedbox{number}"
    return github.world.repository(name, installation=1_000 + number, git=feedbox.git, head=feedbox.head)


@pytest.fixture(scope="module")
def app(
    request: pytest.FixtureRequest, github: GitHubServer, feedbox: Repo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[App]:
    """Yield one server for the tests of a module, because its start takes seconds; each test has its own issue.

    The tests of a module marked ``on_both_databases`` run on each.
    """
    shared = getattr(request, "param", "sqlite") == "postgres"
    settings = {"DATABASE_URL": request.getfixturevalue("postgres").migrated()} if shared else {}
    with running(github, tmp_path_factory.mktemp("server") / "data", **settings) as app:
        yield app


on_both_databases = pytest.mark.parametrize("app", ["sqlite", "postgres"], indirect=True, scope="module")
