"""Read code with a model in one bounded conversation: it calls tools, reads what they show, and submits a conclusion.

A model or a server that cannot hold one reads in two stages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import get_args

from nodes.brains.calls.abilities import Abilities
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Model, ReadingLimits
from nodes.brains.calls.native import Message
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.tokens import estimate
from nodes.brains.calls.turns import ask_turn
from nodes.brains.fence import fence
from nodes.brains.known import Known
from nodes.brains.opening import later_messages
from nodes.brains.shared import build_conversation, build_investigation, join_sections
from nodes.brains.stages import Stages
from nodes.context import Case, Judged, ModelError, Shown, ToolPort
from nodes.evidence import NumberedEvidence
from nodes.judgements import Call, CauseSentence, CodeReading, Submission, Submit, SubmittedPlace, Turn
from nodes.search.types import ToolCall, ToolName
from nodes.state import Usage
from prompts import build_last_turn, build_objection, build_turns_left

NARROW = 16_000
"""Tokens of a context window below which a conversation does not fit."""
OPENED = 8
"""Files of the search that open the conversation."""
_CITATION = re.compile(r"\s?\[(E\d{1,6}(?::[\d \-]{1,20})?)\]")
_LOOKED_UP = 700
"""Maximum tokens of what was looked up for an objection."""
_RESULT, _LEAST = 1_500, 120
"""Maximum tokens of one answer, and the rest of the budget below which no call is answered."""


def converses(known: Abilities) -> bool:
    """Return whether code is read in a conversation; otherwise files are chosen, then their functions."""
    return known.reading != "stages" and (known.window is None or known.window >= NARROW)


class Reader:
    """Reads the code of one run; an objection continues the conversation that it is about."""

    def __init__(self, budget: ModelBudget, limits: ReadingLimits) -> None:
        self._budget = budget
        self._limits = limits
        self._conversation: Conversation | None = None

    async def read(self, model: Model, case: Case) -> Judged[CodeReading]:
        """Find the places that an issue is about.

        Raises:
            ModelError: no usable answer arrived.
        """
        if case.tools is None:
            return Judged(CodeReading(summary="There is no code to read.", details=""), judged_by=model.name)
        if not converses(model.abilities):
            return await Stages(model, self._budget, case, Usage()).read(case.tools)
        # A process that resumes a run has no conversation, so it begins one with the objection.
        earlier = self._conversation if case.looked_up is not None else None
        self._conversation = conversation = earlier or Conversation(model, self._budget, case, self._limits)
        try:
            return await (conversation.read(case.tools) if earlier is None else earlier.resume(case, case.tools))
        except InvalidOutput as invalid:
            if conversation.turns > 1:
                message = f"{model.name} gave two invalid answers in its conversation: {invalid}"
                raise ModelError(message[:300], conversation.usage) from invalid
            # A model that cannot make its first call is not asked for one again for a while.
            model.learn(reading="stages")
            return await Stages(model, self._budget, case, conversation.usage).read(case.tools)


class Conversation:
    """One conversation about the code of a case."""

    def __init__(self, model: Model, budget: ModelBudget, case: Case, limits: ReadingLimits) -> None:
        self._model = model
        self._budget = budget
        self._case = case
        self._steps = limits.steps
        self._tokens = limits.tokens
        # Only appended to, so that its beginning remains in the provider's prompt cache.
        self._messages: tuple[Message, ...] = ()
        self._shown: Mapping[str, Shown] = {}
        self.usage = Usage()
        self.turns = 0
        """Turns of the model so far."""

    async def read(self, tools: ToolPort) -> Judged[CodeReading]:
        """Let the model read until it submits, at the latest when its steps or tokens are used up.

        Raises:
            InvalidOutput: an answer of the model was no turn, twice.
            ModelError: no answer arrived, or the model did not submit.
        """
        self._messages = build_conversation(self._case, "reading", self._opening(tools))
        return await self._converse(tools)

    async def resume(self, case: Case, tools: ToolPort) -> Judged[CodeReading]:
        """Answer an objection to what was submitted: the conversation continues, and ends with another submission.

        Raises:
            InvalidOutput: an answer of the model was no turn, twice.
            ModelError: no answer arrived, or the model did not submit.
        """
        self._case, self.usage = case, Usage()
        tools.shown.update(self._shown)
        sections = (("Objection", later_messages(case)), ("Looked up for it", _looked_up(case, tools)))
        self._messages = (*self._messages, ("human", f"{build_objection()}\n\n{join_sections(sections)}"))
        # One turn is always left, to submit again.
        self._steps = max(self._steps, self.turns + 1)
        return await self._converse(tools)

    async def _converse(self, tools: ToolPort) -> Judged[CodeReading]:
        self._shown = tools.shown
        while self.turns < self._steps:
            last = self.turns + 1 == self._steps or self._tokens < _LEAST
            turn = await self._ask(last=last)
            if turn.submit is not None:
                return await self._concluded(turn.submit, tools)
            if last:
                break
            await self._answer(turn.calls, tools)
        raise ModelError(f"{self._model.name} did not end its conversation about the code", self.usage)

    def _opening(self, tools: ToolPort) -> str:
        files = tools.list_files(self._case.files[:OPENED])
        sections = (
            ("What was read from it", fence("reading", text) if (text := build_investigation(self._case)) else ""),
            ("Said since", later_messages(self._case)),
            ("Looked up for it", _looked_up(self._case, tools)),
            ("The first files of the search", fence("files", files) if files else ""),
        )
        return join_sections(sections)

    async def _ask(self, *, last: bool) -> Turn:
        if last:
            self._messages = (*self._messages, ("human", build_last_turn()))
        self.turns += 1
        try:
            asked = await ask_turn(self._model, self._messages, budget=self._budget)
        except InvalidOutput as invalid:
            self.usage += invalid.usage
            raise
        except ModelError as error:
            raise ModelError(str(error), self.usage + error.usage) from error
        self.usage += asked.usage
        self._messages = asked.messages
        return asked.turn

    async def _answer(self, calls: Sequence[Call], tools: ToolPort) -> None:
        answers: list[str] = []
        for call in calls:
            room = min(_RESULT, self._tokens)
            text = await _used(call, tools, room) if room >= _LEAST else "No tokens are left for this answer."
            self._tokens -= estimate(text)
            answers.append(fence("answer", text))
        answers[-1] += f"\n{build_turns_left(self._steps - self.turns, max(0, self._tokens))}"
        self._messages = (*self._messages, *(("tool", answer) for answer in answers))

    async def _concluded(self, submit: Submit, tools: ToolPort) -> Judged[CodeReading]:
        concluded = _Concluded(tools, f"{self._case.title}\n{self._case.body}")
        reading = await concluded.reading(submit)
        return Judged(
            reading,
            judged_by=self._model.name,
            usage=self.usage,
            dropped=concluded.dropped,
            remarks=self._model.remarks,
        )


def _looked_up(case: Case, tools: ToolPort) -> str:
    text = tools.quote(case.looked_up, _LOOKED_UP) if case.looked_up else ""
    return fence("answer", text) if text else ""


async def _used(call: Call, tools: ToolPort, room: int) -> str:
    names: tuple[ToolName, ...] = get_args(ToolName)
    tool = next((name for name in names if name == call.tool), None)
    if tool is None:
        return f"There is no such tool; the tools are {', '.join(names)} and submit."
    bound = 10**7
    lines = (max(0, min(call.start_line, bound)), max(0, min(call.end_line, bound)))
    return await tools.use(ToolCall(tool, call.what.strip("\n"), call.path.strip(), *lines), room)


class _Concluded:
    """Turns a submission into a reading with confirmed evidence only."""

    def __init__(self, tools: ToolPort, issue: str) -> None:
        self._tools = tools
        # The text has no citations of its own: they are beside it.
        self._known = Known((), tools.paths, issue)
        self._read_first: bool | None = None
        self.dropped = 0
        """References that name nothing that was shown, and sentences that name or cite nothing else."""

    async def reading(self, submit: Submit) -> CodeReading:
        cause = [await self._sentence(one) for one in submit.cause]
        places = [place for one in submit.places if (place := await self._place(one)) is not None]
        rival = await self._place(submit.rival) if submit.rival and submit.rival.evidence else None
        against = (await self._cited(submit.against) if submit.against and rival else None) or ""
        submitted = Submission(
            cause=tuple(filter(None, cause)),
            verdict=verdict if self._known.holds(verdict := _CITATION.sub("", submit.verdict).strip()) else "",
            places=tuple({place.evidence: place for place in places}.values()),
            rival=rival,
            against=against,
            confirm=submit.confirm if self._known.holds(submit.confirm) else "",
        )
        suspects = tuple(place.evidence for place in submitted.places)
        texts = [f"{one.text} {_marks(one.evidence)}".strip() for one in submitted.cause]
        summary = texts[0] if texts else "None of the places that were read explains the issue."
        return CodeReading(
            summary=summary[:300],
            details=" ".join(texts[1:])[:600],
            suspects=suspects,
            confidence=submit.confidence if suspects else 0.0,
            submitted=submitted,
            has_read_first=self._read_first if suspects else None,
        )

    async def _sentence(self, one: CauseSentence) -> CauseSentence | None:
        """Return the sentence with what it may cite; None if it names or cites what was not shown."""
        text = _CITATION.sub("", one.text)
        references = (*one.evidence, *_CITATION.findall(one.text))
        ids = [name for reference in references if (name := await self._cited(reference)) is not None]
        if (references and not ids) or not self._known.holds(text):
            self.dropped += 1
            return None
        return CauseSentence(text=text.strip(), evidence=tuple(dict.fromkeys(ids))[:4])

    async def _place(self, one: SubmittedPlace) -> SubmittedPlace | None:
        found, why = await self._tools.cite(one.evidence), _CITATION.sub("", one.why).strip()
        # A commit or an answer without matches may support a sentence and is no place.
        if found is None or found.evidence.kind != "code":
            self.dropped += 1
            return None
        if self._read_first is None:
            self._read_first = self._tools.was_read(found.evidence)
        return SubmittedPlace(evidence=found.id, why=why if self._known.holds(why) else "")

    async def _cited(self, reference: str) -> str | None:
        found: NumberedEvidence | None = await self._tools.cite(reference)
        self.dropped += found is None
        return None if found is None else found.id


def _marks(ids: Sequence[str]) -> str:
    return " ".join(f"[{name}]" for name in ids)
