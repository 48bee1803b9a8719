"""Query sources outside the repository, which may run in parallel, and join the findings of specialists that did."""

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from fractions import Fraction

from langgraph.runtime import Runtime

from nodes.agents.case import load_case, metrics_of, trace_entry
from nodes.brains.fallback import judge
from nodes.context.ports import Context
from nodes.evidence import Evidence, NumberedEvidence, numbers_of
from nodes.guards import NOTHING_JOINED
from nodes.issue.facts import raising_package
from nodes.search.paths.project import simplified
from nodes.search.types import StackTrace
from nodes.sources.protocol import Dependency, Inquiry, SourceAnswer, SourceError, SourcePort
from nodes.state import AgentFinding, BugTriageState, Update
from nodes.state.reducers import JOIN
from nodes.trust.secrets import mask

MAX_WEB_QUERY = 200
MAX_TOOL_QUERY = 400
"""Limits of a query, in characters."""
RESULTS = 5
KEPT = 3
"""Pieces of evidence per finding: as many as a reader compares and as the state stores without shortening."""
_SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
TextOf = Callable[[str], Awaitable[str | None]]
"""Returns the text of a whole file, or None if it does not exist or is too large to read."""
_MAX_REASON = 160
"""Characters of a joined summary; a long run has about twenty of them."""
_CITED = re.compile(r"\s?\[(E\d{1,6}(?:, ?E\d{1,6}){0,9})\]")


