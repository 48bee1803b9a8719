"""Turn search results into evidence, and choose the files that a model is shown."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from nodes.agents.code.tools import CodeTools
from nodes.brains.briefing import CHECKED
from nodes.brains.conversation import LISTED
from nodes.context.brain import FileCard
from nodes.context.ports import Context
from nodes.evidence import Evidence, NumberedEvidence, as_evidence, is_citable, numbers_of, quoted
from nodes.guards import is_rejected
from nodes.limits import CANDIDATES, CANDIDATES_ON_RETRY
from nodes.search.facts import Fact
from nodes.search.issue.mentions.found import find_mentions
from nodes.search.tokens import plain_words
from nodes.search.types import Location, Passage, Query, Ranking, Survey
from nodes.state import BugTriageState

MIN_SCORE, MIN_SCORE_ON_RETRY = 0.60, 0.55
"""Candidates whose score is below this fraction of the best score are dropped (SPEC section 5)."""
POINTED = "a maintainer pointed here"
"""The reason for a place that a redirect named."""
MAX_FACTS, FACT_SCORE = 8, 0.5
"""Maximum number of fact lines that a model receives, and their score: below the threshold, so that none ranks above a
place of the search."""
_MAX_POINTED = 2
_NAMES, _FEW, _AROUND, _PLACES = 6, 2, 6, 6
"""Maximum numbers of names of an objection that are looked up, of quoted definitions of each, of lines around a named
line, and of places in total."""
_LOOKED_UP = 0.4
"""The score of these places: below the score of places that the model read and ranked first."""
_FILE = re.compile(r"\w\.[a-z]\w{0,4}\b")
_SUFFIXES = frozenset({"cpp", "java", "php", "tsx", "jsx", "mjs"})


@dataclass(frozen=True, slots=True)
class NumberedPlaces:
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
) -> NumberedPlaces:
    """Number the search results after the known evidence (keys), as the supervisor will, in the order of the search.

    Places that a maintainer named come first, even if no other signal supports them. The lines of facts follow the
    search results; only a model receives them. On a retry after a rejected draft the search is wider.
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
    return NumberedPlaces(numbered[: len(strong)], numbered, filtered_out, lowest)


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
    names = [(place, f"{PurePosixPath(place.path).name} {place.symbol or ''}") for place in places]
    named = _most_shared_words(text, names)
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


async def look_up_objections(state: BugTriageState, context: Context, tools: CodeTools) -> tuple[Evidence, ...]:
    """Return places that were not evidence before: the definitions, lines and files that the objections name."""
    verdict, audit = state.critic_feedback, state.metrics.last_citation_audit
    # The place that the critic names instead comes first.
    texts = [verdict.better_place, *verdict.required_evidence, *verdict.gaps] if verdict and is_rejected(state) else []
    # The dropped sentence follows the colon.
    texts += [line.rpartition(": ")[2] for line in audit.dropped] if audit is not None and state.retry_count else []
    named, code = find_mentions("\n".join(filter(None, texts))), context.code
    passages: list[Passage] = []
    for name in named.symbols[:_NAMES]:
        defined = await code.definitions(name)
        passages += defined.passages if defined.total <= _FEW else ()
    for path, first, last in named.lines[:_NAMES]:
        lines = await code.lines(path, max(1, first - _AROUND), last + _AROUND)
        passages += lines.passages if lines is not None else ()
    citable = [passage for passage in passages if is_citable(passage.path, passage.quote)]
    exact = [quoted(passage, code.sha, _LOOKED_UP, "looked up for an objection") for passage in citable]
    for sketch in await tools.sketched(named.paths):
        exact += [as_evidence(place.location, code.sha, _LOOKED_UP) for place in sketch.places[:1]]
    found = {item.key: item for item in exact if is_citable(str(item.locator.path), item.quote)}
    return tuple(evidence for key, evidence in found.items() if key not in state.evidence)[:_PLACES]
