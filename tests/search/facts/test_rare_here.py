"""A word of the title that one file of the project has leads to the search's first file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.engine import Engine
from tests.search.facts.finding import facts_of, of_kind, verify
from tests.support.repositories import make_repository

STORE = "# The keychain of the system.\nimport keychain\n\n\ndef load(user):\n    return open_keychain(user)\n"
OTHER = "def show(user):\n    return user\n"
FILES = {"store.py": STORE, "page.py": OTHER} | {
    f"lists/a{n}.py": OTHER.replace("show", f"every{n}") for n in range(40)
}
TITLE = "Keychain prompts again and again"


@pytest.mark.parametrize(
    ("files", "title", "says"),
    [
        pytest.param(FILES, TITLE, True, id="one-file"),
        pytest.param(FILES | {"old.py": "x = KEYCHAIN\n"}, TITLE, False, id="two-files"),
        pytest.param(FILES | {f"{n}.py": "x = my_keychains\n" for n in "abc"}, TITLE, False, id="many-files"),
        pytest.param(FILES, "It prompts again and again", False, id="another-word"),
        pytest.param(
            FILES | {"store.py": STORE.replace("keychain", "latest")}, "The latest prompts", False, id="general"
        ),
        pytest.param(FILES, f"`open_keychain(user)`: {TITLE}", False, id="another-fact"),
        pytest.param({"store.py": STORE, "page.py": OTHER}, TITLE, False, id="few-files"),
        pytest.param(FILES | {"store.py": STORE[: STORE.index("def")]}, TITLE, False, id="no-code"),
    ],
)
def test_a_rare_word_of_the_title_leads_to_its_line(tmp_path: Path, files: dict[str, str], title: str, says: bool):
    found = [fact for fact in facts_of(tmp_path, files, title) if fact.says.startswith("The word “")]
    assert [(fact.path, fact.line, fact.strong, fact.unclaimed) for fact in found] == (
        [("store.py", 6, True, True)] if says else []
    )
    alone = "The word “Keychain” of the title is in `load`, and in no other file of the project's own code."
    assert all(fact.says == alone for fact in found)


def test_it_is_about_the_first_file_only(tmp_path: Path):
    assert of_kind(facts_of(tmp_path, FILES, TITLE, first=["page.py", "store.py"]), "quoted_here") == []


def test_the_files_are_counted_again(tmp_path: Path):
    (fact,) = of_kind(facts_of(tmp_path / "one", FILES, TITLE), "quoted_here")
    make_repository(tmp_path / "two", FILES | {"old.py": "x = KEYCHAIN\n"})
    engine = Engine(tmp_path / "two")
    assert verify(fact, engine.repository, engine.commit(), TITLE) == "another file has it as well"
