"""The file stage: a model chooses five files of a list; if in doubt, it is asked again with the list reversed.

If it chooses none, the second list contains the search's next files.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import Field, StringConstraints, create_model

from nodes.brains.calls.schema import DESCRIBED
from nodes.brains.calls.tokens import estimate
from nodes.brains.fence import fence, squeeze
from nodes.brains.opening import later_messages
from nodes.brains.shared import TITLE, Message, build_conversation, join_sections
from nodes.context import Case, FileCard, LookupPort
from nodes.judgements import FILES, FileStep
from nodes.search.types import PlaceSketch
from nodes.trust.secrets import mask

SHOWN = 16
"""Number of files of the search that a model sees."""
LIST, LIST_AGAIN = 1_500, 950
"""Maximum tokens of the list, and of the reversed list."""
SURE, UNSURE = 0.65, 0.5
"""Minimum probabilities of a search and of a model that agree: above both, the model is not asked again."""
_SIBLINGS = 80
_FIRST = 4
"""Number of files that are shown with more of their code."""
_LINE, _FACT = 110, 150


@dataclass(frozen=True, slots=True)
class Detail:
    """The amount of detail shown of a file: places, matching lines of each, further names."""

    places: int
    lines: int
    names: int


# For the first files and for the others, tried in this order until the list fits.
_DETAILS = (
    (Detail(3, 2, 6), Detail(2, 1, 6)),
    (Detail(2, 2, 6), Detail(2, 1, 4)),
    (Detail(2, 2, 6), Detail(1, 1, 6)),
    (Detail(2, 1, 4), Detail(1, 1, 3)),
    (Detail(1, 1, 4), Detail(1, 0, 3)),
    (Detail(1, 0, 2), Detail(1, 0, 0)),
    (Detail(0, 0, 0), Detail(0, 0, 0)),
)


class Asks(Protocol):
    """Sends messages with a schema."""

    async def __call__(self, messages: Sequence[Message], schema: type[FileStep]) -> FileStep:
        """Return the model's answer."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The files that a model chose, best first."""

    files: tuple[FileCard, ...]
    analysis: str
    confidence: float
    same_in_both_orders: bool | None
    """None if the list was shown in one order only."""
    sure: bool
    """Whether model and search agree and both are sure."""


async def choose_files(case: Case, looks: LookupPort, ask: Asks) -> Choice:
    """Ask for five files, and once more in reversed order unless model and search agree and are sure.

    Files that the model misses on the list are looked up and shown the second time. A model that takes no file of the
    list is shown the next files of the search instead.
    """
    listed = case.files[:SHOWN]
    first = await _ask(case, listed, ask, again=False, analysis="")
    missing = tuple(FileCard(one) for one in await looks.sketched(first.not_listed))
    missing = tuple(card for card in missing if card.path not in {one.path for one in listed})[:FILES]
    chosen = _chosen(first, listed)
    agrees = bool(chosen) and chosen[0].path == listed[0].path
    sure = agrees and case.search_confidence >= SURE and first.confidence >= UNSURE
    if sure:
        return Choice(_five(chosen, missing, listed), first.analysis, first.confidence, None, sure=True)
    further = () if chosen else tuple(FileCard(one) for one in await looks.next_files([one.path for one in listed]))
    turned = (*missing, *further) if further else (*missing, *listed)[::-1]
    second = await _ask(case, turned, ask, again=True, analysis=first.analysis)
    again = _chosen(second, turned)
    same = bool(chosen and again) and chosen[0].path == again[0].path
    both = merged(chosen, again, (*listed, *missing, *further))
    confidence = min(first.confidence, second.confidence) if same else 0.0
    return Choice(_five(both, missing, listed), second.analysis or first.analysis, confidence, same, sure=False)


def merged(one: Sequence[FileCard], other: Sequence[FileCard], order: Sequence[FileCard]) -> tuple[FileCard, ...]:
    """Merge two orders by the sum of the ranks; a file that one lacks ranks after that one's last file."""
    ranks = [{card.path: rank for rank, card in enumerate(cards)} for cards in (one, other)]
    known = {card.path: card for card in (*order, *one, *other)}
    place = {path: number for number, path in enumerate(known)}
    named = [path for path in known if any(path in of for of in ranks)]
    named.sort(key=lambda path: (sum(of.get(path, FILES) for of in ranks), place[path]))
    return tuple(known[path] for path in named)


def _five(chosen: Sequence[FileCard], missing: Sequence[FileCard], listed: Sequence[FileCard]) -> tuple[FileCard, ...]:
    """Return the chosen files, then the files that the model missed on the list, then the search's first files."""
    every = {card.path: card for card in (*chosen, *missing[:1], *listed[:2], *missing, *listed)}
    return tuple(every.values())[:FILES]


