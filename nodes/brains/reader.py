"""One conversation about code: candidates first, a few lookups, then the ranking. Messages are only appended."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from nodes.brains.budget import ModelBudget
from nodes.brains.models import Model
from nodes.brains.opening import build_opening, show_lookup_result
from nodes.brains.replies import InvalidOutput
from nodes.brains.schema import strict_schema
from nodes.brains.structured import Message, ask_structured
from nodes.brains.tokens import ASKING, TOTAL, TokenBudget
from nodes.context import Case, Judged, LookupPort, ModelError
from nodes.evidence import NumberedEvidence
from nodes.judgements import LOOKS, CodeReading, CodeStep
from nodes.state import Usage
from prompts import build_looks_left, build_ranking_request, build_role_prompt

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
    """What the model may name: the evidence shown to it, the files of that evidence, and files that the issue names."""

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
    """Judges the candidates of one search with a model."""

    def __init__(self, model: Model, budget: ModelBudget, case: Case) -> None:
        self._model = model
        self._budget = budget
        self._case = case
        self._token_budget = TokenBudget(json.dumps(strict_schema(CodeStep)))
        # Only appended to, with one schema throughout, so that its beginning stays in a provider's prompt cache.
        self._messages: tuple[Message, ...] = ()
        self._usage = Usage()

    async def read(self, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Rank the candidates and the results of the lookups.

        Raises:
            ModelError: No usable answer arrived, or no tokens were left for one.
        """
        opening = build_opening(self._case, candidates)
        shown = {item.id: item for item in opening.shown}
        looks = self._case.looks
        self._messages = (
            ("system", build_role_prompt("codebase_search", self._case.language)),
            ("human", opening.text),
        )
        if not self._may_look_up(looks):
            self._messages = (self._messages[0], ("human", f"{opening.text}\n\n{build_ranking_request()}"))
        step: CodeStep | None = None
        while step is None and looks is not None and self._may_look_up(looks):
            step = await self._ask(self._token_budget.room_for_lookups(self._messages))
            if step.looks:
                shown |= await self._look(step, looks)
                step = None
        if step is None:
            step = await self._rank() if shown else NOTHING
        reading, dropped = drop_unknown(step, shown, self._case)
        return Judged(reading, judged_by=self._model.name, usage=self._usage, dropped=dropped)

    def _may_look_up(self, looks: LookupPort | None) -> bool:
        return looks is not None and looks.remaining > 0 and self._token_budget.may_look_up(self._messages)

    async def _look(self, step: CodeStep, looks: LookupPort) -> dict[str, NumberedEvidence]:
        """Answer the lookups of one step, as many as fit the budget, and tell the model what it may do next."""
        request: Message = ("ai", json.dumps({"looks": [look.model_dump() for look in step.looks]}, ensure_ascii=False))
        answers: list[str] = []
        found: dict[str, NumberedEvidence] = {}
        for look in step.looks:
            if (
                looks.remaining <= 0
                or self._token_budget.room_for_lookups([*self._messages, request, ("human", "\n".join(answers))]) < 0
            ):
                break
            result = await looks.look_up(look)
            answers.append(show_lookup_result(LOOKS - looks.remaining, look, result))
            found |= {item.id: item for item in result.found}
        before = self._messages
        self._messages = (*before, request, ("human", "\n\n".join([*answers, build_looks_left(looks.remaining)])))
        if not self._may_look_up(looks):
            self._messages = (*before, request, ("human", "\n\n".join([*answers, build_ranking_request()])))
        return found

    async def _rank(self) -> CodeStep:
        """Request the final ranking."""
        step = await self._ask(self._token_budget.room(self._messages))
        if step.looks and not step.summary.strip():
            raise ModelError(f"{self._model.name} kept requesting lookups after the last one", self._usage)
        return step

    async def _ask(self, room: int) -> CodeStep:
        if room < ASKING:
            raise ModelError(f"the {TOTAL} tokens for reading code are spent", self._usage)
        try:
            answer = await ask_structured(self._model, CodeStep, self._messages, budget=self._budget, room=room)
        except InvalidOutput as invalid:
            message = f"{self._model.name} gave the codebase_search two invalid answers: {invalid}"
            raise ModelError(message[:300], self._usage + invalid.usage) from invalid
        except ModelError as error:
            raise ModelError(str(error), self._usage + error.usage) from error
        self._messages = answer.asked
        self._usage += answer.usage
        self._token_budget.note(self._messages, answer.value.model_dump_json(), answer.usage)
        return answer.value
