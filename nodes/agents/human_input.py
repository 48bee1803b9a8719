"""Wait for a person's answer, without a time limit."""

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from nodes.context.ports import Context
from nodes.evidence import MAX_QUOTE, Evidence
from nodes.limits import ROUNDS_PER_ANSWER
from nodes.state import AgentFinding, Answer, BugTriageState, TraceEntry, Update


async def human_input_node(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Interrupt with the pending question, and append the exchange once it is answered or withdrawn."""
    # LangGraph runs the node again from its start when the run resumes; only then does `interrupt` return.
    answer = Answer.model_validate(interrupt(state.pending_exchange))
    exchange = state.pending_exchange
    if exchange is None:
        return {"awaiting_human": False}
    given = {"answer": answer.text, "answered_by": answer.answered_by, "answer_url": answer.url}
    settled = exchange.model_copy(update={**given, "withdrawn": answer.text is None})
    decision = "withdrawn" if answer.text is None else "answered"
    entry = TraceEntry(node="human_input", decision=decision, reason=exchange.question, iteration=state.iterations)
    update: Update = {
        "human_exchanges": (settled,),
        "pending_exchange": None,
        "awaiting_human": False,
        "trace": (entry,),
    }
    if answer.text is not None:
        answer_evidence = Evidence(kind="human", quote=answer.text[:MAX_QUOTE], score=1.0)
        await runtime.context.evidence.put([answer_evidence])
        finding = AgentFinding(
            agent_name="human_input",
            summary=exchange.question,
            details=answer.text[:600],
            confidence=1.0,
            evidence=(answer_evidence.key,),
            judged_by="human",
        )
        update |= {"findings": (finding,), "max_iterations": state.max_iterations + ROUNDS_PER_ANSWER}
    return update
