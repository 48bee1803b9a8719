"""The cheapest level: a model finds search terms and chooses among many paths, in two calls; rules do the rest."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Models
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.structured import ask_structured
from nodes.brains.calls.tokens import estimate
from nodes.brains.fence import fence
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.brains.shared import build_conversation, build_investigation, join_sections
from nodes.context import Case, Judged, ModelError, ToolPort
from nodes.evidence import NumberedEvidence
from nodes.judgements import FILES, Audit, CodeReading, Draft, FileStep, WebReading
from nodes.state import SupervisorDecision
from nodes.trust.secrets import mask

PATHS, TOKENS = 80, 1_200
"""Paths of the search that a model chooses from, and their maximum tokens."""


def brain_of(models: Models, budget: ModelBudget | None = None) -> LLMBrain:
    """Return the brain of the level that the models' settings name."""
    return (ScreeningBrain if models.settings.level == "low" else LLMBrain)(models, budget)


class ScreeningBrain(LLMBrain):
    """Asks a model for search terms and for files; rules decide, refute and write."""

    _rules = RulesBrain()

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step by rules."""
        return await self._rules.decide(case)

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:
        """Judge outside results by rules."""
        return await self._rules.read_web(case, results)

    async def audit(self, case: Case) -> Judged[Audit]:
        """Check the findings by rules."""
        return await self._rules.audit(case)

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report by rules, in the order of the model's files."""
        return await self._rules.write(case)

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:
        """Choose five files by their paths; the best place of each is the search's."""
        if case.tools is None:
            return await self._rules.read_code(case, candidates)
        model = self._models.get(self._model_name("codebase_search", case.state))
        paths = _that_fit(await case.tools.ranked(PATHS))
        listed = "\n".join(f"F{number} {path}" for number, path in enumerate(paths, 1))
        sections = (
            ("What was read from it", fence("reading", text) if (text := build_investigation(case)) else ""),
            ("Paths", fence("paths", mask(listed))),
        )
        messages = build_conversation(case, "paths", join_sections(sections))
        try:
            answer = await ask_structured(model, FileStep, messages, budget=self._paying(case.state))
        except InvalidOutput as invalid:
            raise ModelError(f"{model.name} chose no files: {invalid}"[:300], invalid.usage) from invalid
        chosen = await _best_places(answer.value, paths, case.tools)
        return Judged(
            CodeReading(
                summary=f"Chosen by paths: {', '.join(str(item.evidence.locator.path) for item in chosen)}."[:300],
                details="",
                suspects=tuple(item.id for item in chosen),
                confidence=answer.value.confidence,
            ),
            judged_by=model.name,
            usage=answer.usage,
            remarks=model.remarks,
        )


def _that_fit(paths: Sequence[str]) -> tuple[str, ...]:
    kept, room = list[str](), TOKENS
    for path in paths:
        room -= estimate(path) + 3
        if room < 0:
            break
        kept.append(path)
    return tuple(kept)


async def _best_places(step: FileStep, paths: Sequence[str], tools: ToolPort) -> list[NumberedEvidence]:
    """Return the best place of each chosen file, then of the search's first files, five in all."""
    known = {f"F{number}": path for number, path in enumerate(paths, 1)}
    named = [known[name] for one in step.files if (name := one.strip(" []()`").upper()) in known]
    missing = [sketch.path for sketch in await tools.sketched(step.not_listed)]
    found = list[NumberedEvidence]()
    for path in tuple(dict.fromkeys((*named, *missing[:1], *paths)))[: 2 * FILES]:
        sketches = await tools.sketched((path,))
        shown = [tools.show(place) for sketch in sketches for place in sketch.places[:1]]
        found += [item for item in shown if item is not None]
        if len(found) == FILES:
            break
    return found
