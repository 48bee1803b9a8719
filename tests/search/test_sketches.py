"""A file in few words: its best places, their first lines, and the lines that match."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.engine import Engine
from nodes.search.types import FileSketch, Query
from tests.support.repositories import make_repository

LEXER = '''# Copyright 2020 The authors. License: MIT.
"""Splits a text into tokens."""

import re


class Lexer:
    """Reads characters."""

    @property
    def position(self):
        return self._at

    def scan(
        self,
        text,
        quote="'",
    ):
        for letter in text:
            if letter == quote:
                raise ValueError("open quote")
        return text


def unused():
    return None
'''
FILES = {
    "src/lexer.py": LEXER,
    "src/reader.js": "// Reads a file and scans it.\nexport function read(path) {\n  return scan(open(path));\n}\n",
    "src/plain.py": "x = 1\n",
    "src/legal.c": "/* Copyright 2020 */\n/*\n * Frees the memory of a list.\n */\nvoid release(void) {\n}\n",
    "lib/lexer.py": "pass\n",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder: Path = tmp_path_factory.mktemp("sketched")
    make_repository(folder, FILES)
    return Engine(folder)


def sketch(engine: Engine, *paths: str) -> tuple[FileSketch, ...]:
    return engine.sketches(Query("scan hangs on an open quote", "The `scan` of the lexer."), paths, "HEAD")


def test_places_have_a_signature_and_the_matching_lines(engine: Engine) -> None:
    (found,) = sketch(engine, "src/lexer.py")
    place = next(one for one in found.places if one.location.symbol == "Lexer.scan")
    assert place.signature == """def scan( self, text, quote="'", )"""
    assert (21, 'raise ValueError("open quote")') in place.matches


def test_files_retain_their_order_and_unknown_or_ambiguous_ones_are_left_out(engine: Engine) -> None:
    paths = ("src/plain.py", "reader.js", "lexer.py", "src/gone.py", "../src/plain.py", "", "src/lexer.py")
    assert [one.path for one in sketch(engine, *paths)] == ["src/plain.py", "src/reader.js", "src/lexer.py"]
