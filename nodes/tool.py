"""Query one of the tools that the operator configured; the state of the branch names the tool."""

from __future__ import annotations

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.outside import ask
from nodes.sources import Inquiry
from nodes.state import BugTriageState, Update

MAX_QUERY = 400


async def tool(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Send the issue's title and its first error to the tool."""
    context = runtime.context
    message = dict.fromkeys((context.title, *context.facts.errors[:1]))
    inquiry = Inquiry(": ".join(filter(None, message))[:MAX_QUERY])
    return await ask(state.branch, context.outside.tools.get(state.branch), inquiry, state, context)
