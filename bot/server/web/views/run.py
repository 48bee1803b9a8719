"""Assemble the page of one run: its path through the graph, what led to it, and what followed from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from markupsafe import Markup

from bot.ports import AskedQuestion
from bot.report import account
from bot.report.comment.markdown import MarkdownRenderer
from bot.report.difference import differences
from bot.report.links import Links
from bot.report.sanitise import code
from bot.report.words import count
from bot.server.web.views.evidence import pieces
from bot.server.web.views.rows import Row
from bot.server.web.views.words import as_html, label, prose
from bot.store.pages.runs import FullRun, RunContext
from bot.store.runs.feedback import Feedback
from bot.store.runs.outcomes import Outcome
from bot.store.runs.run_events import Visit
from nodes.evidence import Evidence
from nodes.report import TriageReport
from nodes.state import Metrics, TraceEntry

SHOWN_TEXT = 6_000
"""Characters of the issue's text that the page shows."""
_BEGAN: Mapping[str, str] = {
    "opened": "the issue was opened",
    "reopened": "the issue was reopened",
    "edited": "the issue's text was changed",
    "command": "a command asked for it",
    "redirect": "a maintainer said where to search",
    "backfill": "`triage backfill` asked for it",
    "restart": "an earlier run could not be continued",
}
_WORDS: Mapping[str, str] = {
    "redirect": "said where to search",
    "correction": "said what was wrong",
    "answer": "answered",
    "stop": "stopped it",
}
_NODES = ("investigator", "codebase_search", "web_search", "critic", "human_input", "writer")
_BETWEEN = ("supervisor", "join")
"""The nodes that every visit comes from and returns to."""
_FEW = 4
"""Visits of one node up to which each one is numbered."""


def page(
    full: FullRun,
    *,
    gathered: Sequence[Evidence],
    questions: Sequence[AskedQuestion],
    context: RunContext,
    issue: str,
    links: Links,
    cost: int,
    open_to_all: bool,
) -> dict[str, Any]:
    """Assemble everything that a run's page shows besides its progress.

    ``cost``: millionths of a dollar; ``open_to_all``: also of security.
    """
    shown = open_to_all or is_harmless(full)
    found: dict[str, Any] = {
        "open_to_all": shown,
        "report": None,
        "drafts": (),
        "cost": (),
        "links": links,
        "background": background(context, full.result.report if full.result else None, links, issue) if shown else None,
        "cited": (),
        "others": (),
        "gathered": len(gathered),
        "questions": questions,
        "dropped_since": full.result is not None and bool(full.result.evidence) and not gathered,
        "comment": None,
    }
    report = full.result.report if full.result else None
    if shown:
        found["cited"], found["others"] = pieces(report, full.result.evidence if full.result else (), gathered, links)
    if full.result is None or report is None:
        return found
    dollars = cost / 1_000_000
    return found | {
        "report": report,
        "comment": as_html(_comment(report, links)) if shown else None,
        "score": account.scores(report.evaluation),
        "dropped": account.dropped_claims(report.citation_audit) if shown else (),
        "audit": account.citation_check(full.result),
        "drafts": _drafts(full.result.metrics),
        "cost": account.spending(full.result, brain=full.row.brain, config_hash=full.config_hash, dollars=dollars),
    }


def _comment(report: TriageReport, links: Links) -> str:
    """Return the report's comment; the operator reads what is found about a security problem as that of a bug."""
    text = report.github_comment
    if report.kind == "security" or not text:
        shown = report.model_copy(update={"kind": "bug"}) if report.kind == "security" else report
        text = MarkdownRenderer(server_url=links.server_url, repository=links.repository).comment(shown)
    # GitHub shows the lines of a permalink that stands alone.
    files = f"{links.server_url}/{links.repository}/blob/"
    return "\n".join(
        f"[`{line.removeprefix(files).partition('/')[2]}`]({line})"
        if line.startswith(files) and " " not in line
        else line
        for line in text.split("\n")
    )


def _drafts(metrics: Metrics) -> list[tuple[int, float, str]]:
    """Return the drafts by number; those before the last one were rejected, each for its reason."""
    rejected = [", ".join(account.retry_reasons(item)) for item in metrics.retry_reasons]
    return list(zip(range(1, len(rejected) + 2), metrics.confidence_history, [*rejected, ""], strict=False))


class Result(NamedTuple):
    """The comparison of a report with the fix."""

    tone: str
    text: Markup
    sha: str = ""
    link: str = ""


def background(context: RunContext, report: TriageReport | None, links: Links, issue: str) -> dict[str, Any]:
    """Build the background; its text is empty if it is not stored or may be about a security problem."""
    origin, pages = context.origin, f"{links.server_url}/{links.repository}/"
    is_security = report is not None and report.kind == "security"
    return {
        "began": _began(context),
        "asked_link": f"{issue}#issuecomment-{origin.asked_in}" if origin.asked_in else "",
        "author": origin.author,
        "text": Markup("") if is_security else as_html(origin.body.strip(), SHOWN_TEXT),
        "instructions": [
            (word, _WORDS[word.kind], word.url if word.url.startswith(pages) else "") for word in context.words
        ],
        "labels": context.labels,
        "label_changes": context.label_changes,
        "fix": _result(context.outcome, links) if context.outcome else None,
        "judgements": list(map(_judged, context.feedback)),
        "comment_link": f"{issue}#issuecomment-{context.comment_id}" if context.comment_id else "",
        "before": context.before[0] if context.before and report else 0,
        "differences": differences(context.before[1].report, report) if context.before and report else (),
    }


