"""The file stage of small models: a model chooses five files of a list."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import Field, StringConstraints, create_model

from nodes.brains.calls.native import Message
from nodes.brains.calls.schema import DESCRIBED
from nodes.brains.calls.tokens import estimate
from nodes.brains.fence import fence, squeeze
from nodes.brains.opening import later_messages
from nodes.brains.shared import TITLE, build_conversation, build_investigation, join_sections
from nodes.context import Case, FileCard, ToolPort
from nodes.judgements import FILES, FileStep
from nodes.search.types import PlaceSketch
from nodes.trust.secrets import mask

SHOWN = 16
"""Number of files of the search that a model sees."""
LIST = 1_500
"""Maximum tokens of the list."""
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


async def choose_files(case: Case, tools: ToolPort, ask: Asks) -> Choice:
    """Ask for five files; files that the model misses on the list are looked up."""
    listed = case.files[:SHOWN]
    ids = tuple(f"F{number}" for number in range(1, len(listed) + 1))
    step = await ask(build_file_list(case, listed), file_schema(ids))
    missing = tuple(FileCard(one) for one in await tools.sketched(step.not_listed))
    missing = tuple(card for card in missing if card.path not in {one.path for one in listed})[:FILES]
    return Choice(_five(_chosen(step, listed), missing, listed), step.analysis)


def _five(chosen: Sequence[FileCard], missing: Sequence[FileCard], listed: Sequence[FileCard]) -> tuple[FileCard, ...]:
    """Return the chosen files, then the files that the model missed on the list, then the search's first files."""
    every = {card.path: card for card in (*chosen, *missing[:1], *listed[:2], *missing, *listed)}
    return tuple(every.values())[:FILES]


def _chosen(step: FileStep, shown: Sequence[FileCard]) -> tuple[FileCard, ...]:
    """Return the files that the answer names, each once; ids that were not shown are dropped."""
    known = {f"F{number}": card for number, card in enumerate(shown, 1)}
    names = dict.fromkeys(name.strip(" []()`").upper() for name in step.files)
    return tuple(known[name] for name in names if name in known)


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


def build_file_list(case: Case, shown: Sequence[FileCard]) -> tuple[Message, Message]:
    """Return the messages of the file stage: the issue, later messages, the files, and the title again."""
    sections = (
        ("What was read from it", fence("reading", reading) if (reading := build_investigation(case)) else ""),
        ("Said since", later_messages(case)),
        ("Files", fence("files", mask(_listed(shown, LIST)))),
        ("The title again", fence("title", mask(case.title)[:TITLE])),
    )
    return build_conversation(case, "files", join_sections(sections))


def _listed(shown: Sequence[FileCard], tokens: int) -> str:
    """Format the files in as much detail as fits, more for the search's first ones; if no level fits, drop the last."""
    cards, lines = list(shown), ""
    for best, rest in _DETAILS:
        lines = _lines(cards, best, rest)
        if estimate(lines) <= tokens:
            return lines
    while cards and estimate(lines) > tokens:
        cards.pop()
        lines = _lines(cards, *_DETAILS[-1])
    return lines


def _lines(cards: Sequence[FileCard], best: Detail, rest: Detail) -> str:
    described = [
        describe(f"F{number}", card, best if number <= _FIRST else rest) for number, card in enumerate(cards, 1)
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
