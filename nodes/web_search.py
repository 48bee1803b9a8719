"""Search outside the repository for known reports of an error or a dependency."""

from __future__ import annotations

from langgraph.runtime import Runtime

from nodes.context import Context
from nodes.outside import ask
from nodes.sources import Inquiry
from nodes.sources.dependency import find_dependency
from nodes.state import BugTriageState, Update

MAX_QUERY = 200


async def web_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Search for the first error, or for the title if there is none.

    The inquiry names the dependency that raised the error, so that its issues are searched too.
    """
    context = runtime.context
    query = (context.facts.errors[0] if context.facts.errors else context.title)[:MAX_QUERY]
    dependency = await find_dependency(context.facts.traces, context.code)
    return await ask("web_search", context.outside.web, Inquiry(query, dependency), state, context)