async def web_search(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Search for the first error, with the dependency that raised it, or for the title if there is none."""
    context = runtime.context
    query = (context.facts.errors[0] if context.facts.errors else context.title)[:MAX_WEB_QUERY]
    dependency = await find_dependency(context.facts.traces, state.repository, context.code.text)
    return await ask("web_search", context.outside.web, Inquiry(query, dependency), state, context)


async def tool(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Send the issue's title and its first error to the tool."""
    context = runtime.context
    message = dict.fromkeys((context.title, *context.facts.errors[:1]))
    inquiry = Inquiry(": ".join(filter(None, message))[:MAX_TOOL_QUERY])
    return await ask(state.branch, context.outside.tools.get(state.branch), inquiry, state, context)


async def ask(
    name: str, source: SourcePort | None, inquiry: Inquiry, state: BugTriageState, context: Context
) -> Update:
    """Query a source and judge the results; if the source fails, only its finding is missing."""
    started = time.perf_counter()
    if source is None:
        return no_answer(name, "it is no longer configured", state, started)
    context.listener(name, "asking outside the repository")
    try:
        # Secrets that someone pasted into the issue are not sent to an outside source.
        found = await source.ask(Inquiry(mask(inquiry.text), inquiry.dependency), RESULTS)
    except SourceError as error:
        return no_answer(name, str(error), state, started)
    return await _read(name, found, state, context, started)


async def _read(name: str, found: SourceAnswer, state: BugTriageState, context: Context, started: float) -> Update:
    await context.evidence.put(found.evidence)
    # The brain needs numbers now. The supervisor assigns the final ones after the branches have joined.
    known = tuple(dict.fromkeys((*state.evidence, *(item.key for item in found.evidence))))
    case = await load_case(state.model_copy(update={"evidence": known}), context)
    numbers = numbers_of(known)
    numbered = tuple(NumberedEvidence(id=numbers[item.key], evidence=item) for item in found.evidence)
    judged = await judge(context, case, lambda brain: brain.read_web(case, numbered))
    reading = judged.value
    by_id = {item.id: item.evidence for item in numbered}
    # The text cites addresses, because the supervisor numbers evidence after the branches join.
    finding = AgentFinding(
        agent_name=name,
        summary=_addressed(reading.summary, by_id)[:300],
        details=_addressed(reading.details, by_id)[:600],
        confidence=reading.confidence if reading.relevant else 0.0,
        evidence=tuple(by_id[number].key for number in reading.relevant[:KEPT] if number in by_id),
        judged_by=judged.judged_by,
    )
    entry = trace_entry(
        name,
        state,
        started,
        judged,
        decision="found" if found.evidence else "nothing found",
        confidence=reading.confidence,
        reason="; ".join(filter(None, (reading.summary, found.message))),
        counts={"results": len(found.evidence)},
    )
    return {"findings": (finding,), "trace": (entry,), "metrics": metrics_of(judged)}


def no_answer(name: str, why: str, state: BugTriageState, began: float) -> Update:
    """Return the update for a specialist that began at this time (``perf_counter``) and gave no answer."""
    finding = AgentFinding(agent_name=name, summary=f"{name} gave no answer; the run continued without it.")
    entry = trace_entry(name, state, began, decision="failed", confidence=0.0, error=mask(why)[:300])
    return {"findings": (finding,), "trace": (entry,)}


def _addressed(text: str, by_id: Mapping[str, Evidence]) -> str:
    """Replace citations with addresses, and remove citations of unknown evidence."""

    def named(found: re.Match[str]) -> str:
        items = (by_id.get(number.strip()) for number in found[1].split(","))
        where = ", ".join(str(item.locator) for item in items if item is not None)
        return f" ({where})" if where else ""

    return _CITED.sub(named, text)


async def find_dependency(traces: Sequence[StackTrace], repository: str, text_of: TextOf) -> Dependency | None:
    """Return the dependency whose code raised the error; None if it is the repository's own code or unknown."""
    name = raising_package(traces)
    if name is None or await _is_own(traces, name, repository, text_of):
        return None
    host, _, place = name.partition("/")
    # Go names its packages by their address.
    return Dependency(name, "/".join(place.split("/")[:2]) if host == "github.com" else "")


async def _is_own(traces: Sequence[StackTrace], name: str, repository: str, text_of: TextOf) -> bool:
    """Return whether a package was installed from this repository: it has its name, or its files (in Python)."""
    if simplified(name.rpartition("/")[2]) == simplified(repository.rpartition("/")[2]):
        return True
    installed = [frame.path for frame in traces[-1].frames if f"-packages/{name}/" in frame.path]
    file = installed[0].rpartition("-packages/")[2] if installed else ""
    return bool(file) and any([await text_of(f"{folder}{file}") is not None for folder in _SOURCE_FOLDERS])


async def join(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Combine the round's findings. Partial results count, and failures are named."""
    started = time.perf_counter()
    names = (str(state.next_node), *state.also)
    entries = [entry for entry in state.trace if entry.node in names and entry.iteration == state.iterations]
    failed = [entry.node for entry in entries if entry.decision == "failed"]
    findings = [finding for finding in state.findings[-len(names) :] if finding.agent_name in names]
    confidence = round(joint_confidence(findings), 4)
    answered = (f"{it.agent_name} {it.confidence:.0%}" for it in findings if it.agent_name not in failed)
    failures = f"; no answer from {', '.join(failed)}" if failed else ""
    message = f"Together: {', '.join(answered) or 'nothing'}{failures}."[:_MAX_REASON]
    runtime.context.listener(JOIN, message)
    entry = trace_entry(
        JOIN,
        state,
        started,
        decision=NOTHING_JOINED if len(failed) == len(entries) else "joined",
        confidence=confidence,
        reason=message,
        counts={
            "specialists": len(names),
            "failed": len(failed),
            "sources": len({key for finding in findings for key in finding.evidence}),
        },
    )
    finding = AgentFinding(agent_name=JOIN, summary=message, confidence=confidence)
    return {"findings": (finding,), "trace": (entry,)}


def joint_confidence(findings: Sequence[AgentFinding]) -> float:
    """Return the evidence-weighted mean of the findings' confidences.

    ``c_i`` is the confidence of finding i, and ``S_i`` is the set of its distinct evidence::

        w_i = sum over s in S_i of 1 / (number of findings that cite s)
        c   = sum(w_i * c_i) / sum(w_i),  and 0 if no finding cites evidence

    Evidence that several findings cite counts once in total, so repeating it adds no weight. A finding without
    evidence, such as a failed one, does not change the mean. The mean lies between the lowest and the highest
    confidence of the findings that count, and does not depend on their order.
    """
    # Fractions are exact, so the order of the findings cannot change the result.
    sources = [frozenset(finding.evidence) for finding in findings]
    shared = {key: sum(key in rests for rests in sources) for rests in sources for key in rests}
    weights = [sum((Fraction(1, shared[key]) for key in rests), Fraction()) for rests in sources]
    whole = sum(weights, Fraction())
    if not whole:
        return 0.0
    weighed = sum(weight * Fraction(finding.confidence) for weight, finding in zip(weights, findings, strict=True))
    return float(weighed / whole)
