"""A run's page answers first: the claim with its lines, then what led to it, then how it was found."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path

import pytest

from bot.ports import CommandEffects, Comment, IssueRef, NewSignal, PersonJudgement
from bot.report.comment.markdown import MarkdownRenderer
from bot.server.web.render import as_html
from bot.store.runs.issue_runs import Origin
from bot.store.runs.outcomes import Verdict
from bot.store.tables import Store
from nodes.report import TriageReport
from tests.report.reports import FOUND, REPORTS, SHA, WEAK, suspect
from tests.web.people import Site, opened
from tests.web.stored import COMMENT, SECURITY, Ran, ran


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", "", page)).split())


async def shown(site: Site, ref: IssueRef, run: int = 1, who: str = "operator") -> str:
    return await site.page(f"/runs/octo/parser/{ref.number}/{run}", who)


async def say(site: Site, ref: IssueRef, **effects) -> None:
    """Apply a command of mona's comment 77."""
    comment = Comment(77, 5, "mona", False, "", "https://github.com/octo/parser/issues/1#issuecomment-77", "", "1")
    await site.store.for_issue(ref).control.apply(comment, len(effects), "x", CommandEffects(**effects))


async def test_the_answer_comes_first(site: Site) -> None:
    ref = await ran(site.store, Ran(comment=COMMENT))
    page = await shown(site, ref)
    parts = (
        "passes through <code>Lexer.scan</code>",
        f"https://github.com/octo/parser/blob/{SHA}/parser/lexer.py#L",
        "The fix is probably in",
        "<summary>For maintainers",
        "Speed up the lexer",
        "lexer 2.4.1 on Debian.",
        "<h2>How it was found",
        "<h2>Evidence",
        "on the reporter&#39;s stack trace at line 11",
        "<h2>What was checked",
        "<h2>Time and cost",
    )
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert f'href="https://github.com/octo/parser/issues/{ref.number}#issuecomment-5"' in page
    assert page.count('<details class="fold"') == page.count('<details class="fold">') + 1 == 4  # all but the evidence


@pytest.mark.parametrize("name", [name for name in REPORTS if name != "security"])
async def test_the_answer_is_the_comment_of_the_report(site: Site, name: str) -> None:
    report: TriageReport = REPORTS[name]
    comment = MarkdownRenderer(repository="octo/parser").comment(report)
    for stored in ("", comment):
        ref = await ran(site.store, Ran(report=report.model_copy(update={"github_comment": stored})))
        page = await shown(site, ref)
        for line in str(as_html(comment)).split("\n"):
            assert line in page or "/blob/" in line
        assert not re.search(r">\s*https://github", page)


async def test_an_empty_part_has_no_heading(site: Site) -> None:
    page = await shown(site, await ran(site.store, Ran(report=WEAK, gathered=[], visits=())))
    for heading in ("Evidence", "Rejected drafts", "Questions"):
        assert heading not in page


async def test_the_issue_is_rendered_without_active_content(site: Site) -> None:
    body = "# Broken\n\n```python\nscan()\n```\n<script>alert(1)</script><img src=x onerror=alert(2)>[go](javascript:x)"
    page = await shown(site, await ran(site.store, Ran(origin=Origin(body, "rita", "opened"))))
    text = page.partition('class="issue-text')[2].partition("</section>")[0]
    assert "<h3>Broken</h3>" in text
    assert "scan()" in text
    assert not re.search("<script|<img|<a|onerror|alert", text)


async def test_it_shows_the_reason_for_the_run_and_the_instructions_that_it_had(site: Site) -> None:
    by_command = Origin("It hangs.", "rita", "command", "mona", 77)
    ref = await ran(site.store, Ran())
    await say(site, ref, signals=(NewSignal("correction", "the lexer is never reached"),))
    await ran(site.store, Ran(number=ref.number, origin=by_command))
    first, last = await shown(site, ref), await shown(site, ref, 2)
    assert "Began because the issue was opened." in text_of(first)
    assert "never reached" not in first  # written after this run
    assert "Began because mona asked for it in a comment." in text_of(last)
    assert "issuecomment-77" in last
    assert "mona said what was wrong" not in text_of(last)  # its run had read no signal
    read_all = "UPDATE runs SET last_signal = (SELECT MAX(number) FROM signals) WHERE run_no = 2"
    await site.store._database.do(lambda db: db.execute(read_all).rowcount)
    told = text_of(await shown(site, ref, 2))
    assert "mona said what was wrong" in told
    assert "the lexer is never reached" in told.partition("Instructions from people")[2]


