"""Identifiers and prose share terms."""

from __future__ import annotations

import pytest

from nodes.search.tokens import query_terms, shingles, terms_of


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("parseHTTPHeaders", ("pars", "http", "header", "parsehttpheaders"), id="camel"),
        pytest.param("read_lines", ("read", "line", "read_lines"), id="snake"),
        pytest.param("running", ("run",), id="stemmed"),
        pytest.param("x" * 65, (), id="data"),
    ],
)
def test_terms(word, expected):
    assert terms_of(word) == expected


def test_stopwords_are_left_out_of_a_query():
    assert set(query_terms("the parser is broken")) == {"parser", "broken"}


def test_hostile_text_takes_linear_time():
    assert query_terms("aB" * 200_000) == {}


def test_shingles_ignore_case_and_punctuation():
    assert shingles("Cannot open: file") == shingles("cannot OPEN file")
