"""The explanation of a report: what was gathered, decided, overruled, dropped, scored, retried and spent.

Comments, the terminal and the page of a run show the same words; each escapes them for its own format.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.report.comment.folds import fold
from bot.report.document import Result
from bot.report.sanitise import block, cell, code, prose
from bot.report.words import count, cut, percent
from nodes.evidence import NumberedEvidence
from nodes.guards import MEANINGS
from nodes.report import CitationAudit, Evaluation, TriageReport
from nodes.state import RetryReason, TraceEntry
from nodes.trust.statements import CITED

MAX_ACCOUNT = 60_000
"""Maximum number of characters, out of the 65,536 that a comment may have."""
ROWS = 60
"""Maximum number of rows of a table."""
_SECTION = 14_000
_REASON_WORDS = 25
_RETRY_REASONS = {
    "quality_issue_detected": "quality too low",
    "conflicting_evidence_attempting_resolution": "conflicting evidence",
}


@dataclass(frozen=True, slots=True)
class Account:
    """A finished run with the evidence that it gathered."""

    run: int
    sha: str
    brain: str
    config_hash: str
    """Identifies the configuration of the run; empty if there was none."""
    result: Result
    evidence: tuple[NumberedEvidence, ...] = ()


def without_reasons(entry: TraceEntry) -> TraceEntry:
    """Return an entry without its reason, error and lookups, which concern the issue's content."""
    return entry.model_copy(update={"reason": "", "error": "It failed." if entry.error else None, "looks": ()})


def confidence(entry: TraceEntry) -> str:
    """Return a step's confidence as a percentage; empty if no brain judged it, as where only one node was legal."""
    return percent(entry.confidence if entry.confidence or entry.node != "supervisor" else None)


def cited_numbers(report: TriageReport) -> frozenset[str]:
    """Return the short numbers of the evidence that a report cites, such as E1."""
    texts = " ".join((report.root_cause or "", *report.ruled_out))
    named = (
        *(suspect.evidence for suspect in report.suspects),
        *(change.evidence for change in (*report.suspect_changes, *report.recent_changes)),
        *(related.evidence for related in report.related),
    )
    return frozenset((*CITED.findall(texts), *filter(None, named)))


def dropped_claims(audit: CitationAudit) -> tuple[str, ...]:
    """Describe what the citation check removed from the last draft."""
    return (
        *audit.dropped,
        *(f"cites evidence that was not gathered: `{name}`" for name in audit.fabricated),
        *(f"no longer matches its quote: `{name}`" for name in audit.failed),
    )


def citation_check(result: Result) -> str:
    """Return one sentence with the numbers of checked and dropped citations over all drafts."""
    audit = result.report.citation_audit
    return (
        f"{count(audit.citations, 'citation')} checked, {count(audit.uncited_claims, 'sentence')} cited nothing, "
        f"{count(result.metrics.claims_dropped, 'claim')} dropped over all drafts."
    )


def scores(score: Evaluation) -> tuple[tuple[str, str, str], ...]:
    """Return the rows of the scorecard: name, weight and score from 0 to 1; the total has no weight."""
    return (
        ("Faithfulness", "35 %", f"{score.faithfulness:.2f}"),
        ("Relevance", "25 %", f"{score.relevance:.2f}"),
        ("Completeness", "25 %", f"{score.completeness:.2f}"),
        ("Reasoning", "15 %", f"{score.reasoning_quality:.2f}"),
        ("Overall, after clamping", "", f"{score.overall_score:.2f}"),
    )


def retry_reasons(retry: RetryReason) -> str:
    """Return why a draft was rejected."""
    failed = ("a citation failed",) if retry.citation_issue else ()
    fabricated = ("fabricated evidence",) if retry.hallucination else ()
    return ", ".join((_RETRY_REASONS[retry.reason], *failed, *fabricated))


def spending(result: Result, *, brain: str, config_hash: str, dollars: float = 0) -> tuple[tuple[str, str], ...]:
    """Return the brain, the model's usage and the configuration as pairs of a label and a value."""
    usage = result.metrics.usage
    pairs = (
        ("Judged by", ", ".join(dict.fromkeys(entry.judged_by for entry in result.trace)) or brain),
        ("Model calls", count(usage.calls, "call") if usage.calls else "none: rules judged"),
        ("Tokens in", count(usage.input_tokens, "token") if usage.calls else ""),
        ("Tokens out", count(usage.output_tokens, "token") if usage.calls else ""),
        ("Cost", f"${dollars:.4f}" if dollars else ""),
        *(("Rules judged instead", why) for why in result.metrics.fallbacks),
        ("Configuration", config_hash),
    )
    return tuple((label, value) for label, value in pairs if value)


