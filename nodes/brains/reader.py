"""Two stages of reading: a model chooses files, then ranks their functions after at most one round of lookups."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, StringConstraints, create_model

from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.schema import DESCRIBED, strict_schema
from nodes.brains.calls.structured import Message, Structured, ask_structured
from nodes.brains.calls.tokens import ASKING, TOTAL, TokenBudget
from nodes.brains.files import Choice, choose_files
from nodes.brains.opening import (
    BODIES,
    CHECKED,
    OpenedFile,
    Opening,
    build_function_opening,
    build_opening,
    show_lookup_result,
)
from nodes.brains.rules.places import is_named_by_maintainer
from nodes.brains.shared import build_conversation, is_shortened
from nodes.context import Case, Judged, LookupPort, ModelError
from nodes.evidence import NumberedEvidence
from nodes.judgements import LOOKS, CodeReading, CodeStep, FileStep
from nodes.state import Usage
from nodes.trust.secrets import mask
from prompts import build_ranking_request

T = TypeVar("T", bound=BaseModel)
NO_RANKING = "The model chose files and ranked no function of them."
_FIRST_FILES, _MANY, _FEW = 2, 3, 2
"""Number of files that are shown with more places; the places of each of these, and of each other file."""
_CITED = re.compile(r"\bE\d{1,6}\b")
_PATH = re.compile(r"(?<![\w./-])[\w@.-]{1,80}(?:/[\w@.-]{1,80}){1,20}")
_EXTENSION = re.compile(r"\.[A-Za-z]\w{0,9}$")
_SENTENCE_END = re.compile(r"(?<=[.!?\]])\s+(?=[A-Z`\"'(\[])")


def drop_unknown(step: CodeStep, shown: Mapping[str, NumberedEvidence], case: Case) -> tuple[CodeReading, int]:
    """Return the reading, and how many names and sentences were removed from it."""
    named = [name.strip(" []()`").upper() for name in step.suspects]
    suspects = tuple(dict.fromkeys(name for name in named if name in shown))
    known = _Known(shown, f"{case.title}\n{case.body}")
    summary, dropped_there = known.only(step.summary)
    details, dropped_here = known.only(step.details)
    reading = CodeReading(
        summary=summary or _in_short(suspects, shown),
        details=details,
        suspects=suspects,
        confidence=step.confidence,
    )
    return reading, sum(name not in shown for name in named) + dropped_there + dropped_here


class _Known:
    """The references that the model may use: evidence shown to it, the files of that evidence, files in the issue."""

    def __init__(self, shown: Mapping[str, NumberedEvidence], issue: str) -> None:
        self._ids = frozenset(shown)
        self._paths = frozenset(str(item.evidence.locator.path) for item in shown.values())
        self._issue = issue

    def only(self, text: str) -> tuple[str, int]:
        sentences = [part for part in _SENTENCE_END.split(text.strip()) if part]
        confirmed = [sentence for sentence in sentences if self._holds(sentence)]
        return " ".join(confirmed), len(sentences) - len(confirmed)

    def _holds(self, sentence: str) -> bool:
        paths = (path.rstrip(".") for path in _PATH.findall(sentence))
        named = [path for path in paths if _EXTENSION.search(path)]
        return set(_CITED.findall(sentence)) <= self._ids and all(map(self._is_known, named))

    def _is_known(self, path: str) -> bool:
        return path in self._issue or any(known == path or known.endswith(f"/{path}") for known in self._paths)


def _in_short(suspects: tuple[str, ...], shown: Mapping[str, NumberedEvidence]) -> str:
    if not suspects:
        return "None of the places that were read explains the issue."
    first = shown[suspects[0]].evidence
    return f"Top suspect: `{first.symbol or first.locator.path}` [{suspects[0]}]."[:300]


NOTHING = CodeStep(summary="No place in the code was found that this issue could be about.")


class Reader:
    """Judges the results of one search with a model: first the files, then their functions."""

    def __init__(self, model: Model, budget: ModelBudget, case: Case) -> None:
        self._model = model
        self._budget = budget
        self._case = case
        self._token_budget = TokenBudget(json.dumps(strict_schema(CodeStep)))
        # Only appended to, so that its beginning remains in the provider's prompt cache.
        self._messages: tuple[Message, ...] = ()
        self._shown: dict[str, NumberedEvidence] = {}
        self._usage = Usage()

    async def read(self, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Rank the functions of the files that the model chooses, and the results of the lookups.

        If the search gives no files to choose from, the model ranks its candidates.

        Raises:
            ModelError: No usable answer arrived, or no tokens were left for one.
        """
        lookups = self._case.looks
        choice = await choose_files(self._case, lookups, self._ask_files) if lookups and self._case.files else None
        opening = await self._open(choice, candidates, lookups) if lookups and choice else None
        opening = opening or build_opening(self._case, candidates)
        self._shown = {item.id: item for item in opening.shown}
        self._messages = build_conversation(self._case, "codebase_search", opening.text)
        # If model and search agree and are sure, a lookup is not worth a request.
        step = await self._try_lookups(lookups) if lookups and not (choice and choice.sure) else None
        if step is None:
            step = await self._rank(choice) if self._shown else NOTHING
        reading, dropped = drop_unknown(step, self._shown, self._case)
        same = _is_same(reading, self._shown, choice)
        reading = reading.model_copy(update={"same_in_both_orders": same})
        return Judged(
            reading,
            judged_by=self._model.name,
            usage=self._usage,
            dropped=dropped,
            remarks=self._model.remarks,
            compressed=is_shortened(self._case),
        )

    async def _open(
        self, choice: Choice, candidates: Sequence[NumberedEvidence], lookups: LookupPort
    ) -> Opening | None:
        """Return the function stage's first message; None if no place of the chosen files can be quoted."""
        opened = []
        bodies = iter(BODIES)
        for number, card in enumerate(choice.files):
            places, whole = dict[str, NumberedEvidence](), dict[str, str]()
            of_file = [item for item in candidates if item.evidence.locator.path == card.path]
            places |= {item.id: item for item in of_file if is_named_by_maintainer(item.evidence)}
            for rank, place in enumerate(card.sketch.places[: _MANY if number < _FIRST_FILES else _FEW]):
                item = lookups.show(place)
                if item is None:
                    continue
                places[item.id] = item
                # The best of the first three files, and the second best of the first.
                room = next(bodies, 0) if number + rank < _FIRST_FILES or (rank == 0 and number < _MANY) else 0
                whole |= {item.id: mask(await lookups.body(place, room))} if room else {}
            checked = [item for item in of_file if item.evidence.reasons[:1] and _is_checked(item)]
            places |= {item.id: item for item in checked[:_FEW]}
            opened.append(OpenedFile(card, tuple(places.values()), whole))
        found = any(one.places for one in opened)
        return build_function_opening(self._case, opened, choice.analysis) if found else None

    async def _try_lookups(self, lookups: LookupPort) -> CodeStep | None:
        """Let the model ask for lookups once; return its ranking if it needs none."""
        if lookups.remaining <= 0 or not self._token_budget.may_look_up(self._messages):
            return None
        step = await self._ask(self._token_budget.room_for_lookups(self._messages))
        if not step.looks or (step.summary.strip() and step.suspects):
            return step
        await self._answer_lookups(step, lookups)
        return None

    async def _answer_lookups(self, step: CodeStep, lookups: LookupPort) -> None:
        """Answer the lookups, as many as fit the budget."""
        request: Message = ("ai", json.dumps({"looks": [look.model_dump() for look in step.looks]}, ensure_ascii=False))
        answers: list[str] = []
        for look in step.looks:
            if (
                lookups.remaining <= 0
                or self._token_budget.room_for_lookups([*self._messages, request, ("human", "\n".join(answers))]) < 0
            ):
                break
            result = await lookups.look_up(look)
            answers.append(show_lookup_result(LOOKS - lookups.remaining, look, result))
            self._shown |= {item.id: item for item in result.found}
        self._messages = (*self._messages, request, ("human", "\n\n".join(answers)))

    async def _rank(self, choice: Choice | None) -> CodeStep:
        """Request the final ranking."""
        (role, text), before = self._messages[-1], self._messages[:-1]
        self._messages = (*before, (role, f"{text}\n\n{build_ranking_request()}"))
        step = await self._ask(self._token_budget.room(self._messages))
        if not step.looks or step.summary.strip():
            return step
        if choice is None:
            raise ModelError(f"{self._model.name} kept requesting lookups after the last one", self._usage)
        return CodeStep(summary=NO_RANKING, suspects=_firsts(choice, self._shown), confidence=choice.confidence)

    async def _ask_files(self, messages: Sequence[Message], schema: type[FileStep]) -> FileStep:
        answer = await self._answered(schema, messages, None)
        return answer.value

    async def _ask(self, room: int) -> CodeStep:
        if room < ASKING:
            raise ModelError(f"the {TOTAL} tokens for reading code are spent", self._usage)
        answer = await self._answered(step_schema(tuple(self._shown)), self._messages, room)
        self._messages = answer.asked
        self._token_budget.note(self._messages, answer.value.model_dump_json(), answer.usage)
        return answer.value

    async def _answered(self, schema: type[T], messages: Sequence[Message], room: int | None) -> Structured[T]:
        try:
            answer = await ask_structured(self._model, schema, messages, budget=self._budget, room=room)
        except InvalidOutput as invalid:
            message = f"{self._model.name} gave the codebase_search two invalid answers: {invalid}"
            raise ModelError(message[:300], self._usage + invalid.usage) from invalid
        except ModelError as error:
            raise ModelError(str(error), self._usage + error.usage) from error
        self._usage += answer.usage
        return answer


