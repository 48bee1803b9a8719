"""The list of runs and a run's page: their content, their viewers, and hostile issues."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path

import pytest

from bot.limits.ceilings import Amount, Scope
from bot.ports import IssueRef, PersonJudgement
from bot.store.runs.outcomes import Feedback, Verdict, note_feedback
from bot.store.tables import Store
from nodes.evidence import Evidence, Locator
from nodes.report import CitationAudit
from nodes.state import TraceEntry
from tests.report.reports import FOUND, SHA, WEAK
from tests.web.people import Site, opened
from tests.web.stored import (
    COMMENT,
    DROPPED,
    PARSER,
    SECRET,
    SECURITY,
    TRACE,
    Ran,
    ask,
    entry,
    ran,
)

HOSTILE = "<script>alert(1)</script>\u202egnp\x07.exe\x00 \u200b'\"><img src=x onerror=alert(2)> {{ 7*7 }} &lt;b&gt;"


@pytest.fixture
async def site(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    async with opened(store, tmp_path, monkeypatch) as site:
        yield site


class Acts(HTMLParser):
    """Collects the active parts of a page that are not ours."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        ours = given.get("src", "/assets/").startswith("/assets/") and (given.get("href") or "/").startswith(
            ("/", "?", "#", "https://github.com/")
        )
        if tag in ("iframe", "object", "style", "b") or not ours or (tag == "script" and "src" not in given):
            self.found.append(self.get_starttag_text() or tag)
        self.found += [name for name in given if name.startswith("on") or name == "style"]


def titles(page: str) -> list[str]:
    """Return the titles of the runs in a list, in order."""
    return [
        unescape(title) for title in re.findall(r'scope="row" class="what"><a href="/runs/[^"]*"><bdi>(.*?)<', page)
    ]


async def test_runs_are_filtered_by_their_properties(site: Site) -> None:
    feature = FOUND.model_copy(update={"kind": "feature", "root_cause": None})
    await ran(site.store, Ran(title="Scan 100% hangs"))
    await ran(site.store, Ran(title="Add a scan_mode", report=feature, brain="gpt-4o"))
    await ran(site.store, Ran(title="Nothing known", status="failed", trace=()))
    await ran(site.store, Ran(title="Elsewhere", repository=SECRET))
    waiting = await ran(site.store, Ran(title="It fails", status="waiting"))
    await ask(site.store, waiting)
    everything = ["It fails", "Elsewhere", "Nothing known", "Add a scan_mode", "Scan 100% hangs"]
    for query, expected in (
        ("", everything),
        ("q=SCAN", ["Add a scan_mode", "Scan 100% hangs"]),
        ("q=100%25", ["Scan 100% hangs"]),
        ("q=n_m", ["Add a scan_mode"]),
        ("outcome=unclaimed", ["Add a scan_mode"]),
        ("status=failed", ["Nothing known"]),
        ("status=waiting", ["It fails"]),
        ("repository=octo/secret-plans", ["Elsewhere"]),
        ("status=odd&repository=no/such&before=1e999~x~9", everything),
    ):
        assert titles(await site.page(f"/runs?{query}")) == expected, query
    assert "No matching run" in await site.page("/runs?q=unheard-of")
    assert "Ignored, because the value is not valid: repository, status." in await site.page(
        "/runs?status=odd&repository=no/such"
    )


