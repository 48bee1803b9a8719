"""The real server with an independent emulator of GitHub: issue, question, answer, commands and login."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from tests.emulated.emulator import NAME, OWNER, REPORTER, STRANGER, TRIAGER, Emulator
from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, TITLE

LACKS = {
    "GET /app/hook/deliveries": "the log of deliveries, from which missed ones are fetched",
    "POST /repos/octo/feedbox/issues/N/reactions": "reactions to issues",
    "POST /repos/octo/feedbox/issues/comments/N/reactions": "reactions to comments",
    "GET /user/installations": "the repositories of the App that a person may see",
}
"""Requests that the emulator answers with 404 although GitHub supports them; the App must log it and continue."""
ABSENT = {
    "GET /repos/octo/feedbox/contents/.github/triage.yml": "the repository has no configuration at first",
    "POST /app/installations/N/access_tokens": "the owner has no repository .github, so no token for it either",
}
"""Requests that GitHub would answer with an error too."""
WAIT = 40.0


def posted(app: App, emulator: Emulator, number: int, text: str) -> str:
    """Wait until the report of an issue contains a text; return the report."""
    wait_for(lambda: text in emulator.report(number), WAIT, lambda: (emulator.report(number), app.log[-8:]), pause=0.1)
    app.settled()
    return emulator.report(number)


@pytest.fixture(scope="module")
def reported(app: App, emulator: Emulator) -> int:
    """Return an issue with a report."""
    number = emulator.open_issue(TITLE, BODY)
    posted(app, emulator, number, "dates.py")
    return number


def test_an_issue_gets_one_report_and_its_label(app: App, emulator: Emulator, reported: int) -> None:
    report = emulator.report(reported)
    assert "`parse_date` raises `ValueError` on this line" in report
    assert "/feedbox/dates.py#L" in report
    assert f"{emulator.url}/{NAME}/blob/" in report
    issue = emulator.ask(OWNER, "GET", f"/repos/{NAME}/issues/{reported}")
    assert [label["name"] for label in issue["labels"]] == ["bug"]


def test_every_token_has_only_the_permissions_it_needs(app: App, emulator: Emulator, reported: int) -> None:
    minted = emulator.http.get("/_emulate/installation-tokens").json()["installation_tokens"]
    assert all(token["repository_selection"] == "selected" for token in minted)
    given = {(name, level) for token in minted for name, level in token["permissions"].items()}
    assert given <= {("contents", "read"), ("issues", "write"), ("metadata", "read")}
    assert any("issues" not in token["permissions"] for token in minted)  # git's
    assert emulator.front.fetched_by == {"ghs"}


def test_a_question_is_answered_in_the_thread(app: App, emulator: Emulator) -> None:
    number = emulator.open_issue("It fails", "It does not work.")
    assert "- [ ] **Q1**" in posted(app, emulator, number, "**Q1**")
    answer = emulator.comment(number, "It ends in parse_date: `ValueError: no zone in 'Mon'`")
    report = posted(app, emulator, number, "- [x] **Q1**")
    assert f"[answered]({answer['html_url']})" in report
    assert "dates.py" in report
    wait_for(lambda: len(emulator.ours(number)) == 2, WAIT, lambda: app.log[-8:], pause=0.1)
    assert [body.split(" ", 2)[1] for body in emulator.ours(number)] == ["triage:report", "triage:answered"]


def test_commands_are_obeyed_by_role(app: App, emulator: Emulator) -> None:
    number = emulator.open_issue(TITLE, BODY)
    before = posted(app, emulator, number, "dates.py")
    emulator.comment(number, "/triage redirect look at the readme", STRANGER)
    app.settled()
    assert emulator.report(number) == before
    emulator.comment(number, "/triage redirect look at the store", TRIAGER)
    report = posted(app, emulator, number, "after a redirect")
    assert "A maintainer said to look at `feedbox/store.py`" in report
    emulator.comment(number, "/triage status", OWNER)
    wait_for(lambda: len(emulator.ours(number)) == 2, WAIT, lambda: app.log[-8:], pause=0.1)
    assert "Run 2 is **finished**" in emulator.ours(number)[1]


@pytest.fixture
def switched_off(emulator: Emulator) -> Iterator[None]:
    """Disable the App in the repository's configuration during a test."""
    path = f"/repos/{NAME}/contents/.github/triage.yml"
    content = base64.b64encode(b"enabled: false\n").decode()
    made = emulator.ask(OWNER, "PUT", path, message="Switch it off", content=content)
    yield
    emulator.ask(OWNER, "DELETE", path, message="Switch it on", sha=made["content"]["sha"])


@pytest.mark.usefixtures("switched_off")
def test_the_repositorys_configuration_is_read(app: App, emulator: Emulator) -> None:
    repository = emulator.ask(OWNER, "GET", f"/repos/{NAME}")["id"]
    number = emulator.open_issue(TITLE, BODY)
    key = f"{urlsplit(emulator.url).netloc}/{repository}#{number}"
    wait_for(lambda: app.logged("triage", key), WAIT, lambda: app.log[-8:])
    assert emulator.ours(number) == []


def test_a_person_logs_in_with_their_account(app: App, emulator: Emulator) -> None:
    with httpx.Client(timeout=60, headers={"Accept": "text/html"}) as browser:
        sent = browser.get(f"{app.url}/login/github", params={"next": "/runs"}).headers["location"]
        assert sent.startswith(f"{emulator.url}/login/oauth/authorize?")
        page = browser.get(sent)
        assert page.status_code == 200, page.text
        form = next(form for form in re.findall(r"<form.*?</form>", page.text, re.DOTALL) if f'"{REPORTER}"' in form)
        fields = dict(re.findall(r'name="([^"]*)"\s+value="([^"]*)"', form))
        chosen = {name: html.unescape(value) for name, value in fields.items()}
        back = browser.post(f"{emulator.url}/login/oauth/callback", data=chosen).headers["location"]
        assert urlsplit(back).netloc == urlsplit(app.url).netloc
        assert browser.get(f"{app.url}/runs").status_code == 303  # not logged in yet
        answer = browser.get(back)
        # The emulator knows the person but not what they may see, so no page is opened.
        assert answer.status_code == 503
        assert TITLE not in browser.get(f"{app.url}/runs").text
        again = browser.get(back).status_code
        assert again in (400, 403), again  # a code is valid once


def test_gaps_of_the_emulator_are_listed(app: App, emulator: Emulator, reported: int) -> None:
    refused = emulator.front.refused()
    assert set(refused) <= set(LACKS | ABSENT), refused
    assert set(refused.values()) <= {404, 422}
    assert any(line.get("action") == "reaction.refused" for line in app.log)
    assert not [line for line in app.log if line.get("level") == "error"]
