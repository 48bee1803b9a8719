"""The search for labels skips folders in which no file can place one, and elsewhere finds what git finds."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.engine import Engine
from nodes.search.facts.code import Code
from nodes.search.facts.places.keys import NOT_SEARCHED
from nodes.search.facts.places.labelled_here import _forms, _hits
from nodes.search.facts.places.searched import files_for
from nodes.search.facts.witness import Witness
from nodes.search.paths.roles import role_of
from tests.support.repositories import make_repository

PATHS = [
    *("app/Screen.kt", "Screen.kt", "tests", "tests/Screen.kt", "tests/deep/ui.min.js", "tests/res/layout/zones.xml"),
    *("qa/tests/ScreenTest.java", "qa/zones.ui", "docs/page.html", "docs/conf.py", "docs/tool/strings.json"),
    *("vendor/tests/Screen.kt", "src/main/java/acme/test/Screen.java", "src/test/java/acme/ScreenTest.java"),
    *("i18n/en.json", "locale/de/LC_MESSAGES/app.po", "locale/de/texts.yml", "examples/a.kt", "[a]*/tests/b.kt"),
]
LABEL = "Wätch the-Zones now"


def searched(folder: Path, files: dict[str, bytes | str]) -> tuple[Witness, Code]:
    """Commit files; return what reads them with git, and with the index."""
    sha, engine = make_repository(folder, files), Engine(folder)
    return Witness(engine.repository, sha, ""), Code(engine.repository, sha, engine.warm(sha).index)


@given(st.sets(st.sampled_from([path for path in PATHS if path != "tests"]), min_size=1))
@settings(max_examples=25, deadline=None)
def test_a_line_that_is_left_out_can_place_no_label(paths: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        witness, code = searched(Path(folder), dict.fromkeys(paths, f'show("{LABEL}")\n'))
        forms = _forms([LABEL])
        wide, narrow = set(_hits(witness, forms)), set(_hits(witness, forms, files_for(code, forms)))
    assert narrow <= wide
    assert all(role_of(hit.path) in ("test", "docs") for hit in wide - narrow)


@pytest.mark.parametrize(
    ("paths", "aside"),
    [
        pytest.param(["app/a.kt", "tests/a.kt", "docs/conf.py"], ["docs", "tests"], id="tests-and-docs"),
        pytest.param(["app/a.kt", "tests/a.kt", "tests/b.min.js"], [], id="another-file-among-tests"),
        pytest.param(["app/a.kt", "README.md", "test_a.py"], [], id="files-at-the-top"),
    ],
)
def test_a_folder_is_left_out_if_all_its_files_are_tests_or_documents(
    tmp_path: Path, paths: list[str], aside: list[str]
) -> None:
    _, code = searched(tmp_path, dict.fromkeys(paths, "text\n"))
    left_out = [path for path in files_for(code, ["text"]) if "exclude" in path]
    assert left_out == [f":(exclude,literal){folder}" for folder in aside]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("Zone settings", 'open("Zone Settings")'),
        ("GitHub settings", "label: Github settings"),
        ("sign-in page", "<b>Sign in page</b>"),
        ("max_zones of it", "MAX_ZONES OF IT"),
        ("Zones and masks", "<i>Zones &amp; masks</i>"),
        ("\u65e0\u6cd5\u4fdd\u5b58", 'show("\u65e0\u6cd5\u4fdd\u5b58\u8bbe\u7f6e")'),
        ("& a", "& a"),
    ],
)
@pytest.mark.parametrize("path", ["app/a.kt", "app/strings.xml", "app/a.json", "vendor/a.js", "app/a.html"])
def test_the_file_that_has_a_label_is_searched(tmp_path: Path, label: str, text: str, path: str) -> None:
    witness, code = searched(tmp_path, {path: f"{text}\n", "app/other.kt": 'show("Zone of another setting")\n'})
    forms = _forms([label])
    assert [hit.path for hit in _hits(witness, forms, files_for(code, forms))] == [path]
    assert [hit.path for hit in _hits(witness, forms)] == [path]


def test_a_file_without_the_words_of_a_label_is_not_searched(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "app/a.kt": 'show("Zone settings")\n',
        "app/b.kt": 'show("settings")\n',
        "app/c.json": '["data"]\n',
    }
    _, code = searched(tmp_path, files)
    assert files_for(code, ["Zone settings", "never shown"]) == [":(literal)app/a.kt", ":(literal)app/c.json"]


@given(st.lists(st.sampled_from(["wätch", "Wätch", "WÄTCH", "THE", "the-Zones", "thE zoneS", "now", "a"]), min_size=1))
@settings(max_examples=25, deadline=None)
def test_forms_of_a_label_that_differ_in_case_only_are_searched_for_once(words: list[str]) -> None:
    text = " ".join(words)
    forms = (text, text[0].upper() + text[1:], text[0].lower() + text[1:], text.replace("-", " "))
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(f"{word} {one}\n" for one in (*forms, text.upper(), text.lower()) for word in ("", "x_", '"'))
        witness, _ = searched(Path(folder), {"app/a.kt": lines})
        assert _hits(witness, _forms([text])) == witness.grep_any(forms, NOT_SEARCHED, any_case=True)