async def test_runs_of_an_issue_are_folded_and_counted_by_outcome(site: Site) -> None:
    right, wrong, judged = [await ran(site.store, Ran(title=f"Claimed {n}")) for n in range(3)]
    await site.store.for_issue(right).outcome.keep(Verdict("scored", 1, "f" * 40))
    await site.store.for_issue(wrong).outcome.keep(Verdict("scored", 2, "f" * 40))
    feedback = Feedback("rita", PersonJudgement(right=False), 5.0)
    await site.store._database.do(lambda db: note_feedback(db, judged.key, feedback))
    unclaimed = FOUND.model_copy(update={"root_cause": None})
    await ran(site.store, Ran(title="Vague", report=unclaimed))
    await ran(site.store, Ran(title="Weakness", report=SECURITY))
    await ran(site.store, Ran(title="Launch", repository=SECRET))
    for _ in range(12):
        again = await ran(site.store, Ran(title="Once more", number=777))
    await ran(site.store, Ran(title="", number=777, status="failed", trace=()))
    page = await site.page("/runs", "rita")
    assert titles(page) == ["Once more", "Weakness", "Vague", "Claimed 2", "Claimed 1", "Claimed 0"]
    row = re.search(r'<tr id="issue-github.com/9#777".*?</tr>', page, re.DOTALL)
    assert row is not None
    assert "run 13" in row[0]
    assert "lexer.py" not in page.split("Weakness")[1].split("</tr>")[0]
    counts = re.findall(r'<a href="(/runs\?[^"]*)">([a-z ]+) <span class="figure">(\d+)<', page)
    assert ("right", "1") in {(name, number) for _, name, number in counts}
    assert {name for _, name, _ in counts} >= {
        "failed",
        "finished",
        "wrong",
        "awaiting fix",
        "no claim",
    }
    for address, name, number in counts:  # a count leads to as many issues
        assert len(titles(await site.page(unescape(address), "rita"))) == int(number), name
    assert titles(await site.page("/runs?outcome=wrong", "rita")) == ["Claimed 2", "Claimed 1"]
    assert titles(await site.page("/runs?status=failed", "rita")) == ["Once more"]
    assert f"/runs/octo/parser/{again.number}/12" in await site.page("/runs?status=finished&repository=octo/parser")


async def test_a_question_that_was_answered_waits_no_more(site: Site) -> None:
    ref = await ran(site.store, Ran(title="It fails", status="waiting"))
    await ask(site.store, ref, answer="2.4")
    assert titles(await site.page("/runs?status=running")) == ["It fails"]


async def test_a_run_whose_job_is_dead_has_failed_until_the_job_is_tried_again(site: Site, store: Store) -> None:
    ref = await ran(store, Ran(title="dead run", status="running"))
    (job,) = [job for job in await store.pages.queue.listing("doing", None) if job.issue_key == ref.key]
    assert "dead run" in (await site.get("/runs?status=running")).text
    claimed = await store.jobs.claim("run", "other")
    assert claimed is None
    ended = "UPDATE jobs SET state = ?, owner = NULL, settled_at = 1 WHERE id = ?"
    await store._database.do(lambda db: db.execute(ended, ("dead", job.id)).rowcount)
    assert "dead run" in (await site.get("/runs?status=failed")).text
    assert "dead run" not in (await site.get("/runs?status=running")).text
    await store._database.do(lambda db: db.execute(ended, ("todo", job.id)).rowcount)
    assert "dead run" in (await site.get("/runs?status=running")).text


async def test_all_pages_together_list_each_run_once(site: Site) -> None:
    made = [f"number {n:02}" for n in range(60)]
    for title in made:
        await ran(site.store, Ran(title=title, status="failed", trace=(), gathered=[], visits=()))
    there, page = [], await site.page("/runs?q=number")
    while True:
        there.append(titles(page))
        older = re.search(r'rel="next" href="([^"]*)"', page)
        if older is None:
            break
        page = await site.page(unescape(older[1]))
    assert [len(one) for one in there] == [25, 25, 10]
    assert list(chain.from_iterable(there)) == made[::-1]


