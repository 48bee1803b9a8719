"""A run requested over HTTP and done by the worker; GitHub is only read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema

from bot.report.document import result_schema
from tests.serve.app import HTTP, App, running, wait_for
from tests.serve.conftest import BODY, TITLE
from tests.servers.github_server import GitHubServer
from tests.servers.github_world import Repo

TOKEN = "a-script-has-this-token"


def ended(app: App, body: dict[str, Any]) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    taken = HTTP.post(f"{app.url}/api/v1/runs", json=body, headers=headers)
    assert taken.status_code == 202, taken.text
    where = f"{app.url}{taken.headers['location']}"
    wait_for(lambda: HTTP.get(where, headers=headers).json()["state"] in ("finished", "failed"), 60.0)
    found: dict[str, Any] = HTTP.get(where, headers=headers).json()
    return found


def test_an_issue_and_a_text_are_triaged_and_nothing_is_written(
    github: GitHubServer, repo: Repo, tmp_path: Path
) -> None:
    number = github.world.open_issue(repo, TITLE, BODY)["number"]
    with running(github, tmp_path / "data", TRIAGE_API_TOKEN=TOKEN) as app:
        app.open_issue(repo, TITLE, BODY)  # so that the App knows the repository
        app.settled()
        issue = ended(app, {"repository": repo.full_name, "issue": number})
        text = ended(app, {"repository": repo.full_name, "title": TITLE, "body": BODY, "max_retries": 0})
        gone = ended(app, {"repository": repo.full_name, "issue": 9_999})
    for run in (issue, text):
        assert (run["state"], run["commit"]) == ("finished", repo.head)
        jsonschema.validate(run["result"], result_schema())
        assert run["result"]["report"]["suspects"][0]["path"] == "feedbox/dates.py"
        assert run["result"]["gathered"]
    assert (gone["state"], "9999" in gone["fault"]) == ("failed", True)
    assert github.world.ours(repo, number) == []
    assert [
        call for call in github.asked("POST", "/issues") if f"/{repo.full_name}/issues/{number}/" in call.path
    ] == []