def _chosen(step: FileStep, shown: Sequence[FileCard]) -> tuple[FileCard, ...]:
    """Return the files that the answer names, each once; ids that were not shown are dropped."""
    known = {f"F{number}": card for number, card in enumerate(shown, 1)}
    names = dict.fromkeys(name.strip(" []()`").upper() for name in step.files)
    return tuple(known[name] for name in names if name in known)


async def _ask(case: Case, shown: Sequence[FileCard], ask: Asks, *, again: bool, analysis: str) -> FileStep:
    messages = build_file_list(case, shown, again=again, analysis=analysis)
    return await ask(messages, file_schema(tuple(f"F{number}" for number in range(1, len(shown) + 1))))


@functools.lru_cache(maxsize=32)
def file_schema(ids: tuple[str, ...]) -> type[FileStep]:
    """Return the schema of the answer with only these ids.

    Servers that enforce a schema enforce the enumeration; others may write anything, which is dropped later.
    """
    listed: Any = Annotated[str, StringConstraints(max_length=40), Field(json_schema_extra={"enum": list(ids)})]
    field = Field(max_length=FILES, description=str(FileStep.model_fields["files"].description))
    return create_model(
        "FileStep",
        __base__=FileStep,
        __doc__=FileStep.__doc__,
        __cls_kwargs__=DESCRIBED,
        files=(tuple[listed, ...], field),
    )


def build_file_list(case: Case, shown: Sequence[FileCard], *, again: bool, analysis: str) -> tuple[Message, Message]:
    """Return the messages of the file stage: the issue, later messages, the files, and the title again."""
    rank = {card.path: number for number, card in enumerate(case.files)}
    rank |= {card.path: number for number, card in enumerate(card for card in shown if card.path not in rank)}
    sections = (
        ("What was read from it", fence("reading", reading) if (reading := _reading(case)) else ""),
        ("Said since", later_messages(case)),
        ("An earlier analysis", fence("analysis", mask(analysis)) if analysis else ""),
        ("Files", fence("files", mask(_listed(shown, LIST_AGAIN if again else LIST, rank)))),
        ("The title again", fence("title", mask(case.title)[:TITLE])),
    )
    return build_conversation(case, "files", join_sections(sections))


def _reading(case: Case) -> str:
    reading = case.state.reading
    if reading is None:
        return ""
    terms = ", ".join(reading.search_terms[:8])
    return mask("\n".join(filter(None, (reading.problem, reading.hypothesis, terms))))


def _listed(shown: Sequence[FileCard], tokens: int, rank: Mapping[str, int]) -> str:
    """Format the files in as much detail as fits, more for the search's first ones; if no level fits, drop the last."""
    cards, lines = list(shown), ""
    for best, rest in _DETAILS:
        lines = _lines(cards, best, rest, rank)
        if estimate(lines) <= tokens:
            return lines
    while cards and estimate(lines) > tokens:
        cards.pop()
        lines = _lines(cards, *_DETAILS[-1], rank)
    return lines


def _lines(cards: Sequence[FileCard], best: Detail, rest: Detail, rank: Mapping[str, int]) -> str:
    described = [
        describe(f"F{number}", card, best if rank.get(card.path, 0) < _FIRST else rest)
        for number, card in enumerate(cards, 1)
    ]
    siblings = _siblings(cards) if rest.names else ""
    return "\n".join((*described, *([siblings] if siblings else [])))


def describe(name: str, card: FileCard, detail: Detail) -> str:
    """Format one file: its path, its description, facts, its best places with the lines that match, further names."""
    sketch = card.sketch
    lines = [f"{name} {sketch.path}{f' - {sketch.about}' if sketch.about and detail.places else ''}"]
    lines += [f"  checked: {text[:_FACT]}" for text in card.facts[: 2 if detail.lines else 1]]
    for place in sketch.places[: detail.places]:
        lines += _place(place, detail.lines)
    names = sketch.names[: detail.names]
    return "\n".join((*lines, *([f"  also: {', '.join(names)}"] if names else [])))


def _place(place: PlaceSketch, lines: int) -> list[str]:
    symbol = place.location.symbol or ""
    owner = f"{symbol.rpartition('.')[0]}: " if "." in symbol else ""
    matches = [f"    {number}: {text[:_LINE]}" for number, text in place.matches[:lines]]
    if not place.signature:
        return matches
    return [f"  {owner}{place.signature[:_LINE]}", *matches]


def _siblings(cards: Sequence[FileCard]) -> str:
    """List further files in the folders of the first files."""
    listed = {card.path for card in cards}
    folders: dict[str, list[str]] = {}
    for card in cards[:_FIRST]:
        folder = card.path.rpartition("/")[0]
        paths = (f"{folder}/{name}".lstrip("/") for name in card.sketch.siblings)
        folders[folder] = [path.rpartition("/")[2] for path in paths if path not in listed]
    parts = [f"{folder or '.'}: {', '.join(names)}" for folder, names in folders.items() if names]
    return squeeze(f"Not listed: {'; '.join(parts)}", _SIBLINGS).replace("\n", " ") if parts else ""
