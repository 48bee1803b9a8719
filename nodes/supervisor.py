"""Ask the brain for the next step, and apply the guards to its decision."""

import hashlib
import time

from langgraph.runtime import Runtime

from nodes import guards
from nodes.agents.case import load_case, metrics_of
from nodes.brains.fallback import judge
from nodes.context.brain import Judged
from nodes.context.ports import Context
from nodes.judgements import NodeName, SupervisorDecision
from nodes.limits import MAX_REDIRECTS, ROUNDS_PER_REDIRECT
from nodes.messages import messages_of
from nodes.search.tokens import comparable
from nodes.sources.protocol import OUTSIDE, source_of
from nodes.state import BugTriageState, HumanExchange, Marks, TraceEntry, Update
from nodes.trust.prose import ProseCheck, whole_sentences

_QUESTION, _EXPLANATION = 300, 600
"""Maximum number of characters of a question or an option, and of the text next to it."""


async def supervisor_node(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Collect what is new, decide the next step, and count the round."""
    started = time.perf_counter()
    # First, so that the guards and the brain receive the newest input.
    arrived = await _update_progress(state, runtime.context)
    now = state.model_copy(update=dict(arrived))
    judged = await _decide(now, runtime.context)
    decision, guard = _check_question(now, await _checked(now, judged, runtime.context))
    # The guards come last and override the brain's decision.
    route = guards.route(now.model_copy(update={"next_node": decision.next_node}))
    also = guards.companions(now, route.node, decision.also)
    in_parallel = f" In parallel: {', '.join(also)}." if also else ""
    runtime.context.listener("supervisor", f"next: {' and '.join((route.node, *also))}")
    entry = TraceEntry(
        node="supervisor",
        decision=route.node,
        confidence=decision.confidence,
        reason=f"{decision.reasoning[: 300 - len(in_parallel)]}{in_parallel}",
        guard=route.guard or guard,
        counts={"retry_count": state.retry_count},
        judged_by=judged.judged_by,
        error=judged.fallback,
        iteration=state.iterations,
        duration_ms=round((time.perf_counter() - started) * 1000),
    )
    update: Update = {
        **arrived,
        "next_node": route.node,
        "also": also,
        "supervisor_reasoning": decision.reasoning[:600],
        "supervisor_confidence": decision.confidence,
        "iterations": state.iterations + 1,
        "marks": mark_step(now, (route.node, *also)),
        "trace": (entry,),
        "metrics": metrics_of(judged),
        "retry_pending": False,
    }
    if route.node == "human_input":
        update["pending_exchange"] = _exchange(decision)
        update["awaiting_human"] = True
    return update


async def _update_progress(state: BugTriageState, context: Context) -> Update:
    """Number the joined evidence, record the progress after a search, and read new messages from people."""
    evidence = await join_evidence(state, context)
    arrived: Update = {"evidence": evidence}
    if "codebase_search" in (state.next_node, *state.also):
        after = guards.progress(state.model_copy(update={"evidence": evidence}))
        arrived["marks"] = state.marks.model_copy(update={"after_search": after})
    signals = await context.signals(state.last_signal) if context.signals else ()
    if signals:
        # Each redirect adds rounds, so their number is limited.
        room = MAX_REDIRECTS - len(state.redirect_instructions)
        redirects = tuple(signal.text[:600] for signal in signals)[: max(room, 0)]
        arrived["redirect_instructions"] = (*state.redirect_instructions, *redirects)
        arrived["max_iterations"] = state.max_iterations + ROUNDS_PER_REDIRECT * len(redirects)
        arrived["last_signal"] = signals[-1].number
    return arrived


async def join_evidence(state: BugTriageState, context: Context) -> tuple[str, ...]:
    """Return all evidence keys in the order of their numbers, without duplicates from outside.

    New evidence of the code search comes first, because its finding already cites it by the next free numbers.
    """
    findings = sorted(state.findings, key=lambda finding: finding.agent_name != "codebase_search")
    ordered = (key for finding in findings for key in finding.evidence)
    keys = tuple(dict.fromkeys((*state.evidence, *ordered)))
    # Only outside evidence is compared, so runs without outside sources skip the lookup.
    asked_outside = state.web_configured or state.tools
    return await _without_duplicates(state.evidence, keys, context) if asked_outside else keys


async def _without_duplicates(known: tuple[str, ...], keys: tuple[str, ...], context: Context) -> tuple[str, ...]:
    """Drop new outside evidence with the same source or the same quote as earlier evidence."""
    gathered = await context.evidence.get(keys)
    seen: set[str] = set()
    distinct = []
    for key in keys:
        item = gathered.get(key)
        marks = set() if item is None or item.kind not in OUTSIDE else {source_of(item), item.quote}
        if key in known or not marks & seen:
            distinct.append(key)
        seen |= marks
    return tuple(distinct)


async def _decide(state: BugTriageState, context: Context) -> Judged[SupervisorDecision]:
    forced = guards.forced_route(state)
    # The program decides these steps itself, because a model might spend further rounds on them.
    if forced is not None:
        return Judged(SupervisorDecision.to(forced.node, "Only one step is possible."))
    steps: tuple[tuple[bool, NodeName, str], ...] = (
        (state.retry_pending, "codebase_search", "The draft did not pass the quality gate: the search is broadened."),
        (guards.all_failed(state), "codebase_search", "No specialist gave an answer: the general search runs."),
        (guards.is_simple(state), "writer", "Nothing in this issue requires a code search."),
    )
    for holds, node, why in steps:
        if holds:
            return Judged(SupervisorDecision.to(node, why))
    case = await load_case(state, context)
    return await judge(context, case, lambda brain: brain.decide(case))


def _check_question(state: BugTriageState, decision: SupervisorDecision) -> tuple[SupervisorDecision, str | None]:
    """Replace a question that is empty or was already asked with a code search."""
    if decision.next_node != "human_input":
        return decision, None
    question = comparable(whole_sentences(decision.question or "", _QUESTION))
    asked = {comparable(exchange.question) for exchange in state.human_exchanges}
    if question and question not in asked:
        return decision, None
    return decision.model_copy(update={"next_node": "codebase_search"}), "empty_or_repeated_question"


async def _checked(state: BugTriageState, judged: Judged[SupervisorDecision], context: Context) -> SupervisorDecision:
    """Drop a model's statements about code that does not exist from a question, because questions are posted."""
    decision = judged.value
    if decision.next_node != "human_input" or judged.judged_by == "rules":
        return decision
    answers = [exchange.answer or "" for exchange in state.human_exchanges]
    prose = ProseCheck(context.code, (state.issue_title, state.issue_body, *answers, *state.redirect_instructions))
    posted = ("question", "question_context", "reasoning")  # the last is posted as the question's reason
    update = {name: await prose.text(getattr(decision, name) or "", is_posted=True) for name in posted}
    options = [await prose.text(option, is_posted=True) for option in decision.question_options]
    return decision.model_copy(update={**update, "question_options": tuple(filter(None, options))})


def _exchange(decision: SupervisorDecision) -> HumanExchange:
    question = whole_sentences(decision.question or "", _QUESTION)
    options = tuple(option for option in decision.question_options if len(option) <= _QUESTION)
    return HumanExchange(
        question=question,
        context=whole_sentences(decision.question_context or "", _EXPLANATION),
        question_id=hashlib.sha256(comparable(question).encode()).hexdigest()[:12],
        reason=whole_sentences(decision.reasoning, _QUESTION),
        options=options,
        messages=messages_of(question, *options),
    )


def mark_step(state: BugTriageState, nodes: tuple[str, ...]) -> Marks:
    """Record the input of the next nodes; the guards compare it with the input when the step is repeated."""
    searches = state.marks.searches + ("codebase_search" in nodes and not guards.is_exempt(state))
    called = [node for node in ("critic", "investigator") if node in nodes]
    update = {"searches": searches} | {f"at_{node}": guards.progress(state) for node in called}
    return state.marks.model_copy(update=update)
