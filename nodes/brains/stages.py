"""Two stages of reading for small models: the model chooses files of a list, then ranks their functions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, StringConstraints, create_model

from nodes.brains.briefing import CHECKED
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.schema import DESCRIBED
from nodes.brains.calls.structured import Message, ask_structured
from nodes.brains.files import Choice, choose_files
from nodes.brains.known import Known
from nodes.brains.opening import BODIES, OpenedFile, Opening, build_function_opening
from nodes.brains.rules.places import is_named_by_maintainer
from nodes.brains.shared import build_conversation
from nodes.context import Case, Judged, ModelError, ToolPort
from nodes.evidence import NumberedEvidence
from nodes.judgements import CodeReading, CodeStep
from nodes.state import Usage
from nodes.trust.secrets import mask

T = TypeVar("T", bound=BaseModel)
_FIRST_FILES, _MANY, _FEW = 2, 3, 2
"""Number of files that are shown with more places; the places of each of these, and of each other file."""
NOTHING = CodeStep(summary="No place in the code was found that this issue could be about.")


def drop_unknown(step: CodeStep, shown: Mapping[str, NumberedEvidence], case: Case) -> tuple[CodeReading, int]:
    """Return the reading, and how many names and sentences were removed from it."""
    named = [name.strip(" []()`").upper() for name in step.suspects]
    suspects = tuple(dict.fromkeys(name for name in named if name in shown))
    known = Known(shown, (str(item.evidence.locator.path) for item in shown.values()), f"{case.title}\n{case.body}")
    summary, dropped_there = known.only(step.summary)
    details, dropped_here = known.only(step.details)
    reading = CodeReading(
        summary=summary or _in_short(suspects, shown),
        details=details,
        suspects=suspects,
        confidence=step.confidence,
    )
    return reading, sum(name not in shown for name in named) + dropped_there + dropped_here


def _in_short(suspects: tuple[str, ...], shown: Mapping[str, NumberedEvidence]) -> str:
    if not suspects:
        return "None of the places that were read explains the issue."
    first = shown[suspects[0]].evidence
    return f"Top suspect: `{first.symbol or first.locator.path}` [{suspects[0]}]."[:300]


class Stages:
    """Judges the results of one search with a model: first the files, then their functions."""

    def __init__(self, model: Model, budget: ModelBudget, case: Case, spent: Usage) -> None:
        self._model = model
        self._budget = budget
        self._case = case
        self._usage = spent

    async def read(self, tools: ToolPort) -> Judged[CodeReading]:
        """Rank the functions of the files that the model chooses.

        Raises:
            ModelError: no usable answer arrived.
        """
        step, shown = NOTHING, dict[str, NumberedEvidence]()
        choice = await choose_files(self._case, tools, self._ask) if self._case.files else None
        opening = await self._open(choice, tools) if choice else None
        if opening is not None:
            shown = {item.id: item for item in opening.shown}
            messages = build_conversation(self._case, "codebase_search", opening.text)
            step = await self._ask(messages, step_schema(tuple(shown)))
        reading, dropped = drop_unknown(step, shown, self._case)
        return Judged(
            reading,
            judged_by=self._model.name,
            usage=self._usage,
            dropped=dropped,
            remarks=self._model.remarks,
        )

    async def _open(self, choice: Choice, tools: ToolPort) -> Opening | None:
        """Return the function stage's first message; None if no place of the chosen files can be quoted."""
        opened = []
        bodies = iter(BODIES)
        for number, card in enumerate(choice.files):
            places, whole = dict[str, NumberedEvidence](), dict[str, str]()
            of_file = [item for item in self._case.evidence if item.evidence.locator.path == card.path]
            places |= {item.id: item for item in of_file if is_named_by_maintainer(item.evidence)}
            for rank, place in enumerate(card.sketch.places[: _MANY if number < _FIRST_FILES else _FEW]):
                item = tools.show(place)
                if item is None:
                    continue
                places[item.id] = item
                # The best of the first three files, and the second best of the first.
                room = next(bodies, 0) if number + rank < _FIRST_FILES or (rank == 0 and number < _MANY) else 0
                whole |= {item.id: mask(await tools.body(place, room))} if room else {}
            checked = [item for item in of_file if item.evidence.reasons[:1] and _is_checked(item)]
            places |= {item.id: item for item in checked[:_FEW]}
            opened.append(OpenedFile(card, tuple(places.values()), whole))
        found = any(one.places for one in opened)
        return build_function_opening(self._case, opened, choice.analysis) if found else None

    async def _ask(self, messages: Sequence[Message], schema: type[T]) -> T:
        try:
            answer = await ask_structured(self._model, schema, messages, budget=self._budget)
        except InvalidOutput as invalid:
            message = f"{self._model.name} gave the codebase_search two invalid answers: {invalid}"
            raise ModelError(message[:300], self._usage + invalid.usage) from invalid
        except ModelError as error:
            raise ModelError(str(error), self._usage + error.usage) from error
        self._usage += answer.usage
        return answer.value


@functools.lru_cache(maxsize=32)
def step_schema(ids: tuple[str, ...]) -> type[CodeStep]:
    """Return the schema of the answer, restricted to these ids."""
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