async def test_it_shows_the_difference_from_the_run_before(site: Site) -> None:
    ref = await ran(site.store, Ran())
    other = FOUND.model_copy(update={"suspects": (suspect("parser/reader.py", facts=(2,)),)})
    await ran(site.store, Ran(number=ref.number, report=other))
    await ran(site.store, Ran(number=ref.number, report=other))
    assert "Different from run" not in await shown(site, ref)
    second, third = text_of(await shown(site, ref, 2)), text_of(await shown(site, ref, 3))
    assert "Different from run 1 The first file is parser/reader.py instead of parser/lexer.py." in second
    assert "Different from run 2 The reports do not differ." in third


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (None, "No fix is known yet."),
        (Verdict("scored", 1, "f" * 40), "Right: the fix changed parser/lexer.py, the first file. fix fffffff"),
        (Verdict("scored", 2, "f" * 40), "Partly right: the fix changed parser/reader.py, file 2 here."),
        (Verdict("scored", 0, "f" * 40), "Wrong: the fix changed none of the files named here."),
        (Verdict("unknown", why="no commit closes the issue"), "Not known: no commit closes the issue."),
    ],
    ids=["open", "right", "second", "wrong", "unknown"],
)
async def test_it_shows_whether_the_report_was_right(site: Site, verdict: Verdict | None, said: str) -> None:
    ref = await ran(site.store, Ran())
    if verdict is not None:
        await site.store.for_issue(ref).outcome.keep(verdict)
    page = await shown(site, ref)
    assert said in text_of(page)
    assert (f"https://github.com/octo/parser/commit/{'f' * 40}" in page) == (verdict is not None and bool(verdict.fix))


async def test_it_shows_judgements_of_people_and_the_labels_that_were_set(site: Site) -> None:
    ref = await ran(site.store, Ran())
    await say(site, ref, judgement=PersonJudgement(right=False, why="it is the reader"))
    await site.store.for_issue(ref).effects.set_wanted("labels", "", "h", '["bug"]')
    await site.store.for_issue(ref).control.labelled("area: parser", "rita", added=False)
    page = text_of(await shown(site, ref))
    assert "mona said that this is wrong: it is the reader" in page
    assert "Labels set: bug" in page
    assert "rita removed area: parser" in page


async def test_a_security_report_is_for_the_operator_and_its_page_links_the_private_form(site: Site) -> None:
    ref = await ran(site.store, Ran(report=SECURITY, origin=Origin("Craft a file named zebra.", "rita", "opened")))
    mine, theirs = await shown(site, ref), await shown(site, ref, who="rita")
    for secret in ("crafted file", "Speed up the lexer", "lexer.py"):
        assert secret in mine, secret
        assert secret not in theirs, secret
    for page in (mine, theirs):
        assert "zebra" not in page
        assert 'href="https://github.com/octo/parser/security/advisories/new"' in page
    assert "shown to the operator only" in theirs


async def test_a_long_text_is_shortened_and_a_closed_issues_text_is_deleted(site: Site, store: Store) -> None:
    ref = await ran(store, Ran(origin=Origin("word " * 4_000 + "zebra", "rita", "opened")))
    page = await shown(site, ref)
    assert "The text is shortened" in page
    assert "zebra" not in page
    await store.for_issue(ref).row.end("closed")
    store._database.clock = lambda: 1e11  # type: ignore[method-assign]
    await store.pruning.closed_issues(1.0)
    assert "The text is empty or not stored" in await shown(site, ref)
    assert "The fix is probably in" in await shown(site, ref)
