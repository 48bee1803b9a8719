"""Assemble the page of one run: its path through the graph, its evidence, what led to it and what followed from it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from markupsafe import Markup

from bot.report import explain
from bot.report.comment.markdown import MarkdownRenderer
from bot.report.difference import differences
from bot.report.links import Links
from bot.report.words import count
from bot.server.web.render import as_html, label, line, prose, verbatim
from bot.store.pages.runs import FullRun, RunContext
from bot.store.runs.outcomes import Feedback, Outcome
from bot.store.runs.run_events import Visit
from nodes.evidence import Evidence
from nodes.report import TriageReport
from nodes.state import TraceEntry
from nodes.trust.secrets import mask

_SHOWN_EVIDENCE = 40
"""Pieces of evidence on a run's page, the best ones; it stays light with them."""
_WHERE = {"trace": "a trace in the issue", "human": "a person's answer"}
_SHOWN_TEXT = 6_000
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


def page(
    full: FullRun,
    *,
    gathered: Sequence[Evidence],
    context: RunContext,
    issue: str,
    links: Links,
    cost: int,
    shown: bool,
) -> dict[str, Any]:
    """Assemble a run's page besides its progress; ``shown``: the viewer may read what may be a security problem."""
    result = full.result
    report, keys = (result.report, result.evidence) if result else (None, ())
    cited, others = pieces(report, keys, gathered, links) if shown else ([], [])
    found: dict[str, Any] = {
        "shown": shown,
        "report": report,
        "links": links,
        "background": background(context, report, links, issue) if shown else None,
        "cited": cited,
        "others": others,
        "gathered": len(gathered),
        "dropped_since": bool(keys) and not gathered,
        "comment": None,
    }
    if result is None or report is None:
        return found | {"drafts": (), "cost": ()}
    rejected = [explain.retry_reasons(item) for item in result.metrics.retry_reasons]
    dollars = cost / 1_000_000
    return found | {
        "comment": as_html(_comment(report, links)) if shown else None,
        "score": explain.scores(report.evaluation),
        "dropped": explain.dropped_claims(report.citation_audit) if shown else (),
        "audit": explain.citation_check(result),
        # Those before the last one were rejected, each for its reason.
        "drafts": list(zip(result.metrics.confidence_history, [*rejected, ""], strict=False)),
        "cost": explain.spending(result, brain=full.row.brain, config_hash=full.config_hash, dollars=dollars),
    }


def _comment(report: TriageReport, links: Links) -> str:
    """Return the report's comment; the operator reads what is found about a security problem as that of a bug."""
    text = report.github_comment
    if report.kind == "security" or not text:
        shown = report.model_copy(update={"kind": "bug"}) if report.kind == "security" else report
        text = MarkdownRenderer(server_url=links.server_url, repository=links.repository).comment(shown)
    # GitHub shows the lines of a permalink that is alone in its paragraph.
    files = f"{links.server_url}/{links.repository}/blob/"
    return "\n".join(
        f"[`{line.removeprefix(files).partition('/')[2]}`]({line})"
        if line.startswith(files) and " " not in line
        else line
        for line in text.split("\n")
    )


