"""Find the words that an issue shares with a commit's message and that distinguish one change from another."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from nodes.search.tokens import STOPWORDS, WORD, terms_of
from nodes.search.types import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nodes.search.history.types import Commit

EACH_WORD, MOST_WORDS = 0.12, 3
_SAYS_LITTLE = STOPWORDS | frozenset(
    """add added adding allow always based bugs case cases change changed changes class clean cleanup code commit
    correct current currently default different does done failed failing feature file files following found function
    handle have help improve instead into issues like line lines list main make makes merge merged method more move
    named need needed only option possible problem pull python refactor related release remove removed request result
    return returned returns review set should since some support test testing tests that there this type update
    updated updates user users value values variable when will with without wrong""".split()  # noqa: SIM905
)


def issue_terms(title: str, body: str, messages: Sequence[str], own: frozenset[str]) -> dict[str, float]:
    """Return the weights of the issue's words that distinguish messages: words that only few of the messages contain.

    Args:
        title: of the issue.
        body: of the issue.
        messages: of the candidate changes.
        own: the project's names.
    """
    counts = Counter(term for message in messages for term in {term for _, term in _terms(message)})
    titles, bodies = ({term for _, term in _terms(text)} for text in (title, body))
    most = max(1.0, len(messages) / 4) if len(messages) >= 4 else len(messages)
    return {
        term: round((1.0 if term in titles or "_" in term else 0.4) / (1 + math.log(counts[term])), 6)
        for term in sorted(titles | bodies)
        if 0 < counts[term] <= most and term not in own
    }


def shared_words(commit: Commit, wanted: Mapping[str, float]) -> list[Reason]:
    """Return the reason that a message shares words with the issue, or an empty list."""
    found: dict[str, str] = {}
    for word, term in _terms(f"{commit.subject} {commit.body[:500]}"):
        if term in wanted:
            found.setdefault(term, word.lower())
    best = sorted(found, key=lambda term: (-wanted[term], term))[:MOST_WORDS]
    if not best:
        return []
    share = round(sum(EACH_WORD * wanted[term] for term in best), 6)
    return [Reason("words", f"its message shares {', '.join(f'“{found[term]}”' for term in best)}", share)]


def _terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words that may distinguish changes, each with its term; an identifier is one term."""
    for word in WORD.findall(text[:20_000]):
        if len(word) > 3 and word.lower() not in _SAYS_LITTLE and not word.isdigit():
            yield from ((word, term) for term in terms_of(word)[-1:])