async def test_a_run_shows_the_path_to_its_report(site: Site) -> None:
    ref = await ran(site.store, Ran(report=DROPPED))
    await ask(site.store, ref, answer="2.4.1, on Debian")
    await site.store.usage.reserve([Scope("run", f"{ref.key}:1", "run")], Amount(calls=6, cost=41_250))
    page = await site.page(f"/runs/octo/parser/{ref.number}/1")
    text = unescape(re.sub(r"<[^>]*>", "", page))
    for shown in (
        "Lexer.scan is on the reporter's stack trace.",  # a reason
        "investigator_first",  # a guard, and what it means
        "Nothing is concluded before the issue was read.",
        "cites evidence that was not gathered: E99",  # dropped claims
        "no evidence cited: It is bad.",
        "quality too low, a citation failed",  # a retry
        "Which version does it happen with?",
        "2.4.1, on Debian",
        "18 420 tokens",
        "$0.0413",
        "420 ms",  # how long a node was at work
    ):
        assert shown in text, shown
    assert 'value="0.52" aria-label="Confidence of draft 1"' in page
    assert f'href="https://github.com/octo/parser/blob/{SHA}/parser/lexer.py#L10-L14"' in page
    assert (await site.get(f"/runs/octo/parser/{ref.number}")).headers["location"].endswith(f"/{ref.number}/1")


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/runs/octo/secret-plans/{}/1", id="run"),
        pytest.param("/runs/octo/secret-plans/{}", id="issue"),
        pytest.param("/runs/octo/secret-plans/{}/1/progress", id="progress"),
        pytest.param("/repositories/octo/secret-plans", id="repository"),
    ],
)
async def test_inaccessible_runs_look_like_missing_ones(site: Site, path: str) -> None:
    ref = await ran(site.store, Ran(title="Launch", repository=SECRET))
    there = path.format(ref.number)
    hidden, absent = (await site.get(there, "rita")), (await site.get(there.replace("secret-plans", "no-such"), "rita"))
    assert (hidden.status_code, absent.status_code) == (404, 404)
    assert hidden.content == absent.content
    for who, status in ((None, 303), ("nobody", 404)):
        assert (await site.get(there, who)).status_code == status


async def test_lists_contain_only_accessible_runs(site: Site) -> None:
    await ran(site.store, Ran(title="Hangs"))
    await ran(site.store, Ran(title="Launch", repository=SECRET, brain="secret-model"))
    for path in ("/runs", "/repositories", "/", "/runs?repository=octo/secret-plans"):
        page = await site.page(path, "rita")
        assert "Launch" not in page
        assert not re.search(r"secret", page.replace("?repository=octo/secret-plans", "")), path
        assert "octo/" not in await site.page(path, "nobody"), path
    assert titles(await site.page("/runs", "rita")) == ["Hangs"]
    assert "No runs yet" in await site.page("/runs", "nobody")
    assert "No repository has a run yet" in await site.page("/repositories", "nobody")


async def test_security_reports_and_possible_ones_are_shown_only_to_the_operator(site: Site) -> None:
    closed = await ran(site.store, Ran(title="Odd file", report=SECURITY))
    going = await ran(site.store, Ran(title="Other file", status="running", trace=TRACE[:4]))
    for ref in (closed, going):
        path = f"/runs/octo/parser/{ref.number}/1"
        mine, theirs = await site.page(path), await site.page(path, "rita")
        for text in ("Two findings agree" if ref is closed else "had to be", "on the reporter", "parser/lexer.py"):
            assert text not in theirs, text
        assert "shown to the operator only" in theirs
        assert "on the reporter" in mine