def pieces(
    report: TriageReport | None, keys: Sequence[str], gathered: Sequence[Evidence], links: Links
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the evidence that a report cites, and the rest, best first; ``keys`` are of the numbered evidence."""
    cited = explain.cited_numbers(report) if report else frozenset()
    numbers = {key: f"E{number}" for number, key in enumerate(keys, 1)}
    known = [(numbers.get(item.key, ""), item) for item in gathered if item.key in numbers or not keys]
    first = sorted((pair for pair in known if pair[0] in cited), key=lambda pair: int(pair[0][1:]))
    others = [pair for pair in known if pair[0] not in cited][: max(_SHOWN_EVIDENCE - len(first), 0)]
    return [_piece(*pair, links) for pair in first], [_piece(*pair, links) for pair in others]


def _piece(number: str, evidence: Evidence, links: Links) -> dict[str, Any]:
    """Build the view of one piece of evidence, without active content; its number is empty while the run goes on."""
    at = evidence.locator
    first = at.start_line if at.path is not None else None
    return {
        "id": number,
        "found": evidence,
        "link": _link(evidence, links),
        "where": _WHERE.get(evidence.kind, "the issue")
        if not (at.path or at.url or at.sha)
        else verbatim(line(str(at))),
        "numbers": "\n".join(str(first + n) for n in range(evidence.quote.count("\n") + 1)) if first else "",
        "quote": verbatim(mask(evidence.quote)),
    }


def _link(evidence: Evidence, links: Links) -> str:
    at = evidence.locator
    if at.path is not None and at.start_line is not None:
        return links.lines(at.path, at.start_line, at.end_line or at.start_line, at.sha or links.commit) or ""
    if at.url is not None:
        # Search results are untrusted, so only http and https addresses become links.
        return at.url if urlsplit(at.url).scheme in ("http", "https") else ""
    return links.commit_page(at.sha) or "" if at.sha else ""


class FixComparison(NamedTuple):
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
        "text": Markup("") if is_security else as_html(origin.body.strip(), _SHOWN_TEXT),
        "instructions": [
            (word, _WORDS[word.kind], word.url if word.url.startswith(pages) else "") for word in context.words
        ],
        "labels": context.labels,
        "label_changes": context.label_changes,
        "fix": _result(context.outcome, links) if context.outcome else None,
        "judgements": list(map(_judged, context.feedback)),
        "comment_link": f"{issue}#issuecomment-{context.comment_id}" if context.comment_id else "",
        "before": context.before[0] if context.before and report else 0,
        "differences": list(differences(context.before[1].report, report)) if context.before and report else (),
    }


def _began(context: RunContext) -> Markup:
    origin = context.origin
    if not origin.why:
        return Markup("")
    if origin.asked_by:
        where = "in a comment" if origin.asked_in else "on this page"
        return prose(f"Began because {origin.asked_by} asked for it {where}.")
    return prose(f"Began because {_BEGAN.get(origin.why, origin.why)}.")


def _result(outcome: Outcome, links: Links) -> FixComparison | None:
    if not outcome.reported.named:
        return None
    verdict = outcome.verdict
    if verdict is None:
        return FixComparison("soft", Markup("No fix is known yet."))
    sha, link = verdict.fix[:7], links.commit_page(verdict.fix) or "" if verdict.fix else ""
    if verdict.state == "unknown":
        return FixComparison("soft", prose(f"Not known: {verdict.why}."), sha, link)
    first = outcome.reported.named[0]
    if verdict.rank == 1:
        return FixComparison("good", prose(f"Right: the fix changed `{first}`, the first file."), sha, link)
    if verdict.rank:
        named = outcome.reported.named[verdict.rank - 1]
        says = f"Partly right: the fix changed `{named}`, file {verdict.rank} here."
        return FixComparison("warn", prose(says), sha, link)
    return FixComparison("bad", prose("Wrong: the fix changed none of the files named here."), sha, link)


def _judged(feedback: Feedback) -> tuple[bool, Markup]:
    judged = feedback.judgement
    who = feedback.actor or "somebody"
    if judged.right:
        return True, prose(f"{who} said that this is right.")
    return False, prose(f"{who} said that this is wrong" + (f": {judged.why}" if judged.why else "."))


def progress(full: FullRun, visits: Iterable[Visit], *, shown: bool) -> dict[str, Any]:
    """Build the part of a page that changes during a run; ``shown``: the viewer may read about security."""
    known: dict[str, Visit] = {}
    for visit in visits:
        # Each visit once, in its last stored state: removed first, so that the dict's order is that of this state.
        known.pop(visit.id, None)
        known[visit.id] = visit
    ended = (entry for visit in known.values() if visit.ended is not None for entry in visit.trace)
    trace = full.result.trace if full.result is not None else tuple(ended)
    now = [visit.node for visit in known.values() if visit.ended is None and full.row.status == "running"]
    running = " and ".join(map(label, now))
    return {
        "row": full.row,
        "shown": shown,
        "now": list(map(label, now)),
        "graph": graph(trace, now=now),
        "steps": [entry if shown else explain.without_reasons(entry) for entry in trace],
        "rounds": max((entry.iteration for entry in trace), default=-1) + 1,
        "say": f"{f'{running} running' if now else f'The run is {full.row.status}'}, after {count(len(trace), 'step')}",
    }


def graph(trace: Sequence[TraceEntry], *, now: Iterable[str] = ()) -> list[tuple[str, str, Sequence[int]]]:
    """Return the nodes below the supervisor: name; ``on``, ``off`` or, running, ``now``; places on the path, from 1."""
    # Visits of one round share a place.
    places: defaultdict[str, list[int]] = defaultdict(list)
    place, last = 0, None
    for entry in trace:
        if entry.node not in _BETWEEN:
            place += entry.iteration != last
            last = entry.iteration
            places[entry.node].append(place)
    going = [name for name in now if name not in _BETWEEN]
    return [
        (label(name), "now" if name in going else "on" if name in places else "off", places.get(name, ()))
        for name in dict.fromkeys((*_NODES, *places, *going))
    ]
