"""A word is taught for a place, forgotten, refused, and listed; the place is checked at the newest commit."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.github import GitHub
from bot.ports import TaughtWord
from bot.runs.code import hints_of, word_of
from bot.store.databases.database import Database
from bot.store.databases.sqlite import SqliteStore
from bot.store.issues.control import MAX_WORDS, teach
from bot.store.tables import Store
from bot.worker.commands.kinds import CommitPaths, nearest
from tests.commands.test_execute import Stage
from tests.report.reports import SHA
from tests.servers.github_server import GitHubServer, private_key, serve_github
from tests.servers.github_world import APP_ID
from tests.store.test_outcomes import OTHER, PARSER
from tests.support.patience import patience

FORGET = "`/triage component tokenizer =`"
PATHS = ("src/parser/lexer.py", "src/parser/reader.py", "src/cli.py", "docs/parser/index.md", "[s]rc/odd.py")


@pytest.fixture
def server() -> Iterator[GitHubServer]:
    with serve_github() as server:
        yield server


@pytest.fixture
async def stage(server: GitHubServer, tmp_path: Path) -> AsyncIterator[Stage]:
    async def paths() -> CommitPaths:
        return CommitPaths(SHA, PATHS)

    store = SqliteStore(tmp_path / "store.db")
    github = GitHub(
        app_id=str(APP_ID),
        private_key=private_key(),
        writes=store.writes,
        api_url=server.url,
        server_url=server.url,
        timeout=patience(10),
    )
    stage = Stage(server, github, store)
    stage.paths = paths
    yield stage
    await github.aclose()
    await store.aclose()


async def test_a_word_is_taught_changed_and_forgotten(stage: Stage) -> None:
    await stage.finish_a_run()
    comment = await stage.say("/triage component  `Tokenizer`  = src/parser/")
    assert "count more for issues that name `tokenizer`" in stage.said[-1]
    assert stage.marks(comment) == ["rocket"]
    await stage.say("/triage component error  handling = `src/cli.py`", "tom")
    await stage.say("/triage component TOKENIZER = src/parser/lexer.py", "tom")
    assert await stage.store.repository.components.all() == (
        TaughtWord("error handling", "src/cli.py"),
        TaughtWord("tokenizer", "src/parser/lexer.py"),
    )
    # Nothing is judged and nothing runs again.
    assert (await stage.signals(), await stage.queued()) == ([], [])
    await stage.say("/triage status")
    assert "- `error handling` → `src/cli.py`\n- `tokenizer` → `src/parser/lexer.py`" in stage.said[-1]
    await stage.say("/triage component tokenizer =")
    assert "`tokenizer` is forgotten." in stage.said[-1]
    assert [one.word for one in await stage.store.repository.components.all()] == ["error handling"]


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        pytest.param("a b c = src", "Name the component by a word or two, as in `/triage", id="three"),
        pytest.param("x = src", "Name the component by a word or two", id="a-letter"),
        pytest.param("(.*)+$ = src", "Name the component by a word or two", id="no-letters"),
        pytest.param(f"{'a' * 61} = src", "Name the component by a word or two", id="too-long"),
        pytest.param("=", f"No path was named on this issue. Name the word, as in {FORGET}.", id="no-word"),
        pytest.param("the = src", "The word `the` is in too many issues to name a place.", id="common"),
        pytest.param("parsing =", "The word `parsing` is not taught here.", id="not-taught"),
        pytest.param("lexer = ../../etc", "Name one path, as in", id="outside"),
        pytest.param("lexer = /etc/passwd", "Name one path, as in", id="absolute"),
        pytest.param("lexer = parser", "The nearest: `docs/parser`, `src/parser`.", id="elsewhere"),
        pytest.param("lexer = src/parsr", "The nearest: `src/parser`", id="a-typo"),
        pytest.param("lexer = s*", f"There is no `s*` at commit `{SHA[:12]}`.", id="no-pattern"),
        pytest.param("lexer = zzzzzzzzzzzz", f"There is no `zzzzzzzzzzzz` at commit `{SHA[:12]}`.", id="nothing-near"),
    ],
)  # fmt: skip
async def test_an_invalid_component_is_refused_with_the_reason(stage: Stage, argument: str, says: str) -> None:
    comment = await stage.say(f"/triage component {argument}")
    assert stage.marks(comment) == ["confused"]
    assert says in stage.said[-1]
    assert await stage.store.repository.components.all() == ()


async def test_without_permission_no_word_is_stored(stage: Stage) -> None:
    for who in ("olaf", "rita"):
        comment = await stage.say("/triage component lexer = src/parser", who)
        assert stage.marks(comment) == ["confused"]
    assert await stage.store.repository.components.all() == ()
    assert stage.said == []


async def test_an_empty_path_after_a_stored_one_gets_an_example(stage: Stage) -> None:
    await stage.finish_a_run()
    await stage.say("/triage component = src/other")
    await stage.say("/triage component =")
    assert "Name one path, as in `/triage component = src/parser`." in stage.said[-1]


async def test_the_number_of_words_is_limited(stage: Stage) -> None:
    key, database = stage.ref.repository.key, stage.store._database
    for number in range(MAX_WORDS + 5):
        taught = TaughtWord(f"word{number:03}", "src")
        await database.do(lambda db, taught=taught: teach(db, key, taught, "mia", 1.0))
    assert len(await stage.store.repository.components.all()) == MAX_WORDS
    await stage.say("/triage component lexer = src")
    assert "This repository has 200 taught words, the maximum. Forget one" in stage.said[-1]
    await stage.say("/triage component word001 = src/cli.py")
    assert TaughtWord("word001", "src/cli.py") in await stage.store.repository.components.all()
    await stage.say("/triage status")
    assert "180 more words are on the page of the repository." in stage.said[-1]


async def test_words_apply_only_in_their_repository(store: Store, database: Database) -> None:
    await database.do(lambda db: teach(db, PARSER.key, TaughtWord("lexer", "src"), "mia", 1.0))
    await database.do(lambda db: teach(db, PARSER.key, TaughtWord("none", ""), "mia", 1.0))
    assert await store.of_repository(PARSER.key).components.all() == (TaughtWord("lexer", "src"),)
    assert await store.of_repository(OTHER.key).components.all() == ()
    await store.repository_data(PARSER.key).forget()
    assert await store.of_repository(PARSER.key).components.all() == ()


@pytest.mark.parametrize(
    ("word", "text", "named"),
    [
        pytest.param("lexer", "The Lexer, again", True, id="any-case"),
        pytest.param("lexer", "`lexer.scan` hangs", True, id="a-part-of-a-name"),
        pytest.param("lexer", "my_lexer and lexers", False, id="inside-other-words"),
        pytest.param("lexer", "lexers, then lexer", True, id="the-second-place"),
        pytest.param("error handling", "Error\n  handling fails", True, id="two-words-on-two-lines"),
        pytest.param("c++", "a c++ file", True, id="characters-of-regular-expressions"),
        pytest.param("c++", "a ccc file", False, id="which-are-literal"),
        pytest.param("解析", "词法解析器失败", True, id="without-spaces"),
        pytest.param("straße", "STRASSE", True, id="folded"),
        pytest.param("lexer", "", False, id="no-text"),
    ],
)
def test_a_word_matches_only_as_a_whole(word: str, text: str, named: bool) -> None:
    taught = word_of(word)
    assert taught is not None
    assert hints_of((TaughtWord(taught, "src"),), "", text) == (("src",) if named else ())
    assert hints_of((TaughtWord(taught, "src"),), text, "") == (("src",) if named else ())


def test_many_words_and_long_texts_take_little_time() -> None:
    words = [TaughtWord(f"a{'a' * (number % 50)}b", f"src/{number}") for number in range(MAX_WORDS)]
    began = time.process_time()
    assert hints_of(words, "", "a" * 1_000_000) == ()
    assert hints_of([TaughtWord("aa", "src")], "", "a" * 1_000_000) == ()
    assert time.process_time() - began < 2.0


def test_the_nearest_of_many_paths_take_little_time() -> None:
    paths = [f"folder{number % 3_000}/part{number}/file.py" for number in range(50_000)]
    began = time.process_time()
    assert nearest("folder1/prt1", paths)
    assert nearest("x" * 5_000, paths) == []
    assert time.process_time() - began < 10.0
