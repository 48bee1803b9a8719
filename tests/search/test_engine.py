"""Ranked places for issues in small real repositories."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nodes.search.engine import Engine
from nodes.search.types import Query
from tests.support.patience import patience
from tests.support.repositories import make_repository

FILES: dict[str, bytes | str] = {
    "pkg/__init__.py": "",
    "pkg/parser.py": "import os\n\n\ndef parse_header(line):\n    if ':' not in line:\n"
    "        raise ValueError('header line has no colon')\n    return line.split(':')\n",
    "pkg/writer.py": "from pkg import parser\n\n\ndef write_rows(rows):\n    for row in rows:\n        print(row)\n",
    "tests/test_parser.py": "from pkg.parser import parse_header\n\n\ndef test_it():\n    parse_header('a:b')\n",
    "latin.py": "# Größe\nsize = 1\n".encode("latin-1"),
    "fake.py": b"\0\1\2parse_header",
    "a b\n.py": "x = 1\n",
}
ISSUE = Query("parse_header fails", "ValueError: header line has no colon when a line is folded")


@pytest.fixture
def repository(tmp_path):
    make_repository(tmp_path / "r", FILES)
    return tmp_path / "r"


def test_the_function_named_comes_first(repository):
    engine = Engine(repository)
    ranking = engine.find(ISSUE, engine.commit())
    assert ranking.files[0].path == "pkg/parser.py"
    first = ranking.locations[0]
    assert (first.path, first.symbol, first.start_line) == ("pkg/parser.py", "parse_header", 4)
    assert engine.repository.lines(ranking.commit, first.path, first.quote_start, first.quote_end) == first.quote


def test_contributions_add_up(repository):
    engine = Engine(repository)
    ranking = engine.find(ISSUE, engine.commit())
    scored: list[Any] = [*ranking.files, *ranking.locations]
    for hit in scored:
        assert sum(reason.contribution for reason in hit.reasons) == pytest.approx(hit.score)


def test_a_second_engine_and_a_cache_give_the_same_results(repository, tmp_path):
    plain = Engine(repository)
    cached = [Engine(repository, tmp_path / "cache") for _ in range(2)]
    sha = plain.commit()
    assert len({repr(e.find(ISSUE, sha).locations) + repr(e.find(ISSUE, sha).files) for e in [plain, *cached]}) == 1


def test_a_damaged_cache_does_not_change_results(repository, tmp_path):
    first = Engine(repository, tmp_path / "cache")
    expected = first.find(ISSUE, first.commit())
    for file in [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]:
        file.write_bytes(b"damaged" * 500)
    assert Engine(repository, tmp_path / "cache").find(ISSUE, first.commit()) == expected


def test_two_processes_share_a_cache(repository, tmp_path):
    code = "import sys; from nodes.search.engine import Engine; e = Engine(sys.argv[1], sys.argv[2]); e.warm('HEAD')"
    command = [sys.executable, "-c", code, str(repository), str(tmp_path / "cache")]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(patience(60)) for process in processes] == [0, 0]


def test_ignored_paths_are_left_out(repository):
    engine = Engine(repository)
    ranking = engine.find(Query(ISSUE.title, ISSUE.body, ignore=("pkg/parser.py",)), engine.commit())
    assert "pkg/parser.py" not in {hit.path for hit in ranking.files}


def test_lines_are_read_exactly(repository):
    engine = Engine(repository)
    assert engine.repository.entry(engine.commit(), "a b\n.py") is not None
    assert engine.repository.entry(engine.commit(), "pkg") is None
    assert engine.repository.lines(engine.commit(), "latin.py", 1, 1) == "# Größe"
    assert engine.repository.lines(engine.commit(), "latin.py", 1, 9) is None


def test_an_empty_tree_has_no_answer(tmp_path):
    make_repository(tmp_path, {})
    ranking = Engine(tmp_path).find(ISSUE, "HEAD")
    assert (ranking.files, ranking.locations, ranking.confidence) == ((), (), 0.0)


PERL = (
    "package Parser;\n\n\nsub parse_header {\n    my ($line) = @_;\n"
    "    die 'header line fails' unless $line =~ /:/;\n    return $line;\n}\n\n\nsub other {\n    return 1;\n}\n"
)


def test_a_binding_without_a_grammar_is_ranked_below_the_code_that_it_repeats(tmp_path):
    make_repository(
        tmp_path / "r", {**FILES, "pkg/more.py": "x = [\n" + "    1,\n" * 300 + "]\n", "perl/Parser.pm": PERL}
    )
    engine = Engine(tmp_path / "r")
    ranking = engine.find(Query("parse_header fails", "A header line fails."), engine.commit())
    assert [hit.path for hit in ranking.files[:2]] == ["pkg/parser.py", "perl/Parser.pm"]
    assert {reason.kind for reason in ranking.files[1].reasons}.isdisjoint({"symbol"})
    place = next(one for one in ranking.locations if one.path == "perl/Parser.pm")
    assert (place.symbol, place.start_line, place.end_line, place.quote_start) == ("parse_header", 4, 8, 4)


def test_names_count_where_most_code_has_no_grammar(tmp_path):
    make_repository(tmp_path / "r", {"lib/Parser.pm": PERL, "lib/Writer.pm": PERL.replace("parse_header", "write")})
    engine = Engine(tmp_path / "r")
    ranking = engine.find(Query("parse_header fails", "A header line fails."), engine.commit())
    assert ranking.files[0].path == "lib/Parser.pm"
    assert "symbol" in {reason.kind for reason in ranking.files[0].reasons}
    assert ranking.locations[0].symbol == "parse_header"


def test_facts_are_found_where_no_file_is_ranked(tmp_path: Path) -> None:
    dialog = "public class Dialog {\n    void open(View view) {\n        button.hide(View.GONE);\n    }\n}\n"
    head = make_repository(tmp_path, {"app/src/main/java/net/zones/ui/Dialog.java": dialog})
    frames = "\tat java.util.List.get(List.java:4)\n\tat net.zones.ui.Dialog.open(Dialog.java:3)"
    query = Query("It crashes", f"java.lang.IllegalStateException: x\n{frames}")
    facts = Engine(tmp_path).facts(query, (), head)
    assert [(fact.kind, fact.line, fact.strong) for fact in facts] == [("raised_here", 3, False)]
