"""Turn search results into evidence, and choose the files that a model is shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nodes.brains.briefing import CHECKED
from nodes.brains.conversation import LISTED
from nodes.context import Context, FileCard
from nodes.evidence import Evidence, NumberedEvidence, as_evidence, is_citable, numbers_of, quoted
from nodes.search.facts import Fact
from nodes.search.tokens import plain_words
from nodes.search.types import Location, Passage, Query, Ranking, Survey

MIN_SCORE, MIN_SCORE_ON_RETRY = 0.60, 0.55
"""Candidates whose score is below this fraction of the best score are dropped (SPEC section 5)."""
CANDIDATES, CANDIDATES_ON_RETRY = 10, 20
"""Number of candidates fetched at first, and on a retry after a rejected draft (SPEC section 5)."""


POINTED = "a maintainer pointed here"
"""The reason for a place that a redirect named."""
MAX_FACTS = 8
"""Maximum number of fact lines that a model receives."""
FACT_SCORE = 0.5
"""The score of a fact's line, below the threshold, so that it never ranks above a place of the search."""
_MAX_POINTED = 2
_FILE = re.compile(r"\w\.[a-z]\w{0,4}\b")
_SUFFIXES = frozenset({"cpp", "java", "php", "tsx", "jsx", "mjs"})


@dataclass(frozen=True, slots=True)
class Candidates:
    """The numbered places that one search found, best first."""

    strong: tuple[NumberedEvidence, ...] = ()
    """Places whose score reaches the threshold. Rules see these."""
    all: tuple[NumberedEvidence, ...] = ()
    """What a model sees: the same places, then the lines of facts."""
    filtered_out: int = 0
    """Places of the search below the threshold."""
    threshold: float = 0.0


def find_candidates(
    ranking: Ranking,
    known: Sequence[str],
    *,
    retry: bool,
    pointed: Sequence[Evidence] = (),
    facts: Sequence[Evidence] = (),
) -> Candidates:
    """Number the search results after the known evidence, as the supervisor will, in the order of the search.

    Places that a person named come first, even if no other signal supports them. The lines of facts follow the search
    results; only a model receives them.

    Args:
        ranking: the search results.
        known: keys of the evidence so far.
        retry: whether a draft was rejected; then the search is wider.
        pointed: places that a maintainer named.
        facts: lines of facts.
    """
    best = max((location.score for location in ranking.locations), default=0.0)
    places = [place for place in ranking.locations if best > 0 and is_citable(place.path, place.quote)]
    # A named place that the search also found appears once, with the reasons of the redirect.
    shown = {item.key for item in pointed}
    found = [as_evidence(place, ranking.commit, place.score / best) for place in places]
    found = [*pointed, *(item for item in found if item.key not in shown)]
    lowest, most = (MIN_SCORE_ON_RETRY, CANDIDATES_ON_RETRY) if retry else (MIN_SCORE, CANDIDATES)
    # Evidence scores are rounded to four places, so the threshold is rounded in the same way.
    strong = [item for item in found if item.score >= round(lowest, 4)][:most]
    shown = {item.key for item in strong}
    everything = [*strong, *(item for item in facts if item.key not in shown)]
    numbers = numbers_of((*known, *(entry.key for entry in everything)))
    numbered = tuple(NumberedEvidence(id=numbers[item.key], evidence=item) for item in everything)
    filtered_out = max(len(ranking.locations) - len(strong), 0)
    return Candidates(numbered[: len(strong)], numbered, filtered_out, lowest)


def mean_score(places: Iterable[Evidence]) -> float:
    """Return the mean score of places; 0 if there are none."""
    scores = [place.score for place in places]
    return round(sum(scores) / len(scores), 4) if scores else 0.0


def lines_of_facts(facts: Iterable[Fact], sha: str) -> tuple[Evidence, ...]:
    """Return the lines of checked facts as evidence that a model may cite, the strong ones first."""
    # A test that uses a word of the issue says nothing about the fault.
    lines = [fact for fact in facts if fact.path and fact.line and not fact.sha and fact.kind != "tested_here"]
    lines = [fact for fact in lines if is_citable(fact.path or "", fact.text or "")]
    found = (
        quoted(
            Passage(fact.path or "", fact.line or 0, fact.line or 0, fact.text or "", fact.symbol),
            sha,
            FACT_SCORE,
            f"{CHECKED}{fact.says}"[:300],
        )
        for fact in sorted(lines, key=lambda fact: not fact.strong)
    )
    return tuple({item.key: item for item in found}.values())[:MAX_FACTS]


def pointed_at(ranking: Ranking, text: str) -> tuple[Evidence, ...]:
    """Return the places that a redirect means, out of those found with its text as the query.

    Prefers places whose file name and symbol share the most words with the redirect, then places in a folder that
    it names. If it names neither a place nor a file, the best match is used, if any place matches. If it names a file
    that does not exist, no other file replaces it.
    """
    places = [place for place in ranking.locations if is_citable(place.path, place.quote)]
    named = _most_shared_words(
        text, [(place, f"{PurePosixPath(place.path).name} {place.symbol or ''}") for place in places]
    )
    if not named and not _FILE.search(text):
        fitting = [place for place in places if any(reason.kind not in ("prior", "file") for reason in place.reasons)]
        named = _most_shared_words(text, [(place, place.path) for place in places]) or fitting[:1]
    found = [as_evidence(place, ranking.commit, 1.0) for place in named[:_MAX_POINTED]]
    return tuple(item.model_copy(update={"reasons": (POINTED, *item.reasons[:3])}) for item in found)


def _most_shared_words(text: str, places: Sequence[tuple[Location, str]]) -> list[Location]:
    """Return the places that share the most words with the text; empty if none shares a word."""
    words = set(plain_words(text))
    shared = [len(words & (set(plain_words(text)) - _SUFFIXES)) for _, text in places]
    max_shared = max(shared, default=0)
    return [place for (place, _), count in zip(places, shared, strict=True) if max_shared and count == max_shared]


def in_order(found: Iterable[NumberedEvidence], suspects: Sequence[str]) -> tuple[NumberedEvidence, ...]:
    """Return the suspects of a brain first, then the rest in search order."""
    order = {name: place for place, name in enumerate(dict.fromkeys(suspects))}
    return tuple(sorted(found, key=lambda item: order.get(item.id, len(order))))


def rescored(ranked: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    """Redistribute the engine's scores in the model's order.

    Later readers sort evidence by score. Without this, a briefing would leave out a place that the engine found
    fifteenth and the model ranked first, and rules that write after a model failure would not see the model's order.
    """
    scores = sorted((item.evidence.score for item in ranked), reverse=True)
    return tuple(
        item.model_copy(update={"evidence": item.evidence.model_copy(update={"score": score})})
        for item, score in zip(ranked, scores, strict=True)
    )


async def list_files(
    context: Context, query: Query, *, ranking: Ranking, pointed: Sequence[Evidence], survey: Survey
) -> tuple[FileCard, ...]:
    """Return the files that a model starts from: those that a maintainer pointed at, then those of the search."""
    paths = [*(str(item.locator.path) for item in pointed), *(hit.path for hit in ranking.files)]
    sketches = await context.code.sketches(query, tuple(dict.fromkeys(paths))[:LISTED])
    facts: dict[str, list[str]] = {}
    for fact in sorted(survey.facts, key=lambda fact: not fact.strong):
        facts.setdefault(fact.path or "", []).append(fact.says)
    return tuple(FileCard(sketch, tuple(dict.fromkeys(facts.get(sketch.path, ())))) for sketch in sketches)