def _began(context: RunContext) -> Markup:
    origin = context.origin
    if not origin.why:
        return Markup("")
    if origin.asked_by:
        where = "in a comment" if origin.asked_in else "on this page"
        return prose(f"Began because {origin.asked_by} asked for it {where}.")
    return prose(f"Began because {_BEGAN.get(origin.why, origin.why)}.")


def _result(outcome: Outcome, links: Links) -> Result | None:
    if not outcome.reported.named:
        return None
    verdict = outcome.verdict
    if verdict is None:
        return Result("soft", Markup("No fix is known yet."))
    sha, link = verdict.fix[:7], links.commit_page(verdict.fix) or "" if verdict.fix else ""
    if verdict.state == "unknown":
        return Result("soft", prose(f"Not known: {verdict.why}."), sha, link)
    first = outcome.reported.named[0]
    if verdict.rank == 1:
        return Result("good", prose(f"Right: the fix changed `{first}`, the first file."), sha, link)
    if verdict.rank:
        named = outcome.reported.named[verdict.rank - 1]
        return Result("warn", prose(f"Partly right: the fix changed `{named}`, file {verdict.rank} here."), sha, link)
    return Result("bad", prose("Wrong: the fix changed none of the files named here."), sha, link)


def _judged(feedback: Feedback) -> tuple[bool, Markup]:
    judged = feedback.judgement
    who = feedback.actor or "somebody"
    if feedback.source == "reaction":
        return judged.right, prose(f"{who} gave the comment {'👍' if judged.right else '👎'}.")
    if feedback.source == "label":
        agrees = "agrees" if judged.right else "disagrees"
        return judged.right, prose(f"{who} changed the label {code(judged.why)}, which {agrees} with the place.")
    if judged.right:
        return True, prose(f"{who} said that this is right.")
    return False, prose(f"{who} said that this is wrong" + (f": {judged.why}" if judged.why else "."))


def latest(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Return each visit once, in its last stored state, in the order in which visits ended or began."""
    known: dict[str, Visit] = {}
    for visit in visits:
        # Removed first, so that the dict's order is that of the last state.
        known.pop(visit.id, None)
        known[visit.id] = visit
    return tuple(known.values())


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph on the path of a run."""

    name: str
    state: Literal["on", "off", "now"]
    """Visited, not visited, or running."""
    places: tuple[str, ...]
    """The places of its visits on the path, from 1; of many, the first ones and the number of the others."""


def graph(trace: Sequence[TraceEntry], *, now: Iterable[str] = ()) -> tuple[GraphNode, ...]:
    """Return the nodes below the supervisor."""
    going = tuple(name for name in now if name not in _BETWEEN)
    order = _order(trace)
    names = dict.fromkeys((*_NODES, *order, *going))
    return tuple(
        GraphNode(
            label(name), "now" if name in going else "on" if name in order else "off", _numbered(order.get(name, ()))
        )
        for name in names
    )


def _numbered(places: Sequence[int]) -> tuple[str, ...]:
    shown = places if len(places) <= _FEW else places[: _FEW - 1]
    return (*map(str, shown), *([f"+{len(places) - len(shown)}"] if len(shown) < len(places) else []))


def _order(trace: Sequence[TraceEntry]) -> dict[str, tuple[int, ...]]:
    """Map each node to the places of its visits on the path, from 1. Visits of one round share a place."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    place, last = 0, None
    for entry in trace:
        if entry.node in _BETWEEN:
            continue
        place += entry.iteration != last
        last = entry.iteration
        places[entry.node].append(place)
    return {name: tuple(found) for name, found in places.items()}


def progress(full: FullRun, visits: Sequence[Visit], *, open_to_all: bool) -> dict[str, Any]:
    """Build the part of a page that changes while a run is in progress.

    ``open_to_all``: the viewer may read the reasons of a run that may concern a security issue, which is unknown until
    the run is over.
    """
    known, row = latest(visits), full.row
    trace = trace_of(full, known)
    now = [step.node for step in known if step.ended is None] if row.status == "running" else []
    reasons = open_to_all or is_harmless(full)
    running = " and ".join(map(label, now))
    return {
        "row": Row.of(row),
        "reasons": reasons,
        "now": list(map(label, now)),
        "graph": graph(trace, now=now),
        "steps": [account.step(entry, reasons=reasons) for entry in trace],
        "rounds": max((entry.iteration for entry in trace), default=-1) + 1,
        "say": f"{f'{running} running' if now else f'The run is {row.status}'}, after {count(len(trace), 'step')}",
    }


def trace_of(full: FullRun, visits: Sequence[Visit]) -> tuple[TraceEntry, ...]:
    """Return a run's trace: from its result, or from its steps before there is a result."""
    if full.result is not None:
        return full.result.trace
    return tuple(entry for visit in visits if visit.ended is not None for entry in visit.trace)


def is_harmless(full: FullRun) -> bool:
    """Return whether the run is known not to concern a security issue."""
    return full.result is not None and full.result.report.kind != "security"
