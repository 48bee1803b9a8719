"""Judgements by a language model, within a budget. Other modules check what the model returns."""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from pydantic import BaseModel, Field, create_model

from nodes.brains.briefing import build_briefing, build_supervisor_context, evidence_for, select
from nodes.brains.calls.asking import ask_structured
from nodes.brains.calls.budget import ModelBudget
from nodes.brains.calls.models import Models
from nodes.brains.calls.replies import InvalidOutput
from nodes.brains.calls.request import Message
from nodes.brains.conversation import read_code
from nodes.brains.countered import ComparedAudit, build_question, other_place
from nodes.brains.shared import build_rules
from nodes.context import Case, Judged, ModelError
from nodes.evidence import NumberedEvidence
from nodes.guards import may_run_in_parallel, route, worthwhile_nodes
from nodes.judgements import Audit, CodeReading, Draft, Investigation, WebReading
from nodes.state import BugTriageState, NodeName, Specialist, SupervisorDecision
from prompts import (
    SECOND_AUDIT,
    Role,
    build_supervisor_correction,
    build_supervisor_system_prompt,
)


def legal_companions(state: BugTriageState, nodes: tuple[NodeName, ...]) -> tuple[str, ...]:
    """Return the specialists and configured tools that may run in parallel with one of these nodes; often empty."""
    beside = set(nodes) & set(get_args(Specialist))
    names = (*get_args(Specialist), *state.tools)
    return tuple(name for name in names if may_run_in_parallel(state, name) and beside - {name})


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


T = TypeVar("T", bound=BaseModel)
logger = logging.getLogger(__name__)

_FORCED_FALLBACK = SupervisorDecision.to(
    "writer", "Forced to writer due to repeated supervisor output validation failure."
)


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
        return self._settings.compress_from

    @property
    def agreement_file(self) -> Path | None:
        """The file of a table of agreement that a backtest may have fitted to this model; None for the shipped one."""
        return self._settings.agreement

    async def decide(self, case: Case) -> Judged[SupervisorDecision]:
        """Choose the next step; after two invalid answers, the next step is the writer (PRD section 5)."""
        legal = worthwhile_nodes(case.state)
        companions = legal_companions(case.state, legal)
        if len(legal) == 1 and not companions:
            return Judged(
                SupervisorDecision.to(legal[0], "Only this step is allowed now.", case.state.supervisor_confidence)
            )
        model = self._models.get(self._settings.supervisor)
        tools = [(info.name, info.description) for info in case.sources if info.name in companions and info.description]
        system = build_supervisor_system_prompt(case.language, tools)
        try:
            answer: Judged[BaseModel] = await ask_structured(
                model,
                decision_schema(legal, companions),
                _conversation(system, build_supervisor_context(case.state, fenced=True)),
                budget=self._paying(case.state),
                correction=build_supervisor_correction,
                accept=SupervisorDecision,
            )
        except InvalidOutput as invalid:
            logger.warning("supervisor output invalid twice", extra={"action": "supervisor.invalid"})
            forced = _useful(_FORCED_FALLBACK, legal, case.state)
            return Judged(forced, judged_by=model.name, usage=invalid.usage, remarks=model.remarks)
        return answer.of(_useful(_plain(answer.value, case.state), legal, case.state))

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
        relevant = _known(judged.value.relevant, shown)
        return replace(judged, value=judged.value.model_copy(update={"relevant": relevant}))

    async def audit(self, case: Case) -> Judged[Audit]:
        """Try to refute the main hypothesis, and a statement that contradicts it."""
        shown = evidence_for(case)
        other = other_place(case, shown)
        if other is not None and other not in shown:
            shown = (*shown, other)
        first = await self._audited(case, shown, other)
        if self._settings.level != "high" or not first.value.approved:
            return first
        try:
            second = await self._audited(case, shown, other, SECOND_AUDIT)
        except ModelError as failure:
            return replace(first, usage=first.usage + failure.usage)
        return replace(second, usage=first.usage + second.usage)

    async def _audited(
        self, case: Case, shown: Sequence[NumberedEvidence], other: NumberedEvidence | None, after: str = ""
    ) -> Judged[Audit]:
        if other is None:
            return await self._ask(case, "critic", Audit, shown, after)
        asked = "\n\n".join(filter(None, (build_question(other), after)))
        compared = await self._ask(case, "critic", ComparedAudit, shown, asked)
        audit = compared.value.judged({item.id for item in case.evidence})
        return Judged(audit, compared.judged_by, usage=compared.usage, remarks=compared.remarks)

    async def write(self, case: Case) -> Judged[Draft]:
        """Propose the report; suspects without evidence are dropped."""
        shown = evidence_for(case)
        judged = await self._ask(case, "writer", Draft, shown)
        # A model may cite evidence that it did not see; such a suspect cannot be checked.
        known = set(_known([suspect.evidence for suspect in judged.value.suspects], shown))
        suspects = tuple(suspect for suspect in judged.value.suspects if suspect.evidence in known)
        return replace(judged, value=judged.value.model_copy(update={"suspects": suspects}))

    async def _ask(
        self, case: Case, role: Role, schema: type[T], shown: Sequence[NumberedEvidence] = (), after: str = ""
    ) -> Judged[T]:
        model = self._models.get(self._model_name(role, case.state))
        asked = "\n\n".join(filter(None, (build_briefing(case, shown, role), after)))
        messages: tuple[Message, ...] = (build_rules(case), ("human", asked))
        return await ask_structured(model, schema, messages, budget=self._paying(case.state))

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


def _conversation(system: str, human: str) -> tuple[Message, Message]:
    return ("system", system), ("human", human)


def _useful(decision: SupervisorDecision, legal: tuple[NodeName, ...], state: BugTriageState) -> SupervisorDecision:
    """Return the decision, with another next node if neither it nor its route can change the report."""
    routed = route(state.model_copy(update={"next_node": decision.next_node})).node
    if decision.next_node in legal or routed in legal:
        return decision
    others: tuple[NodeName, ...] = ("codebase_search", "web_search", "critic", "writer")
    return decision.model_copy(update={"next_node": next((node for node in others if node in legal), legal[0])})


def _plain(decision: BaseModel, state: BugTriageState) -> SupervisorDecision:
    """Convert the answer to the plain schema, and remove parallel searches that cannot run."""
    plain = SupervisorDecision(**decision.model_dump())
    also = tuple(name for name in dict.fromkeys(plain.also) if may_run_in_parallel(state, name))
    return plain.model_copy(update={"also": also})


def _known(ids: Sequence[str], shown: Sequence[NumberedEvidence]) -> tuple[str, ...]:
    """Return the ids that were shown, each once."""
    known = {item.id for item in shown}
    return tuple(dict.fromkeys(item for item in ids if item in known))
