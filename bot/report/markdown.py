"""The one comment, and the draft for a tracker."""

from __future__ import annotations

from urllib.parse import quote as url_quote

from bot.report.sanitise import block, cell, code, prose
from nodes.report import Kind, NotFoundReason, Suspect, Ticket, TriageReport

MAX_COMMENT = 65_536
"""GitHub's own limit, in characters."""
SUSPECTS = 3
_NOT_FOUND: dict[NotFoundReason, str] = {
    "no_candidates": "no code in this commit matches what the issue says",
    "only_weak_candidates": "the evidence is too weak to name a cause",
    "several_equal_candidates": "several places match equally well",
    "claims_failed_checking": "what was claimed did not pass checking and was dropped",
    "not_a_bug_report": "this does not report a fault in the code",
    "text_too_short": "the text is too short to search by",
    "code_not_readable": "the code could not be read",
}
_SECURITY = (
    "**This may describe a security problem.** Please do not add details here. "
    "Report it privately as the repository's security policy (SECURITY.md) says; a maintainer can then hide this issue."
)
_FOOTER = "<sub>Automated first read; a maintainer decides.</sub>"


class MarkdownRenderer:
    """Renders reports for a repository on a server; without one, places are plain paths."""

    def __init__(self, *, server_url: str = "https://github.com", slug: str | None = None) -> None:
        self._server_url = server_url.rstrip("/")
        self._slug = slug

    def comment(self, report: TriageReport) -> str:
        """Verdict first, then at most three places; everything for maintainers is folded."""
        if report.kind == "security":
            return f"{_SECURITY}\n\n{_FOOTER}\n"
        parts = [
            self._verdict(report),
            self._places(report),
            _cause(report),
            _facts(report),
            self._maintainers(report),
            _about(report),
            _FOOTER,
        ]
        return "\n\n".join(filter(None, parts))[:MAX_COMMENT] + "\n"

    def ticket(self, report: TriageReport) -> Ticket:
        """The same for a tracker: a title, a body, and fields."""
        parts = [
            prose(report.verdict),
            self._places(report),
            _cause(report),
            _list("To confirm", report.how_to_confirm),
        ]
        fields: dict[str, str] = {"type": report.kind, "priority": report.severity}
        if report.suspects:
            fields["component"] = report.suspects[0].path
        if report.labels:
            fields["labels"] = ", ".join(report.labels)
        body = "" if report.kind == "security" else "\n\n".join(filter(None, parts))
        return Ticket(title=prose(report.verdict)[:300], body=body[:6_000], fields=fields)

    def _verdict(self, report: TriageReport) -> str:
        line = f"**{prose(report.verdict)}**"
        if report.root_cause:
            return (
                f"{line} Confidence: {confidence_word(report.confidence)} · found by reading code, not by running it."
            )
        if report.not_found and report.kind in ("bug", "docs"):
            return f"{line} No cause is named: {_NOT_FOUND[report.not_found]}."
        return line

    def _places(self, report: TriageReport) -> str:
        if not report.suspects:
            return ""
        rows = [
            f"| {cell(self._link(suspect, report.commit))} | {cell(prose(suspect.why))} | {_mark(suspect)} |"
            for suspect in report.suspects[:SUSPECTS]
        ]
        return "\n".join(["| Where | Why | Checked |", "|---|---|---|", *rows])

    def _link(self, suspect: Suspect, sha: str) -> str:
        lines = f"L{suspect.start_line}-L{suspect.end_line}"
        symbol = f" {code(suspect.symbol)}" if suspect.symbol else ""
        if not (self._slug and suspect.path):
            return f"{code(suspect.path)} {lines}{symbol}"
        return f"[{code(suspect.path.rsplit('/', 1)[-1])} {lines}]({self._permalink(suspect, sha)}){symbol}"

    def _permalink(self, suspect: Suspect, sha: str) -> str:
        path = url_quote(suspect.path.encode("utf-8", "surrogateescape"))
        lines = f"#L{suspect.start_line}-L{suspect.end_line}"
        return f"{self._server_url}/{self._slug}/blob/{sha}/{path}{lines}"

    def _maintainers(self, report: TriageReport) -> str:
        quotes = "\n\n".join(
            f"{number}. {code(f'{s.path}:{s.quote_start}-{s.quote_end}')} [{s.evidence}]\n\n{block(s.quote)}"
            for number, s in enumerate(report.suspects, 1)
        )
        parts = [
            quotes,
            _bullets("Less likely", report.ruled_out),
            _list("How to confirm", report.how_to_confirm),
            _list("For review", report.review_message),
            _bullets("Tried", report.tried),
        ]
        return _fold("For maintainers: evidence, what is less likely, next step", "\n\n".join(filter(None, parts)))


def confidence_word(confidence: float) -> str:
    """A word for a calibrated probability."""
    return "high" if confidence >= 0.85 else "medium" if confidence >= 0.65 else "low"


def _mark(suspect: Suspect) -> str:
    return "quote matches" if suspect.checked else "not checked"


def _cause(report: TriageReport) -> str:
    return prose(report.root_cause) if report.root_cause else ""


def _facts(report: TriageReport) -> str:
    kinds: dict[Kind, str] = {"docs": "documentation", "feature": "feature request"}
    said = [f"**Kind:** {kinds.get(report.kind, report.kind)}"]
    if report.severity != "unknown":
        said.append(f"**Impact:** {report.severity} — {prose(report.severity_reason)}")
    line = " · ".join(said)
    missing = f"\n\n**Would help:** {'; '.join(prose(item) for item in report.missing)}." if report.missing else ""
    return line + missing


def _about(report: TriageReport) -> str:
    audit, score = report.citation_audit, report.evaluation.overall_score
    lines = [
        f"- Commit read: {code(report.commit)}",
        f"- Written by: {code(report.written_by)}",
        f"- Confidence: {report.confidence:.0%} · score of this report: {score:.2f}",
        f"- Citations checked: {audit.citations}; claims dropped in checking: {len(audit.dropped)}",
        *(f"- {prose(note)}" for note in report.notes),
    ]
    return _fold("About this report", "\n".join(lines))


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


def _list(title: str, text: str) -> str:
    return f"**{title}:** {prose(text)}" if text else ""


def _bullets(title: str, items: tuple[str, ...]) -> str:
    return f"**{title}:**\n" + "\n".join(f"- {prose(item)}" for item in items) if items else ""