def render_markdown(account: Account) -> str:
    """Render the explanation for a comment: one line, then a folded section per topic; no time changes it."""
    parts = [_head(account)]
    for title, lines in _sections(account):
        part = fold(title, _within(lines, min(_SECTION, MAX_ACCOUNT - sum(map(len, parts)) - 200)))
        parts += [part] if part else []
    return "\n\n".join(parts)


def _sections(account: Account) -> Iterator[tuple[str, list[str]]]:
    result, is_open = account.result, account.result.report.kind != "security"
    steps = [entry if is_open else without_reasons(entry) for entry in result.trace]
    review = result.report.review_message
    retried = result.metrics.retry_reasons
    retries = [(str(item.iteration), retry_reasons(item), f"{item.confidence:.0%}") for item in retried]
    yield "Path through the graph", _path(steps)
    yield "Guards that fired", _guards(steps) or ["None: no rule overruled a decision."]
    if is_open:
        dropped = [f"- {prose(line)}" for line in dropped_claims(result.report.citation_audit)]
        yield "Evidence", _evidence(account)
        yield "Claims dropped in checking", [citation_check(result), *(["", *dropped] if dropped else [])]
    table = _table(("", "Weight", "Score"), scores(result.report.evaluation))
    yield "Evaluation", [*table, *(["", f"For review: {prose(review)}"] if review else [])]
    rejected = _table(("Round", "Rejected because", "Confidence"), retries)
    yield "Retries, and why", rejected or ["None: the first draft was accepted."]
    pairs = spending(result, brain=account.brain, config_hash=account.config_hash)
    looked = [f"- Looked up: {prose(look)}" for item in steps for look in item.looks]
    yield "Model, lookups and cost", [*(f"- {label}: {prose(value)}" for label, value in pairs), *looked]
    if is_open:
        answered = ((asked.question, asked.answer or "no answer") for asked in result.questions)
        yield "Questions", [f"- {prose(question)} — {prose(answer[:200])}" for question, answer in answered]
        yield "Ticket draft", _ticket(result)


def _head(account: Account) -> str:
    metrics, usage = account.result.metrics, account.result.metrics.usage
    tokens = usage.input_tokens + usage.output_tokens
    cost = f"{usage.calls} model calls, {tokens} tokens" if usage.calls else "no model"
    history = " → ".join(f"{value:.0%}" for value in metrics.confidence_history[-8:]) or "none"
    config = f" · configuration {code(account.config_hash)}" if account.config_hash else ""
    return (
        f"Run {account.run} read commit {code(account.sha[:12])}, judged by {code(account.brain)} ({cost}){config}. "
        f"Confidence of its drafts: {history}; of the report: {account.result.report.confidence:.0%}. "
        f"Claims dropped: {metrics.claims_dropped}."
    )


def _path(steps: Iterable[TraceEntry]) -> list[str]:
    rows = []
    for item in steps:
        why = (item.reason, f"failed: {item.error}" if item.error else "")
        reason = prose("; ".join(cut(text, _REASON_WORDS) for text in why if text))
        names = (code(item.guard or ""), code(item.judged_by))
        rows.append((str(item.iteration), code(item.node), prose(item.decision), confidence(item), *names, reason))
    return _table(("Round", "Node", "Decision", "Confidence", "Guard", "Judged by", "Reason"), rows)


def _guards(steps: Iterable[TraceEntry]) -> list[str]:
    """Return one line per guard that changed a decision, with the number of times."""
    fired = Counter(item.guard for item in steps if item.guard)
    often = {name: f", {times} times" if times > 1 else "" for name, times in fired.items()}
    return [f"- {code(name)}{times}: {prose(MEANINGS.get(name, ''))}" for name, times in often.items()]


def _evidence(account: Account) -> list[str]:
    cited = cited_numbers(account.result.report)
    rows = [
        (
            item.id,
            item.evidence.kind,
            code(str(item.evidence.locator)),
            f"{item.evidence.score:.2f}",
            "yes" if item.id in cited else "",
            code(item.evidence.quote.strip().partition("\n")[0][:80]),
            prose("; ".join(item.evidence.reasons[:2])[:160]),
        )
        for item in account.evidence
    ]
    return _table(("", "Kind", "Where", "Score", "Cited", "Begins", "Why"), rows)


def _ticket(result: Result) -> list[str]:
    ticket = result.report.ticket
    fields = "\n".join(f"{name}: {value}" for name, value in ticket.fields.items())
    return [block(f"{ticket.title}\n\n{fields}\n\n{ticket.body}", "markdown")] if ticket.title else []


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    lines = [f"| {' | '.join(map(cell, row))} |" for row in rows[:ROWS]]
    more = [f"\n… and {len(rows) - ROWS} more"] if len(rows) > ROWS else []
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *lines, *more]


def _within(lines: list[str], room: int) -> str:
    """Return as many whole lines as fit, and state how many are omitted."""
    for kept, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return "\n".join((*lines[:kept], "", f"… and {len(lines) - kept} more")) if kept else ""
    return "\n".join(lines)
