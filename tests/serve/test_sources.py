"""A server with configured sources: a dependency's issues, and an unavailable tool."""

from __future__ import annotations

from pathlib import Path

from tests.serve.app import running, wait_for
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

TITLE = "parse_date hangs, as the handbook says"
BODY = """\
```
Traceback (most recent call last):
  File "feedbox/dates.py", line 8, in parse_date
    match = zones.find(text)
  File "/usr/lib/python3/site-packages/zonelore/core.py", line 9, in find
    raise ZoneLoreError("no such zone in the table")
zonelore.core.ZoneLoreError: no such zone in the table
```
"""
CONFIG = """\
tools:
  document_retriever: {command: [no-such-program-here], keywords: [handbook]}
web:
  github_issues: true
"""


def test_the_report_lists_the_dependency_s_issues_and_a_failing_tool_is_skipped(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    library = github.world.repository("lore/zonelore", public=True)
    github.world.open_issue(library, "ZoneLoreError: no such zone in the table", "Since 2.0 the table lacks zones.")
    config = tmp_path / "operator.yml"
    config.write_text(CONFIG)
    with running(github, tmp_path / "data", TRIAGE_CONFIG=str(config)) as app:
        number = app.open_issue(repo, TITLE, BODY)
        wait_for(lambda: len(github.world.reports(repo, number)) == 1, 60.0, lambda: app.log[-5:])
        (report,) = github.world.reports(repo, number)
    assert "`https://github.com/lore/zonelore/issues/1`" in report
    assert "Asked document\\_retriever: no answer" in report
    assert "feedbox/dates.py" in report
    (request,) = github.asked("GET", "/search/issues")
    assert request.query["q"][0].endswith("zonelore is:issue")
