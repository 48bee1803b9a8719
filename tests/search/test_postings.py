"""Batch counting of terms equals splitting word by word."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.index.postings import Vocabulary, count_postings
from nodes.search.tokens import WORD, WORD_BYTES, hashes_of

TEXTS = st.text(st.sampled_from("abzAZQ019_ \n\t.-'\0\r\u00e9\u0130\u01c5\u4e2d\u2019\u0301\u0660\ufeff"), max_size=60)


def one_by_one(text, names=()):
    counts = Counter(value for word in WORD.findall(text) for value in hashes_of(word))
    for name in names:
        for value in hashes_of(name):
            counts[value] += 3
    return counts


def at_once(texts, named=()):
    found = count_postings(Vocabulary(), [text.encode().translate(WORD_BYTES) for text in texts], named, 3)
    chunk = np.repeat(np.arange(len(texts)), found.distinct)
    rows = list(zip(chunk.tolist(), found.hashes.tolist(), found.counts.tolist(), strict=True))
    counts = [{value: count for of, value, count in rows if of == number} for number in range(len(texts))]
    assert [sum(count.values()) for count in counts] == found.lengths.tolist()
    return counts


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=5))
def test_any_text_is_split_like_its_words(texts):
    assert at_once(texts) == [one_by_one(text) for text in texts]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("HTTPServer parse_header getHTTPResponseCode x2y __init__ _private", id="identifiers"),
        pytest.param("a 1 22 x_1 _ __ 3D v2", id="short-and-digits"),
        pytest.param(" ".join("x" * length for length in (63, 64, 65, 500)), id="too-long-to-be-a-word"),
        pytest.param("“quoted” naïve Größe_maß 中文 слово Straße’s e\u0301", id="beyond-ascii"),
        pytest.param("", id="nothing"),
    ],
)
def test_words(text):
    assert at_once([text, "next"]) == [one_by_one(text), one_by_one("next")]


@pytest.mark.parametrize("name", ["parse_header", "operator==", "valid?", "größe", "x" * 70, "", "\ud800"])
def test_a_name_counts_as_more_mentions(name):
    assert at_once(["parse", "other"], [(1, name)]) == [one_by_one("parse"), one_by_one("other", [name])]


def test_a_vocabulary_caches_words():
    vocabulary = Vocabulary()
    texts = [b"parse_header getName", b"getName again Gr\xc3\xb6\xc3\x9fe"]
    first, second = (count_postings(vocabulary, texts, [(0, "operator==")], 3) for _ in range(2))
    assert first.hashes.tolist() == second.hashes.tolist()
    assert first.counts.tolist() == second.counts.tolist()
