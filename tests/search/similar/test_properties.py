"""Properties of any two texts: bounds, symmetry, and self-similarity."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.issue.similar import PastIndex, Report, compare, words_of
from tests.search.similar.test_likeness import OTHERS

TEXTS = st.text(max_size=200) | st.sampled_from([part for issue in OTHERS for part in issue])
ISSUES = st.tuples(TEXTS, TEXTS)


@settings(max_examples=60, deadline=None)
@given(ISSUES, ISSUES)
def test_likeness_is_bounded_and_symmetric(one: tuple[str, str], other: tuple[str, str]) -> None:
    past = PastIndex([(number, words_of(*issue)) for number, issue in enumerate((*OTHERS, one, other))])
    there, back = (compare(Report.of(*a), Report.of(*b), past) for a, b in ((one, other), (other, one)))
    assert there == back
    assert 0 <= there.score <= 1
    assert bool(there.why) == (there.relation is not None)


@settings(max_examples=40, deadline=None)
@given(ISSUES)
def test_no_text_is_nearer_than_the_text_itself(issue: tuple[str, str]) -> None:
    words = words_of(*issue)
    past = PastIndex([(0, words), *((n, words_of(*other)) for n, other in enumerate(OTHERS, 1) if other != issue)])
    # Of equally near texts the oldest comes first.
    assert past.nearest(words, 3)[:1] in ([], [0])
