"""Code in languages without a grammar is outlined by its lines."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from nodes.search.languages.by_lines import SYNTAX
from nodes.search.languages.syntax import outline
from nodes.search.languages.table import LANGUAGES, always_needs_parser, language_of
from tests.support.growth import SOON, assert_linear

CASES: dict[str, tuple[str, str]] = {
    part.partition(":")[0]: (part.partition("\n")[2], part.partition("\n")[0].partition(": ")[2])
    for part in (Path(__file__).parent / "by_lines.txt").read_text().split("=== ")[1:]
}
"""For each file: its source and its definitions with their lines."""


@pytest.mark.parametrize("name", CASES)
def test_code_without_a_grammar_has_an_outline(name: str) -> None:
    source, expected = CASES[name]
    rows = [f"{d.name} {d.start_line} {d.end_line}" for d in outline(name, source.encode()).definitions]
    assert ", ".join(rows) == expected
    assert (
        outline(name, source.replace("\n", "\r\n").encode()).definitions == outline(name, source.encode()).definitions
    )


def test_no_row_of_the_table_goes_untested() -> None:
    assert {language_of(name) for name in CASES} >= SYNTAX.keys()
    assert list(SYNTAX) == sorted(SYNTAX)
    endings = [ending for language in LANGUAGES for ending in language.endings]
    assert len(set(endings)) == len(endings)


@pytest.mark.parametrize("language", [one for one in LANGUAGES if not one.package], ids=lambda one: one.name)
def test_an_outline_by_lines_needs_no_parser(language) -> None:
    assert not always_needs_parser("a" + language.endings[0])


def test_messages_are_those_of_strings_and_not_of_comments() -> None:
    read = outline("a.lua", b'-- say "not a message"\nlocal x = require(\'a.b\')\nerror("cannot open file " .. path)\n')
    assert read.strings == ((3, "cannot open file"),)
    assert read.imports == ("a.b",)


@pytest.mark.tried("source files made to be slow to parse, in each language")
@pytest.mark.parametrize("language", SYNTAX)
def test_hostile_lines_take_linear_time(language: str) -> None:
    ending = SYNTAX[language].endings.split()[0]
    for part in ('"\\', "a b ", "<<A\n", "}{\n", "pub fn a\n", "static get ", " a\n", "[[", "(*", "=pod\n"):
        text = partial(_many, part)
        assert_linear(lambda source: outline(f"a{ending}", source), text, 20_000, part, noticeable=SOON)


def _many(part: str, size: int) -> bytes:
    """Return a file of a part, with so many line feeds that it does not pass for a minified one."""
    return (part * (size // len(part)) + "\n" * (size // 4_000)).encode()
