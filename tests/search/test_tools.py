"""The tools of a reader, on a real repository: what they find, in which order, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.brains.conversation import BUILD_FILES
from nodes.search.engine import Engine
from nodes.search.reading.lookups import MAX_MATCHES
from nodes.search.reading.tools import FUNCTION, LINES, ReadingTools
from nodes.search.types import ToolAnswer, ToolCall
from tests.support.repositories import add_entry, git, make_repository

FILES: dict[str, bytes | str] = {
    "src/lexer.py": "def scan(text):\n    while True:\n        advance()\n    return text\n\n\nclass Reader:\n"
    "    def scan(self):\n        return scan(self.text)\n",
    "src/long.py": "def long():\n" + "    x = 1\n" * 400,
    "dist/bundle.js": "function scan(text) { return advance() }\n",
    "tests/test_lexer.py": "def test_scan():\n    assert scan('')\n",
    "docs/guide.md": "Call `scan` to read.\n",
    "data.bin": b"scan\0\1\2",
    "src/_locales/en.config": "title = scan\n" * 9,
    "src/locale/de.js": "exports.title = 'scan'\n",
    "Cargo.toml": "[package]\n",
    "parts/one/Cargo.toml": "[package]\n",
    "parts/two/Dockerfile": "FROM scratch\n",
    ".cargo/config.toml": "[build]\n",
    ".github/workflows/ci.yml": "run: make\n",
    "src/scan.cpp": "int total;\n",
    "src/scan.c": "int total;\n",
    "many.txt": "needle\n" * (MAX_MATCHES + 5),
}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> ReadingTools:
    path: Path = tmp_path_factory.mktemp("repository")
    lexer = str(FILES["src/lexer.py"])
    make_repository(path, FILES | {"src/lexer.py": lexer.replace("advance()", "step()")}, message="Begin")
    make_repository(path, FILES, message="Advance")
    add_entry(path, "link.py", "/etc/passwd", "120000")
    git(path, "commit", "--quiet", "--message", "A link")
    engine = Engine(path)
    return ReadingTools(engine.repository, engine.commit(), engine.index(engine.commit()))


def places(answer: ToolAnswer) -> list[tuple[str, int]]:
    return [(one.path, one.start_line) for one in answer.passages]


@pytest.mark.parametrize(
    ("call", "note", "found"),
    [
        pytest.param(
            ToolCall("grep", r"advance\("),
            "2 matches in 2 files; 1 shown; 1 in 1 built or vendored files are not shown.",
            [("src/lexer.py", 3)],
            id="built-copies-are-counted",
        ),
        pytest.param(
            ToolCall("grep", "advance", "dist"), "1 matches in 1 files.", [("dist/bundle.js", 1)], id="built-by-path"
        ),
        pytest.param(ToolCall("grep", "advance", "src"), "1 matches in 1 files.", [("src/lexer.py", 3)], id="folder"),
        pytest.param(ToolCall("grep", "^class", "*.py"), "1 matches in 1 files.", [("src/lexer.py", 7)], id="pattern"),
        pytest.param(ToolCall("grep", "ghost"), "0 matches.", [], id="nothing-is-an-answer"),
        pytest.param(ToolCall("grep", "READER", "src"), "differ in upper and lower", [("src/lexer.py", 7)], id="case"),
        pytest.param(
            ToolCall("grep", "scan(", "src/lexer.py"), "searched literally", [("src/lexer.py", 1)], id="no-expression"
        ),
        pytest.param(ToolCall("grep", "needle"), f"at least {MAX_MATCHES} matches", [("many.txt", 1)], id="too-many"),
        pytest.param(ToolCall("grep", " "), "needs an expression", [], id="empty"),
        pytest.param(ToolCall("grep", "root:", "../../etc"), "No file or folder", [], id="outside"),
        pytest.param(ToolCall("read", path="src/long.py", start_line=390, end_line=9_999), "401 lines", None, id="end"),
        pytest.param(ToolCall("read", path="lexer.py"), "9 lines", [("src/lexer.py", 1)], id="end-of-a-path"),
        pytest.param(ToolCall("read", path="/etc/passwd"), "The commit has no file", [], id="absolute"),
        pytest.param(ToolCall("read", path="link.py"), "The commit has no file", [], id="symlink"),
        pytest.param(ToolCall("read", path="data.bin"), "", None, id="binary"),
        pytest.param(ToolCall("function", "Reader.scan"), "1 definitions", [("src/lexer.py", 8)], id="method"),
        pytest.param(ToolCall("function", "rm -rf /"), "is defined", [], id="command"),
        pytest.param(ToolCall("callers", "scan"), "uses of `scan`", [("src/lexer.py", 9)], id="callers"),
        pytest.param(ToolCall("callers", "(a+)+$"), "is not a name", [], id="regex-as-a-name"),
        pytest.param(ToolCall("tree", path="../.."), "entries", [], id="parent-folder"),
        pytest.param(ToolCall("tree", path="nowhere"), "No folder", [], id="no-folder"),
        pytest.param(ToolCall("log"), "needs a path", [], id="log-of-nothing"),
    ],
)
def test_a_call_is_answered(
    tools: ReadingTools, call: ToolCall, note: str, found: list[tuple[str, int]] | None
) -> None:
    answer = tools.answer(call)
    assert note in answer.note
    if found is not None:
        assert places(answer)[: len(found)] == found
        assert bool(answer.passages) == bool(found)
    assert all(one.path in FILES for one in answer.passages)


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        pytest.param("*.c", ["src/scan.c"], id="ends-so"),
        pytest.param("src/*.{c,cpp}", ["src/scan.c", "src/scan.cpp"], id="one-of-several"),
        pytest.param(".cargo", [".cargo/config.toml"], id="hidden-folder"),
        pytest.param("{Cargo.toml,.github/workflows/*}", [".github/workflows/ci.yml", "Cargo.toml"], id="any-folder"),
        pytest.param("{Cargo", [], id="half-a-pattern"),
    ],
)
def test_a_pattern_means_whole_paths(tools: ReadingTools, pattern: str, paths: list[str]) -> None:
    assert [path for path, _ in places(tools.answer(ToolCall("grep", ".", pattern)))][: len(paths)] == paths
    assert bool(places(tools.answer(ToolCall("grep", ".", pattern)))) == bool(paths)


def test_a_tree_lists_hidden_folders_and_the_paths_of_the_whole_project_first(tools: ReadingTools) -> None:
    assert tools.answer(ToolCall("tree", path=".cargo")).names == ("config.toml",)
    assert tools.answer(ToolCall("tree", path="Cargo.{toml,lock}")).names == ("Cargo.toml", "parts/one/Cargo.toml")
    assert tools.answer(ToolCall("tree", path="dockerfile")).names == ("parts/two/Dockerfile",)


def test_the_files_that_build_the_project_are_found(tools: ReadingTools) -> None:
    assert "parts/two/Dockerfile" in tools.answer(BUILD_FILES).names
    assert ".github/workflows/ci.yml" in tools.answer(BUILD_FILES).names


def test_code_comes_before_the_texts_of_a_user_interface(tools: ReadingTools) -> None:
    found = [path for path, _ in places(tools.answer(ToolCall("grep", "scan")))]
    assert found.index("src/lexer.py") < found.index("src/_locales/en.config")
    assert found.index("src/lexer.py") < found.index("src/locale/de.js")


def test_wide_ranges_and_long_functions_are_clamped(tools: ReadingTools) -> None:
    read = tools.answer(ToolCall("read", path="src/long.py", start_line=-5, end_line=10**7)).passages[0]
    assert (read.start_line, read.end_line) == (1, LINES)
    whole = tools.answer(ToolCall("function", "long"))
    assert whole.passages[0].end_line == FUNCTION
    assert "lines 1-200 of 1-401" in whole.note


def test_the_change_that_brought_a_string_is_found(tools: ReadingTools) -> None:
    brought = tools.answer(ToolCall("log", "advance()", "src/lexer.py"))
    assert [subject for *_, subject in brought.changes] == ["Advance"]
    assert len(tools.answer(ToolCall("log", path="src/lexer.py")).changes) >= 1
    assert tools.answer(ToolCall("log", "--output=/tmp/x")).changes == ()


@pytest.mark.parametrize("hostile", ["(a|a)*" * 40 + "$", "(" * 290, "a{1000}{1000}", "(?=x)", "\\", "[", "x*" * 150])
def test_hostile_expressions_end(tools: ReadingTools, hostile: str) -> None:
    assert tools.answer(ToolCall("grep", hostile)).note
    assert tools.answer(ToolCall("grep", "x", f"{hostile}*")).note


@pytest.mark.parametrize(
    ("end", "last"),
    [pytest.param(LINES + 20, LINES + 20, id="few-lines-are-left"), pytest.param(300, LINES, id="many-lines-are-left")],
)
def test_a_read_is_finished_if_few_lines_are_left(tools: ReadingTools, end: int, last: int) -> None:
    read = tools.answer(ToolCall("read", path="src/long.py", start_line=1, end_line=end)).passages[0]
    assert read.end_line == last


@pytest.mark.parametrize("asked", ["lexer.py", "wrong/lexer.py", "src/lex*", "src/lexer.py"])
def test_a_tree_of_no_folder_lists_matching_paths(tools: ReadingTools, asked: str) -> None:
    answer = tools.answer(ToolCall("tree", path=asked))
    assert "src/lexer.py" in answer.names
    assert "paths match" in answer.note


def test_a_commits_change_of_one_file_is_shown(tools: ReadingTools) -> None:
    sha = tools.answer(ToolCall("log", "advance()", "src/lexer.py")).changes[0][0]
    shown = tools.answer(ToolCall("log", sha[:10], "src/lexer.py"))
    assert [one[0] for one in shown.changes] == [sha]
    assert "-        step()" in shown.diff
    assert "+        advance()" in shown.diff
    assert tools.answer(ToolCall("log", sha[:10])).names == ("src/lexer.py",)


@pytest.mark.parametrize("name", ["f" * 40, "HEAD", "HEAD~1", "--all", "0" * 7, "main"])
def test_only_a_commit_of_the_history_has_a_change(tools: ReadingTools, name: str) -> None:
    assert not tools.answer(ToolCall("log", name, "src/lexer.py")).diff
