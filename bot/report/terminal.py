"""Render a report for a terminal."""

import io
import os
import shutil

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from bot.report.sanitise import visible
from bot.report.words import confidence_word
from nodes.report import RelatedChange, RelatedIssue, Suspect, SuspectChange, TriageReport
from nodes.trust.secrets import mask

_WIDTH = 110
_RELATIONS = {"duplicate": "Probably the same", "related": "Related", "fixed_by": "Probably fixed by"}


def render_terminal(report: TriageReport, *, width: int | None = None, colour: bool | None = None) -> str:
    """Render the report in colours unless ``NO_COLOR`` is set."""
    colour = not os.environ.get("NO_COLOR") if colour is None else colour
    out = io.StringIO()
    # The default if the terminal reports no columns, as under ``docker run -t``.
    width = width or min(shutil.get_terminal_size((_WIDTH, 24)).columns, _WIDTH)
    console = Console(file=out, force_terminal=colour, no_color=not colour, width=width, highlight=False)
    console.print(_layout(report))
    return out.getvalue().rstrip("\n")


def _layout(report: TriageReport) -> RenderableType:
    parts: list[RenderableType] = [Text(_clean(report.verdict), style="bold")]
    parts.append(Text(_subtitle(report), style="dim"))
    if cause := report.root_cause or report.unconfirmed:
        parts += [Text(), Text(_clean(cause))]
    for number, suspect in enumerate(report.suspects, 1):
        parts += [Text(), _suspect(number, suspect)]
    for title, content in _sections(report):
        parts += [Text(), Text.assemble((f"{title}: ", "bold"), _clean(content))]
    return Group(*parts)


def _subtitle(report: TriageReport) -> str:
    parts: list[str] = [report.kind]
    if report.severity != "unknown":
        parts.append(f"severity {report.severity}: {report.severity_reason}")
    if not report.is_explained:  # the confidence is about the search's order of files
        parts.append(f"confidence {confidence_word(report.confidence)} ({report.confidence:.0%})")
    return _clean(" · ".join(parts))


def _suspect(number: int, suspect: Suspect) -> RenderableType:
    where = f"{suspect.path}:{suspect.start_line}-{suspect.end_line}"
    head = Text.assemble(f"{number}. ", (_clean(where), "cyan"), (f"  {_clean(suspect.symbol or '')}", "green"))
    lines = [
        Text.assemble((f"{line:>6} │ ", "dim"), _clean(text.expandtabs(4)))
        for line, text in enumerate(suspect.quote.split("\n"), suspect.quote_start)
    ]
    why = Padding(Text(_clean(suspect.why)), (0, 0, 0, 3))
    return Group(head, why, *lines)


def _sections(report: TriageReport) -> list[tuple[str, str]]:
    audit = report.citation_audit
    commit = f"commit {report.commit[:12]}, " if report.commit else ""
    about = (
        f"{commit}written by {report.written_by}, {audit.citations} citations checked, "
        f"{len(audit.dropped)} claims dropped"
    )
    sections = [
        ("But", " ".join(filter(None, (*report.doubts, report.unconfirmed_because)))),
        ("How to confirm", report.how_to_confirm),
        ("Suspect change, not bisected", "; ".join(map(_change, report.suspect_changes))),
        ("No change is suspected", report.no_suspect_change),
        *(
            (title, "; ".join(_issue(other) for other in report.related if other.relation == relation))
            for relation, title in _RELATIONS.items()
        ),
        ("Pull requests and commits", "; ".join(map(_related_change, report.changes))),
        ("Versions named", ", ".join(report.affected_versions)),
        ("Platforms", ", ".join(report.platforms)),
        (
            "People who know this code",
            f"{report.owner or ''}{f' ({report.owner_reason})' if report.owner_reason else ''}",
        ),
        ("Would help", "; ".join(report.missing)),
        ("Less likely", "; ".join(report.ruled_out)),
        ("For review", report.review_message),
        ("Note", "; ".join(report.notes)),
        ("About", about),
    ]
    return [(title, content) for title, content in sections if content]


def _change(change: SuspectChange) -> str:
    within = f" ({change.within})" if change.within else ""
    return f"{change.sha[:10]} “{change.title}”{within} — {change.why}"


def _issue(issue: RelatedIssue) -> str:
    state = f" ({issue.state})" if issue.state else ""
    title = f" “{issue.title}”" if issue.title else ""
    return f"{issue.reference}{state}{title}{f' — {issue.why}' if issue.why else ''}"


def _related_change(change: RelatedChange) -> str:
    return f"{change.reference[:12]} ({change.state}) “{change.title}”: {change.why}"


def _clean(text: str) -> str:
    """Return text of a repository or an issue without terminal control sequences and secrets."""
    return visible(mask(text)).encode("utf-8", "replace").decode()
