"""Definitions, references and lines of one commit, on a real repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.engine import Engine
from nodes.search.reading.lookups import FILES_READ, REFERENCES, Lookups
from nodes.search.types import Lookup
from tests.support.repositories import add_entry, git, make_repository

READER = '''"""Read documents."""

from src.lexer import scan


class Reader:
    """Reads."""

    @property
    def parse(self):
        # parse is cheap
        return scan(self.text, strict=True)

    def close(self):
        self.parse
        scan("")
'''
FILES: dict[str, bytes | str] = {
    "src/lexer.py": "def scan(text, strict=False):\n    if not text:\n"
    "        raise ValueError('unexpected end of document')\n    return text\n",
    "src/reader.py": READER,
    "src/other.py": "class Writer:\n    def parse(self):\n        return 1\n",
    "tests/test_reader.py": "def test_scan():\n    assert scan('') == 1\n",
    "docs/guide.md": "Call `scan` to read a document.\n",
    "lib/parse.rb": "class Parser\n  def empty?\n    true\n  end\nend\nputs Parser.new.empty?\n",
    "crlf.txt": b"one\r\ntwo\r\nthree\r\n",
    "data.bin": b"\0\1\2",
    "long.js": "var a = 1;\n" + "x" * 5_000 + "\n",
    "naïve.py": "def grüße():\n    pass\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    path: Path = tmp_path_factory.mktemp("repository")
    make_repository(path, FILES)
    add_entry(path, "link.py", "src/reader.py", "120000")
    add_entry(path, "module", "a" * 40, "160000")
    git(path, "commit", "--quiet", "--message", "A link and a submodule")
    return Engine(path)


@pytest.fixture
def lookups(engine: Engine) -> Lookups:
    return lookups_of(engine)


def lookups_of(engine: Engine, *ignore: str) -> Lookups:
    sha = engine.commit()
    return Lookups(engine.repository, sha, engine.index(sha), ignore)


def places(lookup: Lookup) -> list[str]:
    return [f"{found.path}:{found.start_line}-{found.end_line}" for found in lookup.passages]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("scan", ["src/lexer.py:1-4"], id="function"),
        pytest.param("Reader.parse", ["src/reader.py:9-12"], id="method-with-its-decorator"),
        pytest.param("src.reader.Reader.parse", ["src/reader.py:9-12"], id="with-its-module"),
        pytest.param("Reader::parse()", ["src/reader.py:9-12"], id="as-others-write-it"),
        pytest.param("parse", ["src/other.py:2-3", "src/reader.py:9-12"], id="all-of-that-name"),
        pytest.param("Parser#empty?", ["lib/parse.rb:2-4"], id="ruby"),
        pytest.param("grüße", ["naïve.py:1-2"], id="not-ascii"),
        pytest.param("test_scan", ["tests/test_reader.py:1-2"], id="in-a-test"),
        pytest.param("Scan", [], id="case-matters"),
        pytest.param("nothing_here", [], id="unknown"),
    ],
)
def test_definitions(lookups: Lookups, name: str, expected: list[str]) -> None:
    assert places(lookups.definitions(name)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param(
            "scan",
            [
                "src/reader.py:3-3",
                "src/reader.py:12-12",
                "src/reader.py:16-16",
                "tests/test_reader.py:2-2",
                "docs/guide.md:1-1",
            ],
            id="uses-before-prose-and-no-definition",
        ),
        pytest.param("Reader.parse", ["src/reader.py:15-15", "src/reader.py:11-11"], id="a-comment-comes-last"),
        pytest.param("empty?", ["lib/parse.rb:6-6"], id="ruby"),
        pytest.param("sca", [], id="whole-words-only"),
    ],
)
def test_references(lookups: Lookups, name: str, expected: list[str]) -> None:
    assert places(lookups.references(name)) == expected


def test_a_reference_names_the_function_around_it(lookups: Lookups) -> None:
    symbols = [found.symbol for found in lookups.references("scan").passages]
    assert symbols[:3] == [None, "Reader.parse", "Reader.close"]


@pytest.mark.parametrize("path", ["src/reader.py", "crlf.txt", "naïve.py"])
def test_every_quote_can_be_read_again(engine: Engine, lookups: Lookups, path: str) -> None:
    answers = [lookups.lines(path, 1, 2), lookups.definitions("parse"), lookups.references("scan")]
    for found in [found for answer in answers if answer for found in answer.passages]:
        assert engine.repository.lines(engine.commit(), found.path, found.start_line, found.end_line) == found.quote


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        pytest.param(1, 2, ["crlf.txt:1-2"], id="inside"),
        pytest.param(3, 90, ["crlf.txt:3-3"], id="past-the-end"),
        pytest.param(4, 9, [], id="behind-the-end"),
        pytest.param(0, 2, [], id="from-nought"),
        pytest.param(2, 1, [], id="backwards"),
    ],
)
def test_lines(lookups: Lookups, start: int, end: int, expected: list[str]) -> None:
    lookup = lookups.lines("crlf.txt", start, end)
    assert lookup is not None
    assert places(lookup) == expected
    assert lookup.total == 3


def test_a_line_too_long_to_quote_ends_the_quote_before_it(lookups: Lookups) -> None:
    answers = lookups.lines("long.js", 1, 2), lookups.lines("long.js", 2, 2)
    assert [places(answer) if answer else None for answer in answers] == [["long.js:1-1"], []]


@pytest.mark.parametrize(
    "path",
    [
        "../outside.py", "/etc/passwd", "src/../src/reader.py", "./src/reader.py", "src", "", "link.py", "module",
        "data.bin", "HEAD:src/reader.py", "HEAD", "--help", ".git/config", "src/reader.py\0", "src/*.py",
        "src\\reader.py",
    ],
)  # fmt: skip
def test_only_text_files_of_the_commit_are_opened(lookups: Lookups, path: str) -> None:
    assert lookups.lines(path, 1, 1) is None


@pytest.mark.parametrize(
    "text",
    ["", " ", "(a+)+$", "[", "\\", "a" * 100_000, "x." * 50_000, "\0", "--all", "\ud800", "the of and", "'" * 999],
)
def test_hostile_text_finds_nothing_in_little_time(lookups: Lookups, text: str) -> None:
    assert lookups.definitions(text) == lookups.references(text) == Lookup()


def test_a_frequent_name_has_a_bounded_result(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        f"src/m{n:03}.py": f"def use_{n}():\n" + "    shared_name()\n" * 30 for n in range(FILES_READ + 9)
    }
    make_repository(tmp_path / "r", {**files, "src/zz.py": "def shared_name():\n" + "    pass\n" * 999})
    first, second = (lookups_of(Engine(tmp_path / "r")) for _ in range(2))
    uses = first.references("shared_name")
    assert len(uses.passages) == REFERENCES
    assert len({found.path for found in uses.passages}) == REFERENCES
    assert uses.total == 30 * FILES_READ
    (defined,) = first.definitions("shared_name").passages
    assert len(defined.quote.encode()) <= 1_000
    assert defined.ends == 1_000 > defined.end_line
    assert uses == second.references("shared_name")


def test_excluded_files_are_not_found(engine: Engine) -> None:
    lookups = lookups_of(engine, "src/re*", "docs/*")
    assert lookups.lines("src/reader.py", 1, 1) is None
    assert places(lookups.definitions("parse")) == ["src/other.py:2-3"]
    assert places(lookups.references("scan")) == ["tests/test_reader.py:2-2"]


def test_a_definition_is_found_with_template_arguments(lookups: Lookups) -> None:
    assert lookups.definitions("Reader<int>::parse").passages == lookups.definitions("Reader.parse").passages
    assert lookups.definitions("a<b<c>>::scan<d>()").passages == lookups.definitions("scan").passages
    assert lookups.definitions("<" * 10**5).total == 0
