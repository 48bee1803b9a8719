"""No posted text acts on GitHub, by GitHub's own Markdown parser; FUZZ=10 runs ten times as many."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import cycle
from typing import cast

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bot.report.comment.markdown import MarkdownRenderer
from bot.report.comment.sticky import question_reply, report_comment, waiting_comment
from bot.report.explain import render_markdown
from bot.report.sanitise import block, cell, code, prose
from bot.settings.repository import FoundConfig, RepositoryConfig
from bot.settings.yaml_file import ConfigFault
from bot.store.runs.rows import ListedRun, RunStatus
from bot.worker.commands.execute import _unknown
from bot.worker.commands.parse import Command
from bot.worker.commands.table import _last_run, _waiting
from bot.worker.publish.target import first_faults
from nodes.report import OutsideSource, RelatedIssue
from nodes.state import BugTriageState
from tests.report.github_markdown import acting
from tests.report.hostile_text import FRAGMENTS, HOSTILE, filled
from tests.report.reports import FEATURE, FOUND, NOTHING, SHA, WEAK
from tests.report.test_explain import account
from tests.report.test_sticky import ANSWERED, BASE, OPEN, SECOND, THREAD

OWN = (f"{BASE}/",)
RITA = ("@rita",)
OURS = frozenset({"repository", "commit", "evidence"})
"""Fields of a report that only the program fills."""
THREAD_IS_OURS = frozenset(
    {"server_url", "repository", "reporter", "update_reason", "config_note", "limited", "asked_at"}
)
THOROUGH = settings(
    max_examples=40 * int(os.environ.get("FUZZ", "1")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
pytestmark = [
    pytest.mark.timeout(120 * int(os.environ.get("FUZZ", "1"))),
    pytest.mark.tried("mark-up that must not act in what is posted, read by GitHub's own Markdown renderer"),
]
TEXTS = st.lists(HOSTILE, min_size=1, max_size=7)
RELATED = tuple(
    RelatedIssue(reference=f"#{number}", relation=relation, state="open", why="the same frames", title="A title")
    for number, relation in ((7, "related"), (8, "duplicate"), (9, "fixed_by"), (10, "related"))
)
FULL = FOUND.model_copy(
    update={
        "related": RELATED,
        "outside": (OutsideSource(title="A page", address="https://page.example", found_by="searx"),),
        "recent_changes": FOUND.suspect_changes,
        "no_suspect_change": "no version is named",
        "notes": ("Rules judged instead",),
        "review_message": "look at it",
    }
)
REPORTS = {
    "full": FULL,
    "related": FULL.model_copy(update={"related": RELATED[:1]}),
    "fixed": FULL.model_copy(update={"related": RELATED[2:]}),
    "weak": WEAK,
    "nothing": NOTHING,
    "feature": FEATURE,
}


@pytest.mark.parametrize("before", ["", "x", "_", "1", "é", "(", "\\", "`", "a "], ids=ascii)
def test_no_fragment_has_an_effect_after_any_prefix(before: str) -> None:
    for fragment in FRAGMENTS:
        for text in (before + fragment, f"{before}{fragment} {fragment}", f"{fragment}{before}{fragment}"):
            rendered = prose(text)
            assert acting(f"{rendered}\n\n- {rendered}\n\n**said {rendered}**.\n\n> {rendered}") == [], text


@pytest.mark.parametrize(
    "title",
    [
        "_https://evil.example",
        "1https://evil.example",
        "éhttps://evil.example",
        "x_www.evil.example",
        "a@-evil.example",
    ],
)
def test_a_foreign_title_creates_no_link_to_another_issue(title: str) -> None:
    related = FOUND.related[0].model_copy(update={"title": title})
    text = report_comment(FOUND.model_copy(update={"related": (related,)}), THREAD)
    assert "“" in text
    assert acting(text, own=OWN, mentions=RITA) == []


@THOROUGH
@given(HOSTILE, HOSTILE)
def test_no_text_has_an_effect(first: str, second: str) -> None:
    assert acting(f"said {prose(first)}1 {prose(second)}\n\n{prose(second)}") == []
    assert acting(f"{code(first)} and {code(second)}") == []
    assert acting(f"1. {code(first)} [E1]\n\n{block(second)}\n\n{prose(first)}") == []
    row = f"| {cell(prose(first))} | {cell(code(second))} | end |"
    table = f"| A | B | C |\n|---|---|---|\n{row}"
    assert acting(table) == []


@THOROUGH
@pytest.mark.parametrize("name", REPORTS)
@example(texts=["`` ``"])
@example(texts=[f":{'a1b2c3d4' * 5}https://evil.example"])
@given(texts=TEXTS)
def test_no_report_acts(name: str, texts: list[str]) -> None:
    endless = cycle(texts)
    report = filled(REPORTS[name], endless, keep=OURS)
    thread = filled(replace(THREAD, questions=(ANSWERED,)), endless, keep=THREAD_IS_OURS)
    assert acting(report_comment(report, thread), own=OWN, mentions=RITA) == []
    renderer = MarkdownRenderer(server_url=THREAD.server_url, repository=THREAD.repository)
    assert acting(renderer.comment(report), own=OWN) == []
    assert acting(renderer.ticket(report).body, own=OWN) == []


@THOROUGH
@given(TEXTS)
def test_no_question_has_an_effect(texts: list[str]) -> None:
    thread = filled(replace(THREAD, questions=(OPEN, ANSWERED, SECOND)), cycle(texts), keep=THREAD_IS_OURS)
    assert acting(waiting_comment(BugTriageState(sha=SHA), thread), own=OWN, mentions=RITA) == []
    assert acting(question_reply(thread, texts[0], f"{BASE}/issues/12#issuecomment-5"), own=OWN) == []


@THOROUGH
@given(TEXTS)
def test_no_explanation_has_an_effect(texts: list[str]) -> None:
    made = account()
    hostile = filled(made, cycle(texts), keep=OURS | {"sha", "id"})
    assert acting(render_markdown(hostile), own=OWN) == []


@THOROUGH
@given(HOSTILE)
def test_no_reply_has_an_effect(text: str) -> None:
    run = ListedRun(1, cast(RunStatus, text), SHA, text, "", "", 0, None, 0.0)
    question = filled(OPEN, cycle([text]))
    found = FoundConfig(RepositoryConfig(), "", "0", (ConfigFault(1, text),))
    command = Command(text, "", 0)
    for rendered in (_unknown(command), _last_run(run), _waiting(question), first_faults(found)):
        assert acting(rendered, own=OWN) == []


@pytest.mark.parametrize(
    ("markdown", "kind"),
    [
        pytest.param("_https://evil.example", "link", id="address"),
        pytest.param("a@evil.example", "link", id="e-mail"),
        pytest.param("ask (@octocat)", "mention", id="mention"),
        pytest.param("see #1", "reference", id="reference"),
        pytest.param("see acme/app#1", "reference", id="foreign-reference"),
        pytest.param(f"see {SHA}", "commit", id="commit"),
        pytest.param("![a](https://evil.example/p.png)", "html: <img>", id="image"),
        pytest.param("<img src=x>", "html: <img>", id="raw-html"),
        pytest.param("<!-- hidden -->", "comment", id="comment"),
        pytest.param("$x$", "maths", id="maths"),
        pytest.param("```math\nx\n```", "fence: math", id="fenced-maths"),
        pytest.param("a :smile:", "emoji", id="emoji"),
        pytest.param("a[^1]\n\n[^1]: b", "html: <sup>", id="footnote"),
        pytest.param("# heading", "html: <h1>", id="heading"),
        pytest.param("~~gone~~", "html: <del>", id="strikethrough"),
    ],
)
def test_text_with_an_effect_is_detected(markdown: str, kind: str) -> None:
    assert any(found.startswith(kind) for found in acting(markdown))
