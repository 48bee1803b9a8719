"""Lines that reports name in the forms of many tools and languages, and numbers next to paths that name no line."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from nodes.search.engine import Engine
from nodes.search.facts.types import NAMED_BY_REPORT
from nodes.search.types import Query
from tests.search.facts.crash_reports import CRASHES, FILES, Report
from tests.search.facts.finding import facts_of, verify
from tests.support.repositories import make_repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Places = Callable[[str, str], set[tuple[str | None, int | None]]]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Places:
    """Return the lines that a report about a file names or whose frames they are."""

    @cache
    def engine_of(path: str) -> tuple[Engine, str]:
        folder = tmp_path_factory.mktemp("ledger")
        # One file alone: a language of a seventh of the files would not be the project's own.
        sha = make_repository(folder, {path: FILES[path]})
        return Engine(folder), sha

    def read(path: str, body: str) -> set[tuple[str | None, int | None]]:
        engine, sha = engine_of(path)
        query = Query("The nightly job stops", body)
        facts = engine.facts(query, [path], sha)
        assert all(verify(fact, engine.repository, sha, f"{query.title}\n{body}") is None for fact in facts)
        return {(fact.path, fact.line) for fact in facts if fact.line and fact.kind in NAMED_BY_REPORT}

    return read


@pytest.mark.parametrize("report", [pytest.param(report, id=name) for name, report in CRASHES.items()])
def test_the_line_that_a_report_names_is_a_fact(report: Report, places: Places):
    body = f"It stops with:\n\n```\n{report.body}\n```\n"
    assert places(report.path, body) == {(report.path, report.line)}


@pytest.mark.parametrize("name", [name for name in CRASHES if name.startswith(("prose", "fields", "reporter", "lua"))])
def test_a_line_is_found_outside_code_blocks_too(name: str, places: Places):
    report = CRASHES[name]
    assert places(report.path, f"It stops with this.\n\n{report.body}\n\nThanks!") == {(report.path, report.line)}


OTHERS = """
services/ledger/fold.py 3.11
services/ledger/fold.py 12:30
services/ledger/fold.py:3.2
services/ledger/fold.py at 12:30
services/ledger/fold.py:12%
services/ledger/fold.py | 12 +++---
services/ledger/fold.py +12 -3
services/ledger/fold.py +12/-3
services/ledger/fold.py    12      3    75%
services/ledger/fold.py 3/5
services/ledger/fold.py (3/5)
services/ledger/fold.py 12 errors
services/ledger/fold.py (12 errors)
services/ledger/fold.py: 12 errors
services/ledger/fold.py==12
services/ledger/fold.py@12.1
services/ledger/fold.py @ 17.0.2
services/ledger/fold.py[12]: started
2026-01-08 13:35:12 services/ledger/fold.py
services/ledger/fold.py?v=12
services/ledger/fold.py#12
#12 services/ledger/fold.py
services/ledger/fold.py:12px
services/ledger/fold.py v12
services/ledger/fold.py took 12:03
services/ledger/fold.py: 12ms
services/ledger/fold.py:12th
services/ledger/fold.py, version 12
services/ledger/fold.py (12 kB)
services/ledger/fold.py:120
services/ledger/fold.py:1: the whole file
services/ledger/fold.py:0
version 12 of services/ledger/fold.py
--- a/services/ledger/fold.py\t2020-01-01 12:30:00
+++ b/services/ledger/fold.py\t2020-01-01 12:30:00
1 file changed in services/ledger/fold.py, 12 insertions(+), 3 deletions
services/ledger/fold.pyc:12
other/ledger/xfold.py:12
/usr/lib/other/things/fold.py:12
/usr/lib/python3.11/site-packages/other/fold.py:12
node_modules/other/fold.py:12
192.168.0.1:12
example.com:12
localhost:12
https://example.com:12/services/ledger/fold.py
fold.example.org:12
fold:12
python3.11:12
the ratio of fold.py is 16:9
I ran fold.py 12 times
line 12 of my own program
error on line 12
12:12:12 fold.py started
port 12 in fold.py
services/ledger/fold.py fails and on line 12 of other.c too
services/ledger/fold.py and other.c fail on line 12 of it
(template: "other/fold" - line 12, col 3)
Liquid error (other/fold line 12): invalid url input
Players.Dan.Scripts.other:12: attempt to index nil
12 строк в файле services/ledger/fold.py
"""


@pytest.mark.parametrize("line", OTHERS.strip().split("\n"))
def test_a_number_beside_a_path_may_be_no_line(line: str, places: Places):
    body = f"It stops here: {line}\n\n```\n{line}\n```\n".replace("\\t", "\t")
    assert places("services/ledger/fold.py", body) == set()


def test_a_page_of_mkdocs_is_named_by_the_link_that_it_contains(tmp_path: Path):
    files = {"docs/ops/backup.md": "# Backup\n\nTo restore see [S3](restore.md#from-s3).\n", "a.py": "x = 1\n"}
    body = "WARNING -  Doc file 'ops/backup.md' contains a link 'restore.md#from-s3', but the doc has no such anchor."
    (fact,) = (fact for fact in facts_of(tmp_path, files, "The strict build fails", body) if fact.line)
    assert (fact.kind, fact.path, fact.line) == ("named_here", "docs/ops/backup.md", 3)


@pytest.mark.parametrize(("folder", "lines"), [("/home/ann/blog", [2]), ("/usr/lib/ruby/gems/minima-2.5.1", [])])
def test_a_layout_is_named_by_jekylls_error_unless_it_is_a_themes(tmp_path: Path, folder: str, lines: list[int]):
    files = {"_layouts/post.html": "<p>\n{% seoo %}\n</p>\n", "_layouts/page.html": "<p>\n</p>\n"}
    body = f"  Liquid Exception: Liquid syntax error (line 2): Unknown tag 'seoo' in {folder}/_layouts/post.html"
    facts = facts_of(tmp_path, files, "It builds no site", body)
    assert [fact.line for fact in facts if fact.kind == "named_here"] == lines


def test_a_view_is_named_by_djangos_page_of_an_error(tmp_path: Path):
    files = {"shop/views.py": "import os\n\n\ndef show_cart(request):\n    return request\n"}
    body = "Exception Location: /venv/lib/db/query.py, in get\nRaised during: shop.views.show_cart"
    found = facts_of(tmp_path, files, "Error on the page of the cart", body)
    assert ("named_here", "shop/views.py", 4) in {(fact.kind, fact.path, fact.line) for fact in found}


def test_a_backtick_of_the_report_opens_no_code_span(tmp_path: Path):
    files = {"pad.c": "int poke(int t)\n{\n\tint u = from_timer(t);\n\treturn u;\n}\n"}
    body = "The log says\n\n`pad.c:3:2: error: implicit function declaration ‘from_timer’`\n"
    (fact,) = (fact for fact in facts_of(tmp_path, files, "It does not build", body) if fact.line == 3)
    assert fact.says == "The report has “error: implicit function declaration ‘from_timer’” for this line of `poke`."
