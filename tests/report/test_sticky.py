"""All variants of the sticky comment, with golden files; UPDATE_GOLDEN=1 rewrites them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from bot.ports import AskedQuestion
from bot.report.comment.markdown import MAX_COMMENT, VISIBLE_WORDS
from bot.report.comment.sticky import (
    fixed_comment,
    question_reply,
    report_comment,
    waiting_comment,
)
from bot.report.comment.thread import REPORT_MARKER, Thread, with_time, without_time
from bot.report.words import LEAKED
from nodes.report import RelatedIssue
from nodes.state import BugTriageState
from tests.report.reports import (
    FEATURE,
    FIRST_PLACE,
    FOUND,
    NOTHING,
    POINTED,
    SECURITY,
    SEVERAL,
    SHA,
    THIN,
    WEAK,
)
from tests.report.visible import QUESTION_WORDS, visible_words

GOLDEN = Path(__file__).parent / "golden"
BASE = "https://github.example/octo/parser"
OPEN = AskedQuestion(
    slot=1,
    question_id="r1-q1",
    text="What exactly does the program print when it fails? Please paste the whole message.",
    reason="Two places fit the report equally well (scores within 5 %), and they are code for different systems.",
    options=("Only on Windows", "Only on Linux", "On all that I tried"),
    asked_at="2026-01-01T10:00:00Z",
)
ANSWERED = replace(
    OPEN,
    state="answered",
    answer="Only on Windows, with `--no-cache`",
    answered_by="kim",
    answer_url=f"{BASE}/issues/12#issuecomment-99",
)
SECOND = replace(OPEN, slot=2, question_id="r1-q2", text="Which version do you use?", options=())
THREAD = Thread(
    number=12,
    run=1,
    server_url="https://github.example",
    repository="octo/parser",
    reporter="rita",
)
STATE = BugTriageState(sha=SHA)
DUPLICATE = RelatedIssue(reference="#98", relation="duplicate", state="closed", why="the same frames on top")
FIXED = RelatedIssue(reference="b" * 40, relation="fixed_by", why="released in 2.4.1; it touches the lines named")
VARIANTS = {
    "needs_answer": waiting_comment(STATE, replace(THREAD, questions=(OPEN,))),
    "needs_second_answer": waiting_comment(
        STATE, replace(THREAD, questions=(ANSWERED, SECOND), update_reason="Updated after an answer.")
    ),
    "question_reply": question_reply(
        replace(THREAD, questions=(ANSWERED, SECOND)), "r1-q2", f"{BASE}/issues/12#issuecomment-5"
    ),
    "report": report_comment(FOUND, THREAD),
    "place_without_cause": report_comment(WEAK, THREAD),
    "no_finding": report_comment(NOTHING, THREAD),
    "several_places": report_comment(SEVERAL, THREAD),
    "first_place": report_comment(FIRST_PLACE, THREAD),
    "pointed": report_comment(POINTED, THREAD),
    "thin": report_comment(THIN, THREAD),
    "not_a_bug": report_comment(FEATURE, THREAD),
    "known_duplicate": report_comment(FOUND.model_copy(update={"related": (DUPLICATE,)}), THREAD),
    "known_fixed": report_comment(FOUND.model_copy(update={"related": (FIXED,)}), THREAD),
    "possible_vulnerability": report_comment(SECURITY, THREAD),
    "leaked_secret": fixed_comment(LEAKED, THREAD),
    "after_answer": report_comment(
        FOUND, replace(THREAD, run=2, questions=(ANSWERED,), update_reason="Updated after an answer.")
    ),
    "after_silence": report_comment(
        WEAK, replace(THREAD, questions=(replace(OPEN, state="expired"),), update_reason="Updated without an answer.")
    ),
    "limits_met": report_comment(FOUND, replace(THREAD, limited=("model calls for this repository today",))),
    "config_fault": report_comment(
        FOUND,
        replace(
            THREAD,
            config_note="`.github/triage.yml`, line 4: unknown key \\`mod\\`. "
            "Until it is fixed, the last valid version applies.",
        ),
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_golden(name: str) -> None:
    golden = GOLDEN / "sticky" / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(VARIANTS[name])
    assert VARIANTS[name] == golden.read_text()


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_short_and_has_one_marker_and_one_mention_at_most(name: str) -> None:
    text = VARIANTS[name]
    assert visible_words(text) <= (QUESTION_WORDS if name.startswith(("needs_", "question_")) else VISIBLE_WORDS)
    assert text.count("<!--") == 1
    assert text.startswith(REPORT_MARKER) is (name != "question_reply")
    assert len(re.findall(r"@\w", text)) <= 1


@pytest.mark.parametrize("name", ["needs_answer", "needs_second_answer", "question_reply"])
def test_a_waiting_report_names_no_place(name: str) -> None:
    assert not re.search(r"lexer|Likely|blob/", VARIANTS[name])


@pytest.mark.parametrize("name", ["possible_vulnerability", "leaked_secret"])
def test_security_issues_are_not_discussed_in_public(name: str) -> None:
    assert not re.search(r"lexer|scan|E\d|a1b2", VARIANTS[name])
    assert "<details>" not in VARIANTS[name]


def test_the_longest_thread_stays_readable() -> None:
    long = "word " * 59
    first = replace(ANSWERED, slot=1, text=long, answer=long * 3, state="answered")
    questions = first, replace(first, slot=2, state="expired")
    report = FOUND.model_copy(
        update={
            "verdict": long,
            "root_cause": "A word is said [E1]. " * 57,
            "missing": (long,) * 4,
            "severity_reason": long,
            "ruled_out": (long,) * 300,
            "related": (DUPLICATE.model_copy(update={"why": long}),),
        }
    )
    text = report_comment(report, replace(THREAD, questions=questions, update_reason="Updated after an answer."))
    assert visible_words(text) <= VISIBLE_WORDS
    assert len(text) <= MAX_COMMENT
    waiting = waiting_comment(STATE, replace(THREAD, questions=(replace(OPEN, text=long, options=(long,) * 3),)))
    assert visible_words(waiting) <= QUESTION_WORDS


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/octo/parser/issues/12#issuecomment-1",
        "javascript:alert(1)",
        f"{BASE}/issues/12#issuecomment-1) [x](https://evil.example",
        f"{BASE}/settings",
    ],
)
def test_an_answer_is_linked_only_into_its_own_thread(url: str) -> None:
    text = report_comment(FOUND, replace(THREAD, questions=(replace(ANSWERED, answer_url=url),)))
    assert url not in text
    assert "— answered: Only on Windows" in text


@pytest.mark.parametrize("login", ["ri ta", "rita\n/close", "", "x" * 60, "team/all"])
def test_only_a_login_is_mentioned(login: str) -> None:
    assert "@" not in waiting_comment(STATE, replace(THREAD, reporter=login, questions=(OPEN,)))


def test_hostile_questions_and_answers_do_not_act() -> None:
    hostile = "@all ![x](https://evil.example) <!-- triage:report --> <script> #12 \u202e"
    question = replace(ANSWERED, text=hostile, answer=hostile)
    text = report_comment(NOTHING, replace(THREAD, reporter="", questions=(question,)))
    assert not re.search(r"@\w|(?<!\\)!\[|(?<!\\)<script|#12\b|https://evil|\u202e", text)
    assert text.count(REPORT_MARKER) == 1


def test_the_time_is_ignored_in_the_comparison() -> None:
    body = report_comment(FOUND, THREAD)
    sent = with_time(body, "2026-01-01 10:02")
    assert sent != body
    assert without_time(sent.replace("\n", "\r\n")) == body
    assert "`/triage stop` — updated 2026-01-01 10:02 UTC</sub>" in sent
