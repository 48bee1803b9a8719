"""Properties of every comment: its length, its links, and inactive foreign text in every field."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from bot.report.comment.markdown import MAX_COMMENT, VISIBLE_WORDS, MarkdownRenderer
from nodes.report import RelatedIssue, SuspectChange, TriageReport
from tests.report.reports import FOUND, NOTHING, QUESTION_OPEN, REPORTS, SECURITY, SHA, WEAK, suspect

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
OURS = set("p strong em table thead tbody tr th td details summary sub ul ol li pre a".split())
FOLDED = re.compile(r"<details>.*?</details>", re.DOTALL)
HOSTILE = (
    "@octocat ![x](https://evil.example/p.png) <img src=x> </details> [a](javascript:x) #12 `",
    "</summary>\n\n```\n/close\n@octocat &#64;octocat | a | `b` |",
)


def visible(comment: str) -> str:
    return FOLDED.sub("", comment)


@pytest.mark.parametrize("text", HOSTILE, ids=["one-line", "many-lines"])
@pytest.mark.parametrize("name", ["found", "question_open", "without_address"])
def test_foreign_text_has_no_effect_in_any_position(text, name):
    """Every field that an issue, a model or a repository can fill contains the same hostile text."""
    place = suspect(path=text, symbol=text, why=text, quote=text, evidence="E1")
    given = dict.fromkeys(("verdict", "severity_reason", "how_to_confirm", "review_message", "owner"), text)
    given |= dict.fromkeys(("owner_reason", "no_suspect_change"), text)
    change = SuspectChange(sha=text, title=text, why=text, within=text, basis="named", author=text)
    lists = dict.fromkeys(("missing", "ruled_out", "tried", "notes"), (text,))
    places = {"suspects": (place,), "labels": (text, f"area: {text}")}
    places |= {"related": (RelatedIssue(reference="#98", relation="related", why=text, title=text),)}
    places |= {"suspect_changes": (change,), "recent_changes": (change,), "fingerprints": (text,)}
    comment = MarkdownRenderer().comment(REPORTS[name].model_copy(update={**given, **lists, **places}))
    outside = re.sub(r"<code.*?</code>", "", MARKDOWN.render(comment), flags=re.DOTALL)
    assert {tag.split()[0].strip("</>") for tag in re.findall(r"<[^>]*>", outside)} <= OURS
    links = re.findall(r'href="([^"]*)"', outside)
    assert all(link.startswith("https://github.com/octo/parser/") for link in links)
    assert not re.search(r"@\w|#\d", re.sub(r'href="[^"]*"', "", outside))
    assert not re.search(r"^\s*/\w", comment, re.MULTILINE)


def test_links_are_permalinks_of_the_commit_read():
    comment = MarkdownRenderer(server_url="https://git.example/", repository="o/r").comment(FOUND)
    assert f"\nhttps://git.example/o/r/blob/{SHA}/parser/lexer.py#L10-L13\n" in comment


@pytest.mark.parametrize("repository", ["", "no-owner", "a/b/c", "o/r)](https://evil.example", "../..", "o/.."])
def test_without_a_well_formed_address_there_is_no_link(repository):
    assert "](" not in MarkdownRenderer().comment(FOUND.model_copy(update={"repository": repository}))


def test_a_security_report_omits_the_code():
    renderer = MarkdownRenderer()
    whole = renderer.comment(SECURITY) + renderer.ticket(SECURITY).model_dump_json()
    assert "lexer" not in whole
    assert "security policy" in whole


@pytest.mark.parametrize("report", [WEAK, NOTHING, QUESTION_OPEN], ids=["weak", "nothing", "question"])
def test_no_cause_is_claimed_below_the_threshold(report):
    comment = MarkdownRenderer().comment(report)
    assert "Confidence: " not in visible(comment)
    assert "probably" not in comment


def test_an_open_question_stands_where_the_reporter_sees_it():
    assert "does the program print when it fails?" in visible(MarkdownRenderer().comment(QUESTION_OPEN))


def longest() -> TriageReport:
    words = ("`word` " * 60)[:290]
    places = [suspect(why=words, number=n, symbol="Long.name" * 8, quote=("|`@*" * 250)[:1000]) for n in range(5)]
    lines = (words,) * 4
    return FOUND.model_copy(
        update={
            "verdict": words,
            "root_cause": " ".join(["It is probably there [E1]." * 3] * 20)[:1200],
            "severity_reason": words,
            "suspects": tuple(places),
            "suspect_changes": (SuspectChange(sha=SHA, title=words, why=words, within=words, touches_place=True),) * 3,
            "related": (RelatedIssue(reference="#98", relation="related", state="closed", why=words, title=words),) * 3,
            "owner_reason": words,
            "missing": lines,
            "ruled_out": lines,
            "notes": lines * 5,
            "how_to_confirm": words * 4,
        }
    )


def test_the_longest_report_keeps_the_limits():
    comment = MarkdownRenderer().comment(longest())
    assert len(comment) <= MAX_COMMENT
    assert len(visible(comment).split()) <= VISIBLE_WORDS
    assert comment.count("<details>") == comment.count("</details>") == 2


def test_a_comment_above_githubs_limit_loses_the_fold_and_not_its_end():
    comment = MarkdownRenderer().comment(longest().model_copy(update={"ruled_out": ("x" * 290,) * 400}))
    assert len(comment) <= MAX_COMMENT
    assert comment.endswith("</sub>\n")


def test_a_ticket_has_fields_and_fits():
    ticket = MarkdownRenderer().ticket(longest())
    assert len(ticket.body) <= 6_000
    named = {"type": "bug", "severity": "high", "component": "parser/lexer.py", "labels": "bug, area: parser"}
    assert ticket.fields == named
