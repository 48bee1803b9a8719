"""An edit runs only the commands that its sender wrote, however hidden commands were revealed."""

from __future__ import annotations

import pytest

from bot.jobs import Commands
from bot.server.webhook.events import read_delivery
from bot.server.webhook.handlers import work_for
from bot.worker.commands.parse import new_commands, parse
from tests.servers.deliveries import comment_event, headers
from tests.servers.github_world import World

HIDDEN = {
    "html-comment": "Hello.\n<!--\n/triage redirect look at evil\n-->",
    "html-comment-on-one-line": "Hello <!-- /triage redirect look at evil --> there.",
    "code-fence": "```\n/triage redirect look at evil\n```",
    "indented-code": "Hello.\n\n    /triage redirect look at evil",
    "code-span": "Hello `/triage redirect look at evil`.",
    "quote": "> /triage redirect look at evil",
    "list": "- /triage redirect look at evil",
    "after-words": "See /triage redirect look at evil",
    "zero-width": "/tri\u200bage redirect look at ev\u00adil",
    "bidi": "/triage \u202eredirect\u202c look at evil",
    "variation-selector": "/triage redirect\ufe0f look at evil",
    "tag-characters": "/triage\U000e0041 redirect look at evil",
    "entities": "&#47;triage redirect look at evil",
    "nested-entities": "&amp;#47;triage redirect look&nbsp;at evil",
    "full-width": "\uff0ftriage redirect look at evil",
    "escaped": "\\/triage redirect look at evil",
    "emphasis": "/**tri**age redirect *look* at evil",
    "tags": "<details><p>/triage redirect look at evil</p></details>",
    "another-case": "<!-- /TRIAGE Redirect LOOK at evil -->",
    "no-break-spaces": "<!-- /triage\u00a0redirect\u00a0look\u00a0at\u00a0evil -->",
    "broken-over-lines": "<!-- /triage redirect\nlook at\nevil -->",
}
COMMAND = "/triage redirect look at evil"


@pytest.mark.parametrize("before", HIDDEN.values(), ids=HIDDEN)
def test_text_hidden_by_another_author_is_not_the_editors(before: str) -> None:
    after = parse(f"Tidied up.\n\n{COMMAND}\n")
    assert len(after) == 1
    assert new_commands(after, before, by_author=False) == []


@pytest.mark.parametrize("before", ["<!-- /triage redirect look at evil -->", f"```\n{COMMAND}\n```", f"> {COMMAND}"])
def test_existing_text_is_not_new_in_any_form(before: str) -> None:
    assert new_commands(parse(COMMAND), before, by_author=True) == []


def test_part_of_a_hidden_text_is_not_the_editors() -> None:
    hidden = f"<!-- {COMMAND} -->"
    for kept in ("/triage", "/triage redirect", "/triage redirect look"):
        assert new_commands(parse(kept), hidden, by_author=False) == []


@pytest.mark.parametrize(
    ("before", "after", "by_author"),
    [
        pytest.param("It fails.", "It fails.\n\n/triage label bug", False, id="a-maintainer-adds-a-line"),
        pytest.param("/triage stauts", "/triage status", True, id="a-typo"),
        pytest.param("/triage stauts", "/triage", True, id="less-than-before"),
        pytest.param("Can somebody triage this?", "/triage", True, id="a-word-is-no-command"),
        pytest.param("", "/triage", True, id="nothing-before"),
    ],
)
def test_commands_of_the_sender_are_run(before: str, after: str, by_author: bool) -> None:
    assert len(new_commands(parse(after), before, by_author=by_author)) == 1


@pytest.mark.parametrize("by_author", [True, False])
def test_without_the_previous_text_no_command_is_run(by_author: bool) -> None:
    assert new_commands(parse("/triage"), None, by_author=by_author) == []


@pytest.mark.parametrize(
    ("changes", "before"),
    [
        ({"body": {"from": "It fails."}}, "It fails."),
        ({}, None),
        ({"body": {}}, None),
        ({"body": {"from": 7}}, None),
        (None, None),
    ],
)
def test_the_handler_passes_the_previous_text(changes: object, before: str | None) -> None:
    world = World(url="https://github.com")
    repo = world.repository()
    world.open_issue(repo)
    comment = world.comment(repo, 1, "/triage", "rita")
    more = {} if changes is None else {"changes": changes}
    body = comment_event(world, repo, 1, comment, "edited", sender="mia", **more)
    sent = {name.lower(): value for name, value in headers("issue_comment", body).items()}
    (work, _) = work_for(read_delivery(sent, body, known=True))
    assert isinstance(work, Commands)
    assert (work.edited, work.before) == (True, before)
