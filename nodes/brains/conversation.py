"""Read code with a model in one bounded conversation of tool calls, or in two stages if it cannot hold one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import get_args

from nodes.brains.briefing import later_messages
from nodes.brains.calls.abilities import Abilities
from nodes.brains.calls.asking import ask_structured, ask_turn, build_turn_sender
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import ChatModel, ReadingLimits
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.request import Message
from nodes.brains.fence import estimate, fence
from nodes.brains.shared import LOOKS, build_conversation, join_sections, read_before
from nodes.context.brain import Case, FileCard, Judged, ModelError, ToolPort
from nodes.evidence import Locator
from nodes.judgements import CALLS, FILES, Call, CodeReading, FileStep, Submit
from nodes.search.types import FileSketch, Location, ToolCall, ToolName
from nodes.state import Usage
from nodes.trust.statements import Concluded
from prompts.texts import DECIDED, LAST_TURN, OBJECTION, build_turns_left

NARROW = 16_000
"""Tokens of a context window below which a conversation does not fit."""
OPENED, LISTED = 8, 16
"""Files of the search that open the conversation, and those of which the first of two stages chooses."""
BODIES = (360, 240, 220, 180, 120)
"""Maximum tokens of the functions that the second of two stages shows, best first."""
_BEFORE, _AFTER = 15, 25
"""Lines around those that match the issue, or that a submission names."""
_READ, _LISTING = 20_000, 240
"""Maximum characters of a function that are read for these lines; maximum tokens of the list of build files."""
BUILD_FILES = ToolCall(
    "tree",
    path="{Cargo.toml,CMakeLists.txt,*.cmake,Makefile*,meson.build,setup.py,setup.cfg,pyproject.toml,package.json,go.mod"
    ",pom.xml,*.gradle,*.gradle.kts,*.gemspec,*.csproj,BUILD.bazel,Dockerfile,tox.ini,.cargo/*,.github/workflows/*"
    ",.travis.yml,.gitlab-ci.yml,configure.ac,composer.json}",
)
_LOOKED_UP, _PLACES, _SHOWN_AGAIN, _CITED = 500, 2, 300, 700
"""Maximum tokens of what was looked up for an objection; the number of places that are shown again, and maximum tokens
of each; maximum tokens of the lines that were cited."""
_ABOVE = 4
"""Lines above a place that is shown again, so that the place itself fits."""
_ANSWERED_IN, _ANSWERED_BY = 2, 3_000
"""Turns and tokens of results in which an objection is answered: what it asks for was looked up before."""
_SHORTENED = 2
"""Maximum remarks about citations that were too long."""
_RESULT, _LEAST = 2_000, 120
"""Maximum tokens of one answer, in which what ``read`` shows fits because a cut costs another turn; the rest of the
budget below which no call is answered."""


def converses(known: Abilities) -> bool:
    """Return whether code is read in a conversation; otherwise files are chosen, then their functions are shown."""
    return known.reading != "stages" and (known.window is None or known.window >= NARROW)


async def read_code(model: ChatModel, budget: ModelBudget, case: Case, limits: ReadingLimits) -> Judged[CodeReading]:
    """Find the places that an issue is about; ModelError if no usable answer arrived."""
    if case.tools is None:
        return Judged(CodeReading(summary="There is no code to read.", details=""), judged_by=model.name)
    conversation = Conversation(model, budget, case, limits)
    if converses(model.abilities):
        try:
            return await conversation.read(case.tools)
        except InvalidOutput as invalid:
            if conversation.turns > 1:
                raise ModelError(str(invalid), conversation.usage) from invalid
            # A model that cannot make its first call is not asked for one again for a while.
            model.learn(reading="stages")
    return await conversation.read_in_stages(case.tools)


class Conversation:
    """One conversation about the code of a case."""

    def __init__(self, model: ChatModel, budget: ModelBudget, case: Case, limits: ReadingLimits) -> None:
        self._model, self._budget, self._case = model, budget, case
        self._turns = build_turn_sender(model, budget)
        self._steps, self._tokens = limits.steps, limits.tokens
        # Only appended to, so that its beginning remains in the provider's prompt cache.
        self._messages: tuple[Message, ...] = ()
        self.usage, self.turns = Usage(), 0

    async def read(self, tools: ToolPort) -> Judged[CodeReading]:
        """Let the model read until it submits, at the latest when its steps or tokens are used up.

        Raises:
            InvalidOutput: an answer of the model was twice not a valid turn.
            ModelError: no answer arrived, or the model did not submit.
        """
        objected = self._case.looked_up is not None
        opening = await (self._objection(tools) if objected else self._opening(tools))
        if objected:
            self._steps, self._tokens = min(self._steps, _ANSWERED_IN), min(self._tokens, _ANSWERED_BY)
        opening += f"\n\n{build_turns_left(self._steps, self._tokens)}"
        self._messages = build_conversation(self._case, "reading", opening)
        while self.turns < self._steps:
            self.turns += 1
            last = self.turns == self._steps or self._tokens < _LEAST
            if last:
                self._messages = (*self._messages, ("human", LAST_TURN))
            try:
                turn, self._messages = await ask_turn(self._turns, self._messages)
            finally:
                self.usage = self._turns.usage
            if turn.submit is not None:
                return await self._concluded(turn.submit, tools)
            if last:
                break
            await self._answer(turn.calls, tools)
        raise ModelError(f"{self._model.name} did not end its conversation about the code", self.usage)

    async def read_in_stages(self, tools: ToolPort) -> Judged[CodeReading]:
        """Let the model choose files, show it their best places, ask for its submission; ModelError without one."""
        try:
            submit = await self._in_stages(tools) if self._case.files else Submit()
        except ModelError as error:
            error.usage += self.usage
            raise
        judged = await self._concluded(submit, tools)
        # The program chose the lines, so that they were shown says nothing about the model.
        return replace(judged, value=judged.value.model_copy(update={"has_read_first": None}))

    async def _in_stages(self, tools: ToolPort) -> Submit:
        listed = tools.list_files(self._case.files[:LISTED])
        known = {name: shown.path for name, shown in tools.shown.items() if shown.path}
        step, paths = await choose_files(self._model, self._budget, self._case, tools, listed=listed, known=known)
        self.usage += step.usage
        places: list[str] = []
        for path, room in zip(paths, BODIES, strict=False):
            sketch = next(iter(await tools.sketched((path,))), FileSketch(path))
            if not sketch.places:
                places.append(tools.list_files((FileCard(sketch),)))
                continue
            where = sketch.places[0].location
            quoted = Locator(path=path, start_line=where.quote_start, end_line=where.quote_end)
            places.append(await tools.use(_around(quoted, where), room))
        sections = (
            ("Analysis of the file reader", fence("analysis", step.value.analysis)),
            ("Said since", later_messages(self._case)),
            ("Places", fence("places", "\n\n".join(places))),
        )
        messages = build_conversation(self._case, "reading", f"{join_sections(sections)}\n\n{LAST_TURN}")
        answer = await ask_structured(self._model, Submit, messages, budget=self._budget)
        self.usage += answer.usage
        return answer.value

    async def _opening(self, tools: ToolPort) -> str:
        files = tools.list_files(self._case.files[:OPENED])
        # The search ranks source, so for an issue about building or packaging what builds it is listed by name.
        title, body = self._case.title, self._case.body[:_READ]
        is_about_building = LOOKS["building"].search(title) or LOOKS["build_fails"].search(body)
        builds = await tools.use(BUILD_FILES, _LISTING) if is_about_building else ""
        sections = (
            ("What was read from it", read_before(self._case)),
            ("Said since", later_messages(self._case)),
            ("The first files of the search", fence("files", files) if files else ""),
            ("Files that build the project", fence("answer", builds) if builds else ""),
        )
        return join_sections(sections)

    async def _objection(self, tools: ToolPort) -> str:
        """Return what was submitted, its lines, and the objection; the rest of what was read is not sent again."""
        given, case = self._case.state.submitted, self._case
        gathered = {item.evidence.key: item for item in case.evidence}
        places, cited = ([place.evidence for place in given.places], given.cited) if given is not None else ([], ())
        # The cited lines come first, because they contain most of the places.
        quoted = tools.quote([gathered[key] for key in cited if key in gathered], _CITED)
        shown = [gathered[key] for key in places if key in gathered][:_PLACES]
        around = (_around(item.evidence.locator, above=_ABOVE) for item in shown)
        lines = "\n".join((quoted, *[await tools.use(call, _SHOWN_AGAIN) for call in around]))
        looked_up = tools.quote(case.looked_up or (), _LOOKED_UP)
        earlier = "\n".join(entry.text for entry in given.cause) if given is not None else ""
        sections = (
            ("Submitted before", fence("submission", earlier) if earlier else ""),
            ("The lines that it cites", fence("answer", lines) if lines else ""),
            ("Objection", later_messages(case)),
            ("Looked up for it", fence("answer", looked_up) if looked_up else ""),
        )
        return f"{join_sections(sections)}\n\n{OBJECTION}"

    async def _answer(self, calls: Sequence[Call], tools: ToolPort) -> None:
        answers: list[str] = []
        for number, call in enumerate(calls):
            room = min(_RESULT, self._tokens)
            if number >= CALLS:
                text = f"Not answered: only the first {CALLS} calls of a turn are."
            else:
                text = await _used(call, tools, room) if room >= _LEAST else "No tokens are left for this answer."
            self._tokens -= estimate(text)
            answers.append(fence("answer", text))
        answers[-1] += f"\n{build_turns_left(self._steps - self.turns, max(0, self._tokens))} {DECIDED}"
        self._messages = (*self._messages, *(("tool", answer) for answer in answers))

    async def _concluded(self, submit: Submit, tools: ToolPort) -> Judged[CodeReading]:
        concluded = Concluded(tools, f"{self._case.title}\n{self._case.body}")
        reading = await concluded.reading(submit)
        remarks = (*self._model.remarks, *tools.shortened[:_SHORTENED])
        return Judged(reading, self._model.name, self.usage, dropped=concluded.dropped, remarks=remarks)


async def choose_files(
    model: ChatModel, budget: ModelBudget, case: Case, tools: ToolPort, *, listed: str, known: Mapping[str, str]
) -> tuple[Judged[FileStep], tuple[str, ...]]:
    """Return the answer, and paths: the chosen ones, a file that the list lacks, then the list.

    The files are listed as the model sees them, the search's best first; their paths are known by the ids in the list.

    Raises:
        ModelError: no usable answer arrived.
    """
    before, since = read_before(case), later_messages(case)
    sections = (("What was read from it", before), ("Said since", since), ("Files", fence("files", listed)))
    messages = build_conversation(case, "files", join_sections(sections))
    answer = await ask_structured(model, FileStep, messages, budget=budget)
    step = answer.value
    named = [known[name] for file in step.files if (name := file.strip(" []()`").upper()) in known]
    missing = [sketch.path for sketch in await tools.sketched(step.not_listed)]
    # Five files are read further, and what a model names from its own knowledge is one of them.
    return answer, tuple(dict.fromkeys((*named[: FILES - 1], *missing[:1], *named[FILES - 1 :], *known.values())))


def _around(quoted: Locator, function: Location | None = None, above: int = _BEFORE) -> ToolCall:
    """Return the call that reads quoted lines with those around them, at most to the ends of their function."""
    first, last = (quoted.start_line or 1) - above, (quoted.end_line or 1) + _AFTER
    if function is not None:
        first, last = max(first, function.start_line), min(last, function.end_line)
    return ToolCall("read", "", quoted.path or "", max(first, 1), last)


async def _used(call: Call, tools: ToolPort, room: int) -> str:
    names: tuple[ToolName, ...] = get_args(ToolName)
    tool = next((name for name in names if name == call.tool), None)
    if tool is None:
        return f"There is no such tool; the tools are {', '.join(names)} and submit."
    bound = 10**7
    # In JSON the mark of a word's boundary is a backspace.
    lines = (max(0, min(call.start_line, bound)), max(0, min(call.end_line, bound)))
    return await tools.use(ToolCall(tool, call.what.strip("\n").replace("\b", r"\b"), call.path.strip(), *lines), room)
