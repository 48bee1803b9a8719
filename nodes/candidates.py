"""What a search found, as evidence: who sees how much of it, and in which order it is believed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nodes.brains.opening import CANDIDATES as SHOWN_TO_A_MODEL
from nodes.evidence import Evidence, Locator, NumberedEvidence, is_citable
from nodes.judgements import CodeReading
from nodes.search.types import Location, Ranking

MIN_SCORE, MIN_SCORE_ON_RETRY = 0.60, 0.55
"""Seed 002, MIN_SCORE_THRESHOLD: candidates below this share of the best one's score are dropped."""
CANDIDATES, CANDIDATES_ON_RETRY = 10, 20
"""Seed 002: how many are fetched at first, and when the draft came back."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The places of one search under their numbers, best first."""

    strong: tuple[NumberedEvidence, ...] = ()
    """Those whose score alone says that they are worth a look: what rules see."""
    all: tuple[NumberedEvidence, ...] = ()
    """Those that a model sees: it reads them, so that no score need choose for it."""


def find_candidates(ranking: Ranking, known: Sequence[str], *, retry: bool) -> Candidates:
    """Number what was found after what is known, as the supervisor will, in the order of finding."""
    best = max((location.score for location in ranking.locations), default=0.0)
    if best <= 0:
        return Candidates()
    places = [place for place in ranking.locations if is_citable(place.path, place.quote)]
    found = [as_evidence(place, ranking.commit, place.score / best) for place in places]
    numbers = {key: number for number, key in enumerate(dict.fromkeys((*known, *(item.key for item in found))), 1)}
    numbered = tuple(NumberedEvidence(id=f"E{numbers[item.key]}", evidence=item) for item in found)
    lowest, most = (MIN_SCORE_ON_RETRY, CANDIDATES_ON_RETRY) if retry else (MIN_SCORE, CANDIDATES)
    strong = [item for item, place in zip(numbered, places, strict=True) if place.score / best >= lowest]
    return Candidates(tuple(strong[:most]), numbered[:SHOWN_TO_A_MODEL])


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