async def test_text_of_an_issue_is_escaped(site: Site) -> None:
    hostile = FOUND.model_copy(
        update={
            "verdict": HOSTILE[:250],
            "review_message": HOSTILE[:250],
            "citation_audit": CitationAudit(dropped=(HOSTILE,), fabricated=(HOSTILE,), failed=(HOSTILE,)),
        }
    )
    trace: tuple[TraceEntry, ...] = (
        entry("supervisor", HOSTILE, 0, reason=HOSTILE, guard=HOSTILE, judged_by=HOSTILE, error=HOSTILE),
        entry(HOSTILE, HOSTILE, 0, reason=HOSTILE, counts={HOSTILE: 1}, looks=(HOSTILE,)),
    )
    gathered = [
        Evidence(
            kind="code",
            locator=Locator(path=f"{HOSTILE}/a.py", start_line=1, end_line=2, sha=SHA),
            symbol=HOSTILE,
            quote=HOSTILE,
            reasons=(HOSTILE,),
        ),
        Evidence(kind="web", locator=Locator(url="javascript:alert(1)"), quote=HOSTILE),
    ]
    ref = await ran(
        site.store,
        Ran(
            title=HOSTILE,
            report=hostile,
            trace=trace,
            gathered=gathered,
            brain=HOSTILE,
            comment=f"{HOSTILE}\n\n{COMMENT}",
        ),
    )
    await ask(site.store, ref, answer=HOSTILE)
    await site.store.for_issue(ref).control.labelled(HOSTILE, HOSTILE, added=True)
    job = await site.store.jobs.claim("run", "me")
    assert job is None
    path = f"/runs/octo/parser/{ref.number}/1"
    for page in ("/runs", path, "/repositories/octo/parser", "/"):
        text = await site.page(page)
        acts = Acts(text)
        assert acts.found == [], page
        assert not re.search(r"[\x00-\x08\x0e-\x1f\u202a-\u202e\u200b]", text), page
        assert "49 &amp;" not in text


async def test_of_five_hundred_pieces_of_evidence_the_best_are_listed(site: Site) -> None:
    pieces = [
        Evidence(
            kind="code",
            locator=Locator(path=f"src/m{n}.py", start_line=1, end_line=30, sha=SHA),
            quote=("if x is None:\n    return 'é' # no\n" * 40)[:1_000],
            reasons=("names it " * 20,) * 3,
        )
        for n in range(500)
    ]
    ref = await ran(site.store, Ran(gathered=pieces, title="long " * 60))
    page = await site.page(f"/runs/octo/parser/{ref.number}/1")
    assert len(set(re.findall(r">m(\d+)\.py:1-30<", page))) == 40
    assert re.search(r"of 49\d pieces that the report does not cite", page)


async def test_an_earlier_run_states_that_a_later_one_replaced_it(site: Site) -> None:
    ref = await ran(site.store, Ran(title="It hangs", comment=COMMENT))
    await ran(site.store, Ran(title="It hangs still", number=ref.number, report=WEAK))
    first, second = [await site.page(f"/runs/octo/parser/{ref.number}/{number}") for number in (1, 2)]
    assert "A later run replaced it" in first
    assert "Lexer.scan</code>" in first.partition("The issue")[0]
    assert "A later run replaced it" not in second


@pytest.mark.parametrize(
    "path", ["/runs/octo/parser/1/1", "/runs/octo/parser/99999999999999999999/1", "/runs/octo/parser/1/x", "/runs/a"]
)
async def test_a_missing_run_is_reported_as_missing(site: Site, path: str) -> None:
    answer = await site.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.text


async def test_runs_of_an_older_release_are_shown_with_the_available_data(site: Site, store: Store) -> None:
    ref = await ran(site.store, Ran(visits=()))
    await store._database.do(lambda db: db.execute("DELETE FROM evidence").rowcount)
    old = "UPDATE runs SET title = '', kind = '', began_at = 0, changed_at = 0"
    await store._database.do(lambda db: db.execute(old).rowcount)
    assert "Untitled" in await site.page("/runs")
    page = await site.page(f"/runs/octo/parser/{ref.number}/1")
    assert "unknown" in page
    assert "were deleted" in page


async def test_a_renamed_repository_has_its_runs_under_its_new_name(site: Site) -> None:
    ref = await ran(site.store, Ran())
    await site.store.installations.add([replace(PARSER, name="reader")])
    assert (await site.get(f"/runs/octo/reader/{ref.number}/1")).status_code == 200
    assert (await site.get(f"/runs/octo/parser/{ref.number}/1")).status_code == 404
    moved = IssueRef("github.com", 7, 9, "octo", "reader", ref.number)
    assert moved.key == ref.key
