"""Which comments count as answers, and which are common remarks."""

from __future__ import annotations

import pytest

from bot.ports import AskedQuestion, Comment, Issue, IssueRef
from bot.worker.runs.questions import answer_in, answer_in_body, own_words
from tests.support.growth import assert_linear

EITHER = AskedQuestion(
    slot=1,
    question_id="q",
    text="Does it fail when exporting, or when importing?",
    reason="",
    options=("When exporting", "When importing", "Both, or I cannot tell"),
    asked_at="2026-01-01T00:00:00Z",
)
PRINTS = AskedQuestion(
    slot=2,
    question_id="q2",
    text="What exactly does the program print when it fails? Please paste the whole message.",
    reason="",
    options=("An error with a stack trace (please paste it)", "Nothing at all"),
    asked_at="2026-01-01T00:00:00Z",
)
VERSION = AskedQuestion(
    slot=1, question_id="q3", text="Which version do you use?", reason="", options=(), asked_at="2026-01-01T00:00:00Z"
)


def comment(body: str, **given) -> Comment:
    values = {"id": 9, "author_id": 1, "author": "rita", "author_is_bot": False, "body": body}
    return Comment(**{**values, "url": "", "created_at": "", "updated_at": "", **given})


@pytest.mark.parametrize("by_reporter", [True, False], ids=["reporter", "somebody"])
@pytest.mark.parametrize(
    ("question", "body"),
    [
        (EITHER, "Only when importing."),
        (EITHER, "Yes"),
        (EITHER, "both!"),
        (EITHER, "Thanks for looking. It is the export."),
        (EITHER, "> Does it fail when exporting?\n\nno, never then"),
        (EITHER, "Q1: the second one"),
        (PRINTS, "```\nKeyError: 'a'\n```"),
        (PRINTS, "Nothing at all"),
        (PRINTS, 'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    x()\nKeyError: 1'),
        (PRINTS, "I call parse_date in feedbox/dates.py"),
        (VERSION, "2.4.1"),
        (VERSION, "I'm on v2.4.1, same here"),
    ],
)
def test_any_users_answer_counts(question, body, by_reporter) -> None:
    assert answer_in(comment(body), question, by_reporter=by_reporter)


@pytest.mark.parametrize("by_reporter", [True, False], ids=["reporter", "somebody"])
@pytest.mark.parametrize(
    "body",
    [
        "+1",
        "👍",
        "👍👍 🎉",
        "Thanks!",
        "thank you so much",
        "Merci !",
        "Same here",
        "me too",
        "I have the same problem.",
        "bump",
        "any news on this?",
        "any update?",
        "Following.",
        "ok",
        "hello?",
        "Can someone look at this please",
        "When will this be fixed?",
        "> It goes wrong when exporting\n\n+1",
        "/triage status",
        "/triage answer importing",
        "<!-- when importing -->",
        "",
        "   \n",
        "What do you mean?",
    ],
)
def test_thanks_votes_and_nudges_are_no_answer(body, by_reporter) -> None:
    assert answer_in(comment(body), EITHER, by_reporter=by_reporter) is None


@pytest.mark.parametrize(
    "body",
    [
        "@bob can you take this one",
        "I will be away next week.",
        "Let us close the old ones first",
        "Nice weather today",
    ],
)
def test_a_discussion_of_others_is_not_an_answer(body) -> None:
    assert answer_in(comment(body), EITHER, by_reporter=False) is None


@pytest.mark.parametrize("body", ["It started after I moved the files", "works now", "importing", "je sais pas"])
def test_a_statement_of_the_reporter_counts(body) -> None:
    assert answer_in(comment(body), EITHER, by_reporter=True) == body


def test_comments_of_bots_and_of_the_app_are_not_answers() -> None:
    assert answer_in(comment("Yes", author_is_bot=True), EITHER, by_reporter=False) is None
    assert answer_in(comment("Yes", ours=True), EITHER, by_reporter=False) is None


def test_quotes_and_commands_are_not_part_of_an_answer() -> None:
    assert own_words("> quoted\n\nOnly on Windows.\n/triage status\n<!-- hidden -->") == "Only on Windows."


def issue(body: str) -> Issue:
    return Issue(
        ref=IssueRef("h", 1, 1, "o", "r", 1),
        title="It fails",
        body=body,
        author_id=1,
        author="rita",
        author_is_bot=False,
        state="open",
        locked=False,
        labels=(),
        url="",
        updated_at="",
        is_pull_request=False,
    )


@pytest.mark.parametrize(
    ("question", "body", "answers"),
    [
        (PRINTS, "It fails.\n\nValueError: no zone in 'x'", True),
        (PRINTS, "It fails, really.", False),
        (VERSION, "It fails with version 2.4.1.", True),
        (EITHER, "It fails, really.", False),
    ],
)
def test_an_edit_of_the_issue_answers_if_it_contains_the_requested_text(question, body, answers) -> None:
    assert (answer_in_body(issue(body), question) is not None) is answers


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("piece", ["> ", "a-", "'", "<!--", "x", "?"])
def test_hostile_comments_take_linear_time(piece) -> None:
    assert_linear(
        lambda body: answer_in(comment(body), EITHER, by_reporter=False),
        lambda size: piece * (size // len(piece)),
        60_000,
    )
