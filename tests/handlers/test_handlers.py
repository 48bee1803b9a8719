"""The work that each delivery leads to: a table of events, and ignored senders."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.jobs import InstallationChanged, Labelled, RepositoryChanged, Work, load
from bot.server.webhook.events import read_delivery
from bot.server.webhook.handlers import work_for

BOT = {"login": "dependabot[bot]", "id": 3, "type": "Bot"}
RITA = {"login": "rita", "id": 1, "type": "User"}
REPOSITORY = {
    "id": 9,
    "name": "parser",
    "full_name": "octo/parser",
    "owner": {"login": "octo", "id": 2},
    "html_url": "https://ghe.example.org/octo/parser",
}
ISSUE = {"number": 4, "user": RITA, "body": None}
COMMENT = {"id": 5, "user": RITA, "body": "It still fails", "html_url": "https://x/5", "created_at": "t"}


def decide(event: str, **fields: Any) -> list[Work]:
    payload = {"repository": REPOSITORY, "sender": RITA, "installation": {"id": 7}} | fields
    headers = {"x-github-event": event, "x-github-delivery": "g", "content-type": "application/json"}
    delivery = read_delivery(headers, json.dumps(payload).encode(), known=True)
    work = work_for(delivery)
    assert [load(one.model_dump_json()) for one in work] == work
    return work


@pytest.mark.parametrize(
    ("action", "more", "kinds"),
    [
        pytest.param("opened", {}, ["triage"], id="opened"),
        pytest.param("reopened", {}, ["triage"], id="reopened"),
        pytest.param("edited", {"changes": {"body": {"from": "x"}}}, ["edited"], id="edited"),
        pytest.param("closed", {}, ["ended"], id="closed"),
        pytest.param("deleted", {}, ["ended"], id="deleted"),
        pytest.param("labeled", {"label": {"name": "bug"}}, ["labelled"], id="labelled"),
        pytest.param("unlabeled", {"label": {"name": "bug"}}, ["labelled"], id="unlabelled"),
        pytest.param("labeled", {}, [], id="labelled-with-nothing"),
        pytest.param("typed", {"type": {"name": "Bug"}}, ["typed"], id="typed"),
        pytest.param("untyped", {"type": {"name": "Bug"}, "sender": RITA}, ["typed"], id="untyped"),
        pytest.param("typed", {"type": {"name": "Bug"}, "sender": BOT}, [], id="typed-by-a-bot"),
        pytest.param("assigned", {}, [], id="assigned"),
        pytest.param("", {}, [], id="no-action"),
        pytest.param("an_action_of_tomorrow", {}, [], id="unknown"),
        pytest.param("opened", {"issue": ISSUE | {"pull_request": {}}}, [], id="pull-request"),
        pytest.param("opened", {"issue": ISSUE | {"user": BOT}, "sender": BOT}, ["triage"], id="by-a-bot"),
        pytest.param("reopened", {"issue": ISSUE | {"user": BOT}, "sender": BOT}, [], id="reopened-by-a-bot"),
        pytest.param("opened", {"issue": ISSUE | {"user": None}}, ["triage"], id="by-nobody-any-more"),
        pytest.param("opened", {"sender": BOT}, ["triage"], id="moved-here-by-a-bot"),
        pytest.param("edited", {"sender": BOT}, [], id="edited-by-a-bot"),
        pytest.param("closed", {"sender": BOT}, ["ended"], id="closed-by-a-bot"),
        pytest.param("labeled", {"sender": BOT, "label": {"name": "bug"}}, [], id="labelled-by-a-bot"),
    ],
)
def test_issues(action: str, more: dict[str, Any], kinds: list[str]) -> None:
    assert [work.kind for work in decide("issues", action=action, **({"issue": ISSUE} | more))] == kinds


@pytest.mark.parametrize(
    ("action", "more", "kinds"),
    [
        pytest.param("created", {}, ["reply"], id="created"),
        pytest.param("edited", {}, ["reply"], id="edited"),
        pytest.param("created", {"comment": COMMENT | {"body": "/Triage help"}}, ["commands", "reply"], id="command"),
        pytest.param("created", {"comment": COMMENT | {"body": None}}, ["reply"], id="empty"),
        pytest.param("created", {"comment": COMMENT | {"user": BOT}, "sender": BOT}, [], id="by-a-bot"),
        pytest.param("edited", {"comment": COMMENT | {"user": BOT}}, [], id="a-bots-edited-by-a-person"),
        pytest.param("deleted", {"comment": COMMENT | {"user": BOT}}, ["comment_deleted"], id="a-bots-deleted"),
        pytest.param("deleted", {"comment": COMMENT | {"user": BOT}, "sender": BOT}, [], id="deleted-by-a-bot"),
        pytest.param("deleted", {}, [], id="a-persons-deleted"),
        pytest.param("created", {"issue": ISSUE | {"pull_request": {"url": "x"}}}, [], id="on-a-pull-request"),
    ],
)
def test_comments(action: str, more: dict[str, Any], kinds: list[str]) -> None:
    fields = {"issue": ISSUE, "comment": COMMENT} | more
    assert [work.kind for work in decide("issue_comment", action=action, **fields)] == kinds


def test_the_apps_own_comments_start_nothing() -> None:
    ours = {"login": "helper[bot]", "id": 1, "type": "Bot"}
    comment = COMMENT | {"user": ours, "body": "/triage", "performed_via_github_app": {"id": 4711}}
    assert decide("issue_comment", action="created", issue=ISSUE, comment=comment, sender=ours) == []
    written_for_a_person = COMMENT | {"performed_via_github_app": {"id": 4711}}
    assert len(decide("issue_comment", action="created", issue=ISSUE, comment=written_for_a_person)) == 1


@pytest.mark.parametrize(
    ("sender", "actor"),
    [
        pytest.param(RITA, "rita", id="a-person"),
        pytest.param(None, "", id="a-deleted-account"),
    ],
)
def test_the_event_of_a_label_names_who_changed_it(sender: Any, actor: str) -> None:
    for action in ("labeled", "unlabeled"):
        (work,) = decide("issues", action=action, issue=ISSUE, label={"name": "bug"}, sender=sender)
        assert isinstance(work, Labelled)
        assert (work.added, work.actor) == (action == "labeled", actor)


def test_keys_contain_host_and_ids() -> None:
    (work,) = decide("issues", action="opened", issue=ISSUE)
    assert work.key == "ghe.example.org/9#4"
    (work,) = decide("issues", action="opened", issue=ISSUE, repository={"id": 9, "full_name": "octo/parser"})
    assert work.key == "github.com/9#4"


def test_a_moved_issue_is_known_under_both_keys() -> None:
    changes = {"new_issue": {"number": 8}, "new_repository": REPOSITORY | {"id": 10}}
    (left,) = decide("issues", action="transferred", issue=ISSUE, changes=changes)
    assert left.moved_to == "ghe.example.org/10#8"
    changes = {"old_issue": {"number": 3}, "old_repository": REPOSITORY | {"id": 10}}
    (arrived,) = decide("issues", action="opened", issue=ISSUE, changes=changes)
    assert arrived.moved_from == "ghe.example.org/10#3"


@pytest.mark.parametrize(
    "how", ["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted", "something_new"]
)
def test_installations(how: str) -> None:
    installation = {"id": 7, "account": {"login": "octo"}, "html_url": "https://ghe.example.org/settings/7"}
    named = [{"id": 9, "name": "parser", "full_name": "octo/parser"}]
    work = decide("installation", action=how, installation=installation, repositories=named, repository=None)
    if how == "something_new":
        assert work == []
        return
    (change,) = work
    assert isinstance(change, InstallationChanged)
    assert (change.host, change.id, change.account, change.how) == ("ghe.example.org", 7, "octo", how)
    assert [one.key for one in change.added] == ([] if how == "deleted" else ["ghe.example.org/9"])


@pytest.mark.parametrize("how", ["renamed", "archived", "privatized", "deleted", "created"])
def test_repositories(how: str) -> None:
    work = decide("repository", action=how, repository=REPOSITORY | {"archived": how == "archived"})
    if how == "created":
        assert work == []
        return
    (change,) = work
    assert isinstance(change, RepositoryChanged)
    assert (change.key, change.how, change.archived) == ("ghe.example.org/9", how, how == "archived")


def test_a_ping_leads_to_no_job() -> None:
    assert decide("ping", zen="Keep it logically awesome.") == []
