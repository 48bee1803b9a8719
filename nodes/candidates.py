"""What a search found, as evidence: who sees how much of it, and in which order it is believed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nodes.brains.opening import CANDIDATES as SHOWN_TO_A_MODEL
from nodes.brains.rules.places import plain_words
from nodes.evidence import Evidence, Locator, NumberedEvidence, is_citable
from nodes.judgements import CodeReading
from nodes.search.types import Location, Ranking

MIN_SCORE, MIN_SCORE_ON_RETRY = 0.60, 0.55
"""Seed 002, MIN_SCORE_THRESHOLD: candidates below this share of the best one's score are dropped."""
CANDIDATES, CANDIDATES_ON_RETRY = 10, 20
"""Seed 002: how many are fetched at first, and when the draft came back."""


POINTED = "a maintainer said to look here"
"""The reason for a place that a redirect named."""
_MOST_POINTED = 2
_FILE = re.compile(r"\w\.[a-z]\w{0,4}\b")
_SUFFIXES = frozenset({"cpp", "java", "php", "tsx", "jsx", "mjs"})


@dataclass(frozen=True, slots=True)
class Candidates:
    """The places of one search under their numbers, best first."""

    strong: tuple[NumberedEvidence, ...] = ()
    """Those whose score alone says that they are worth a look: what rules see."""
    all: tuple[NumberedEvidence, ...] = ()
    """Those that a model sees: it reads them, so that no score need choose for it."""


def find_candidates(
    ranking: Ranking, known: Sequence[str], *, retry: bool, pointed: Sequence[Evidence] = ()
) -> Candidates:
    """Number what was found after what is known, as the supervisor will, in the order of finding.

    Places that a person pointed at come first, however little else speaks for them.
    """
    best = max((location.score for location in ranking.locations), default=0.0)
    places = [place for place in ranking.locations if best > 0 and is_citable(place.path, place.quote)]
    shown = {item.key for item in pointed}
    found = [as_evidence(place, ranking.commit, place.score / best) for place in places]
    found = [*pointed, *(item for item in found if item.key not in shown)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys((*known, *(item.key for item in found))), 1)}
    numbered = tuple(NumberedEvidence(id=f"E{numbers[item.key]}", evidence=item) for item in found)
    lowest, most = (MIN_SCORE_ON_RETRY, CANDIDATES_ON_RETRY) if retry else (MIN_SCORE, CANDIDATES)
    # As it was before it was rounded: a score is rounded to four places.
    strong = [item for item in numbered if item.evidence.score >= round(lowest, 4)]
    return Candidates(tuple(strong[:most]), numbered[:SHOWN_TO_A_MODEL])


def pointed_at(ranking: Ranking, said: str) -> tuple[Evidence, ...]:
    """The places that a redirect means, of those that were found with its words alone.

    Those whose file and symbol share most words with it, else those in a folder that it names; where it names
    nothing, the one that fits it best, if any fits. A file that it names and that is not there is no other file.
    """
    places = [place for place in ranking.locations if is_citable(place.path, place.quote)]
    named = _named_most(said, [(place, f"{PurePosixPath(place.path).name} {place.symbol or ''}") for place in places])
    if not named and not _FILE.search(said):
        fitting = [place for place in places if any(reason.kind not in ("prior", "file") for reason in place.reasons)]
        named = _named_most(said, [(place, place.path) for place in places]) or fitting[:1]
    found = [as_evidence(place, ranking.commit, 1.0) for place in named[:_MOST_POINTED]]
    return tuple(item.model_copy(update={"reasons": (POINTED, *item.reasons[:3])}) for item in found)


def _named_most(said: str, places: Sequence[tuple[Location, str]]) -> list[Location]:
    """The places whose words are said most, if any are."""
    words = set(plain_words(said))
    shared = [len(words & (set(plain_words(text)) - _SUFFIXES)) for _, text in places]
    most = max(shared, default=0)
    return [place for (place, _), count in zip(places, shared, strict=True) if most and count == most]


def as_evidence(place: Location, sha: str, score: float) -> Evidence:
    """A place that was found, quoted at its commit."""
    return Evidence(
        kind="code",
        locator=Locator(path=place.path, start_line=place.quote_start, end_line=place.quote_end, sha=sha),
        symbol=place.symbol,
        quote=place.quote,
        score=round(score, 4),
        reasons=tuple(reason.text[:200] for reason in place.reasons if reason.kind != "prior")[:4],
    )


def in_order(found: Iterable[NumberedEvidence], suspects: Sequence[str]) -> tuple[NumberedEvidence, ...]:
    """What a brain suspects, then the rest as it was found."""
    order = {name: place for place, name in enumerate(suspects)}
    return tuple(sorted(found, key=lambda item: order.get(item.id, len(order))))


def rescored(ranked: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    """Hand the engine's scores out anew in a model's order.

    Whoever reads the evidence later goes by its score: without this a briefing would leave out what was found in the
    fifteenth place and ranked first, and rules that write in the model's stead would not know of its order.
    """
    scores = sorted((item.evidence.score for item in ranked), reverse=True)
    return tuple(
        item.model_copy(update={"evidence": item.evidence.model_copy(update={"score": score})})
        for item, score in zip(ranked, scores, strict=True)
    )


def honest(reading: CodeReading, ranked: Sequence[NumberedEvidence], ranking: Ranking, sure: float) -> float:
    """How sure a model's first place is: no surer than the engine was of its own, whatever the model says.

    The engine's number was calibrated for its own first file. Of another one that a model prefers nothing was measured
    but that the engine leaves it at most the rest, so that is the most that is claimed.
    """
    if not reading.suspects:
        return 0.0
    own = min(reading.confidence, sure)
    favourite = ranking.files[0].path if ranking.files else None
    if ranked[0].evidence.locator.path == favourite:
        return own
    return round(min(own, 1 - ranking.confidence), 4)
