"""Judgements by a language model, within a budget. Other modules check what the model returns."""

import functools
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, create_model

from nodes.brains.briefing import build_briefing, build_supervisor_context, evidence_for, select
from nodes.brains.calls.asking import ask_structured
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Models
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.conversation import read_code
from nodes.brains.shared import build_rules
from nodes.context.brain import COMPRESS_FROM, Case, Judged
from nodes.evidence import NumberedEvidence
from nodes.guards import may_run_in_parallel, route, worthwhile_nodes
from nodes.judgements import (
    Audit,
    CodeReading,
    Draft,
    Investigation,
    NodeName,
    Objections,
    Sentence,
    Specialist,
    SupervisorDecision,
    WebReading,
)
from nodes.state import BugTriageState
from prompts.texts import Role, build_supervisor_correction, build_supervisor_system_prompt

T = TypeVar("T", bound=BaseModel)
logger = logging.getLogger(__name__)
_FORCED_FALLBACK = SupervisorDecision.to(
    "writer", "Forced to writer due to repeated supervisor output validation failure."
)
UNCRITICAL = "The critic did not refute an explanation that contradicts this one, so its approval does not count."
_ASKED = (
    "## Another explanation\n"
    "What the first place does is correct, so the change does not belong there but in {place}, as {id} shows.\n\n"
    "Say in against_other what speaks against this explanation, with the id of the code that shows it; then set "
    "other_holds to true if it is the right one all the same. Judge it as strictly as the hypothesis."
)
_ID = re.compile(r"\bE\d{1,4}\b")


class ComparedAudit(Objections):
    """A second reading of two explanations; at most one of them is right."""

    against_other: Sentence = Field(default="", description="What speaks against the other explanation, as [E1].")
    other_holds: bool = Field(default=True, description="Whether the other explanation is the right one.")
    approved: bool
    confidence: float = Field(default=0.0, ge=0, le=1)

    def judged(self, gathered: Collection[str]) -> Audit:
        """Return the audit; an approval has to refute the other explanation by evidence, and not to approve both."""
        audit = Audit.model_validate(self.model_dump(exclude={"against_other", "other_holds"}))
        refuted = not self.other_holds and not set(_ID.findall(self.against_other)).isdisjoint(gathered)
        if not self.approved or refuted:
            return audit
        return audit.model_copy(update={"approved": False, "gaps": (UNCRITICAL,)})


@functools.lru_cache(maxsize=32)
def decision_schema(nodes: tuple[NodeName, ...], companions: tuple[str, ...] = ()) -> type[BaseModel]:
    """Build a decision schema that contains only these nodes and companions, so a model cannot choose another."""
    fields_of_decision = {name: (field.annotation, field) for name, field in SupervisorDecision.model_fields.items()}
    # Reasons precede the decision, because a model writes the fields in this order.
    first = {"reasoning": fields_of_decision["reasoning"], "next_node": (Literal[nodes], ...)}
    fields: dict[str, Any] = {**first, **{name: one for name, one in fields_of_decision.items() if name not in first}}
    # Without companions, the field would invite names that are not allowed.
    del fields["also"]
    if companions:
        allowed: Any = Literal[companions]
        fields["also"] = (tuple[allowed, ...], Field(default=(), max_length=8))
    return create_model("SupervisorDecision", __doc__=SupervisorDecision.__doc__, **fields)