@functools.lru_cache(maxsize=32)
def step_schema(ids: tuple[str, ...]) -> type[CodeStep]:
    """Return the schema of the answer, restricted to these ids; an empty list allows any id."""
    if not ids:
        return CodeStep
    listed: Any = Annotated[str, StringConstraints(max_length=40), Field(json_schema_extra={"enum": list(ids)})]
    field = Field(default=(), max_length=10, description=str(CodeStep.model_fields["suspects"].description))
    return create_model(
        "CodeStep",
        __base__=CodeStep,
        __doc__=CodeStep.__doc__,
        __cls_kwargs__=DESCRIBED,
        suspects=(tuple[listed, ...], field),
    )


def _is_checked(item: NumberedEvidence) -> bool:
    return item.evidence.reasons[0].startswith(CHECKED)


def _firsts(choice: Choice, shown: Mapping[str, NumberedEvidence]) -> tuple[str, ...]:
    """Return the first shown place of each chosen file, in the order of the files."""
    found: dict[str, str] = {}
    for name, item in shown.items():
        found.setdefault(str(item.evidence.locator.path), name)
    return tuple(found[card.path] for card in choice.files if card.path in found)


def _is_same(reading: CodeReading, shown: Mapping[str, NumberedEvidence], choice: Choice | None) -> bool | None:
    """Return whether all answers of the model preferred one file; None if it was asked for files once, or not."""
    if choice is None or not reading.suspects:
        return None
    moved = shown[reading.suspects[0]].evidence.locator.path != choice.files[0].path
    return False if moved else choice.same_in_both_orders