class LLMBrain:
    """Judges one run with the models of this process."""

    def __init__(self, models: Models, budget: ModelBudget | None = None) -> None:
        """Use these models; without a budget, the limits in the models' settings apply to the run."""
        self._models = models
        self._settings = models.settings
        self._budget = budget or models.budget()

    @property
    def name(self) -> str:
        """The name of the model that most roles use."""
        return self._settings.default

    @property
    def compress_from(self) -> int:
        """Characters of an issue's text above which the models get it without its middle."""
        return COMPRESS_FROM

    @property
    def agreement_file(self) -> Path | None:
        """The file of a table of agreement that a backtest may have fitted to this model; None for the shipped one."""
        return self._settings.agreement

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step; after two invalid answers, the next step is the writer (PRD section 5)."""
        legal, specialists = worthwhile_nodes(case.state), get_args(Specialist)
        # What may run in parallel with one of these nodes, often nothing.
        parallel = [name for name in (*specialists, *case.state.tools) if may_run_in_parallel(case.state, name)]
        companions = tuple(name for name in parallel if set(legal) & set(specialists) - {name})
        if len(legal) == 1 and not companions:
            only = SupervisorDecision.to(legal[0], "Only this step is allowed now.", case.state.supervisor_confidence)
            return Judged(only)
        model = self._models.get(self._settings.supervisor)
        tools = [(info.name, info.description) for info in case.sources if info.name in companions and info.description]
        system = build_supervisor_system_prompt(case.language, tools)
        human = build_supervisor_context(case.state, fenced=True)
        try:
            answer: Judged[BaseModel] = await ask_structured(
                model,
                decision_schema(legal, companions),
                (("system", system), ("human", human)),
                budget=self._paying(case.state),
                correction=build_supervisor_correction,
                accept=SupervisorDecision,
            )
        except InvalidOutput as invalid:
            logger.warning("supervisor output invalid twice", extra={"action": "supervisor.invalid"})
            forced = _useful(_FORCED_FALLBACK, legal, case.state)
            return Judged(forced, judged_by=model.name, usage=invalid.usage, remarks=model.remarks)
        decision = SupervisorDecision(**answer.value.model_dump())
        # Parallel searches that cannot run are removed.
        also = tuple(name for name in dict.fromkeys(decision.also) if may_run_in_parallel(case.state, name))
        return answer.of(_useful(decision.model_copy(update={"also": also}), legal, case.state))

    async def investigate(self, case: Case) -> Judged[Investigation]:
        """Judge the issue itself."""
        return await self._ask(case, "investigator", Investigation)

    async def read_code(self, case: Case, candidates: Sequence[NumberedEvidence]) -> Judged[CodeReading]:  # noqa: ARG002
        """Read the code in a conversation, which starts with the first files of the search."""
        model = self._models.get(self._model_name("reading", case.state))
        return await read_code(model, self._paying(case.state), case, self._settings.reading)

    async def read_web(self, case: Case, results: Sequence[NumberedEvidence]) -> Judged[WebReading]:
        """Judge the results from outside the repository; results that were not found are dropped."""
        shown = select(results)
        judged = await self._ask(case, "web_search", WebReading, shown)
        known = {item.id for item in shown}
        relevant = tuple(name for name in dict.fromkeys(judged.value.relevant) if name in known)
        return replace(judged, value=judged.value.model_copy(update={"relevant": relevant}))

    async def audit(self, case: Case) -> Judged[Audit]:
        """Try to refute the main hypothesis, and a statement that contradicts it."""
        shown = evidence_for(case)
        other = other_place(case, shown)
        if other is not None and other not in shown:
            shown = (*shown, other)
        if other is None:
            return await self._ask(case, "critic", Audit, shown)
        place = f"`{other.evidence.symbol or other.evidence.locator.path}`"
        compared = await self._ask(case, "critic", ComparedAudit, shown, _ASKED.format(place=place, id=other.id))
        audit = compared.value.judged({item.id for item in case.evidence})
        return Judged(audit, compared.judged_by, usage=compared.usage, remarks=compared.remarks)

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report; suspects without evidence are dropped."""
        shown = evidence_for(case)
        judged = await self._ask(case, "writer", Draft, shown)
        # A model may cite evidence that it did not see; such a suspect cannot be checked.
        known = {item.id for item in shown}
        suspects = tuple(suspect for suspect in judged.value.suspects if suspect.evidence in known)
        return replace(judged, value=judged.value.model_copy(update={"suspects": suspects}))

    async def _ask(
        self, case: Case, role: Role, schema: type[T], shown: Sequence[NumberedEvidence] = (), after: str = ""
    ) -> Judged[T]:
        model = self._models.get(self._model_name(role, case.state))
        asked = "\n\n".join(filter(None, (build_briefing(case, shown, role), after)))
        return await ask_structured(
            model, schema, (build_rules(case), ("human", asked)), budget=self._paying(case.state)
        )

    def _model_name(self, role: Role, state: BugTriageState) -> str:
        settings = self._settings
        if role == "critic":
            return settings.critic or settings.default
        tiers = {"simple": settings.simple, "medium": settings.medium, "complex": settings.complex}
        return tiers[state.tier] or settings.default

    def _paying(self, state: BugTriageState) -> ModelBudget:
        """Return the budget with the past usage from the state; the new brain of a resumed run has not counted it."""
        self._budget.begin(state.metrics.usage)
        return self._budget


def _useful(decision: SupervisorDecision, legal: tuple[NodeName, ...], state: BugTriageState) -> SupervisorDecision:
    """Return the decision, with another next node if neither it nor its route can change the report."""
    routed = route(state.model_copy(update={"next_node": decision.next_node})).node
    if decision.next_node in legal or routed in legal:
        return decision
    others: tuple[NodeName, ...] = ("codebase_search", "web_search", "critic", "writer")
    return decision.model_copy(update={"next_node": next((node for node in others if node in legal), legal[0])})


def other_place(case: Case, shown: Sequence[NumberedEvidence]) -> NumberedEvidence | None:
    """Return the rival that the submission names, else the best place of the search in a file that it does not cite.

    If it cites every file, a file that it does not want to change is enough. What the critic sees anyway is preferred,
    because it costs no tokens. None if there is no such place.
    """
    given = case.state.submitted
    if given is None or not given.places:
        return None
    places = {place.evidence for place in given.places}
    if given.rival is not None and given.rival.evidence not in places:
        rivals = [item for item in case.evidence if item.evidence.key == given.rival.evidence]
        if rivals and rivals[0].evidence.kind == "code":
            return rivals[0]
    for named in ({*given.cited, *places}, places):
        files = {item.evidence.locator.path for item in case.evidence if item.evidence.key in named}
        for items in (shown, case.evidence):
            code = (item for item in items if item.evidence.kind == "code")
            if others := [item for item in code if item.evidence.locator.path not in files]:
                return max(others, key=lambda item: item.evidence.score)
    return None
