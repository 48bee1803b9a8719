"""Compose a report from a checked draft: the brain's words with the program's locators, links and marks."""

from collections.abc import Iterable, Mapping, Sequence

from nodes.agents.writing.acceptance import Gate
from nodes.agents.writing.explanation import citations_of
from nodes.agents.writing.statement import TOO_THIN, without_claim
from nodes.brains.rules.investigate import acting_kind
from nodes.brains.rules.places import is_named_by_maintainer
from nodes.context.brain import Case
from nodes.evidence import Evidence
from nodes.guards import NOT_READABLE, is_rejected, is_unreadable
from nodes.issue.kinds.model import parts_of
from nodes.issue.kinds.rare import may_be_security
from nodes.report import Evaluation, Kind, NotFoundReason, OutsideSource, Suspect, TriageReport
from nodes.search.sentences import say
from nodes.sources.protocol import OUTSIDE
from nodes.state import BugTriageState, TraceEntry
from nodes.trust.citations import Checked
from nodes.trust.secrets import mask
from nodes.trust.statements import names

NOT_SEARCHED = say("The code was not searched, so no place is named.")
SHORT_TEXT = 12
"""Number of words of prose below which an issue without code or errors is too short for a search."""
_NEAR = 8
"""Maximum number of lines between two places of one function that a reader sees together."""
_PATH = 110
"""Maximum characters of a path in a doubt: a sentence of at most 300 characters with two paths."""
_WITHHELD = say("This is probably a security report; continue it in private.")
_READS_LIKE = {
    "feature": say("This reads like a feature."),
    "question": say("This reads like a question."),
    "docs": say("This is probably a report on the documentation."),
}
_NO_CODE = {"root_cause": None, "citations": (), "suspects": (), "ruled_out": (), "how_to_confirm": ""}
"""The fields of a report that says nothing about code."""
MAX_NAMES = 5
"""Maximum number of versions that a report repeats, and of platforms."""


def compose(
    case: Case,
    checked: Checked,
    evaluation: Evaluation,
    *,
    confidence: float,
    support: float | None = None,
    written_by: str,
    fallback: str | None = None,
) -> TriageReport:
    """Build a report from a checked draft; the gate decides later whether it may claim a cause."""
    draft, state = checked.draft, case.state
    kind = safe_kind(draft.kind, case)
    evidence = {item.id: item.evidence for item in case.evidence}
    suspects = tuple(_suspect(s.evidence, s.why, evidence, case) for s in draft.suspects)
    unanswered = [exchange.question for exchange in state.human_exchanges if exchange.answer is None]
    found = _each_once(suspect for suspect in suspects if suspect is not None)
    return TriageReport(
        verdict=draft.verdict or _plain_verdict(kind, found),
        kind=kind,
        severity=draft.severity,
        severity_reason=draft.severity_reason,
        affected_versions=tuple(dict.fromkeys(name[:80] for name in case.facts.versions))[:MAX_NAMES],
        platforms=tuple(dict.fromkeys(name[:80] for name in case.facts.platforms))[:MAX_NAMES],
        root_cause=draft.root_cause or None,
        citations=citations_of(draft.root_cause, evidence) if written_by != "rules" else (),
        suspects=found,
        missing=tuple(dict.fromkeys((*draft.missing, *unanswered))),
        ruled_out=draft.ruled_out,
        outside=_outside(case),
        how_to_confirm=draft.how_to_confirm,
        labels=draft.labels,
        tried=tuple(filter(None, (_attempt(entry, state) for entry in state.trace)))[:6],
        confidence=round(confidence, 4),
        support=None if support is None else round(support, 4),
        written_by=written_by,
        doubts=_doubts(case, found) if written_by != "rules" else (),
        notes=_notes(case, kind, written_by, fallback),
        repository=state.repository,
        commit=state.sha,
        citation_audit=checked.audit,
        evaluation=evaluation,
    )


def _each_once(places: Iterable[Suspect]) -> tuple[Suspect, ...]:
    """Return the places without a second one of the same lines, or near by in the same function."""

    def is_same(place: Suspect, other: Suspect) -> bool:
        apart = max(place.start_line - other.end_line, other.start_line - place.end_line)
        near = apart <= (_NEAR if place.symbol is not None and place.symbol == other.symbol else 0)
        return place.path == other.path and near

    kept: list[Suspect] = []
    for place in places:
        if not any(is_same(place, other) for other in kept):
            kept.append(place)
    return tuple(kept)


def _notes(case: Case, kind: Kind, written_by: str, fallback: str | None) -> tuple[str, ...]:
    """Return the notes that explain to a reader how the report was made."""
    state = case.state
    reasons = filter(None, (*state.metrics.fallbacks, fallback))
    fallbacks = (f"Rules judged instead of the model: {reason}"[:300] for reason in reasons)
    # Rules count words without understanding them.
    is_unsure = kind == "bug" and written_by == "rules" and not is_unreadable(state)
    rather = acting_kind(case.title, case.body, case.facts).rather if is_unsure else None
    doubt = (f"This is probably a {rather}; it was searched as a bug, because it may be one.",) if rather else ()
    return (*state.notes, *doubt, *fallbacks, *state.metrics.remarks)


def conclude(report: TriageReport, gate: Gate, case: Case, claim_from: float) -> TriageReport:
    """Return the final report: remove what it may not claim, and note the reason."""
    if report.kind == "security":
        return without_code_references(report)
    review = gate.outcome != "accept"
    # A request is of the simple tier and gets no critic, so only facts can name the place of its change.
    placed = report.kind == "feature" and report.statement == "claim" and report.claim_strength >= claim_from
    if not review and not placed and (case.state.tier == "simple" or report.verdict == TOO_THIN):
        silent: NotFoundReason = "not_searched" if report.verdict == NOT_SEARCHED else "text_too_short"
        not_found: NotFoundReason = silent if report.kind == "bug" else "not_a_bug_report"
        return without_claim(report).model_copy(update={"not_found": not_found})
    if is_unreadable(case.state):
        # No part of the report implies that code was searched.
        verdict = say("The code could not be read, so the report names no place.")
        unread = {**_NO_CODE, "verdict": verdict, "not_found": "code_not_readable", "requires_human_review": True}
        unread |= {"review_message": gate.message[:300], "status": "needs_clarification"}
        return report.model_copy(update=unread)
    objected = report.is_explained and is_rejected(case.state)
    may_claim = not review and report.claim_strength >= claim_from and report.root_cause and report.suspects
    if may_claim and not objected:
        return report
    share, needed = f"{report.claim_strength:.0%}", f"{claim_from:.0%}"
    weak = say("Its place has a probability of {share}; a claim needs {needed}.", share=share, needed=needed)
    because = "" if objected or report.claim_strength >= claim_from else weak
    return without_claim(report, because).model_copy(
        update={
            "not_found": _not_found(report, case),
            "requires_human_review": review,
            "review_message": gate.message[:300],
            "status": "needs_clarification" if review else "success",
        }
    )


def without_code_claims(report: TriageReport) -> TriageReport:
    """Return a report without a model's statements about code that was not searched."""
    verdict = NOT_SEARCHED if report.kind == "bug" else _plain_verdict(report.kind, ())
    return report.model_copy(update={**_NO_CODE, "verdict": verdict})


def safe_kind(kind: Kind, case: Case) -> Kind:
    """Return the brain's kind, unless rules or the first reading say security: a text may persuade a model."""
    read_as = case.state.reading.kind if case.state.reading else kind
    return "security" if "security" in (kind, read_as) or may_be_security(parts_of(case.title, case.body)) else kind


def without_code_references(report: TriageReport) -> TriageReport:
    """Return a security report without references to code, because most of its fields are public."""
    kept = "kind severity confidence written_by repository commit evaluation status requires_human_review"
    audit = report.citation_audit.model_copy(update={"dropped": ()})
    given = {name: getattr(report, name) for name in kept.split()}
    return TriageReport(**given, verdict=_WITHHELD, citation_audit=audit)


def _plain_verdict(kind: Kind, suspects: Sequence[Suspect]) -> str:
    """Return a verdict to replace a headline that failed its check."""
    if kind != "bug" and (kind != "docs" or not suspects):
        return f"This reads like a {kind} report." if kind in ("security", "spam") else _READS_LIKE[kind]
    if not suspects:
        return say("I could not locate this in the code.")
    symbol = f" — `{suspects[0].symbol}`" if suspects[0].symbol else ""
    return say("Likely in `{path}`{symbol}.", path=suspects[0].path, symbol=symbol)[:300]


def _doubts(case: Case, suspects: Sequence[Suspect]) -> tuple[str, ...]:
    """Return the objections of the program and of a critic to a model's first place."""
    state, doubts = case.state, list[str]()
    if state.search_prefers and suspects and suspects[0].path != state.search_prefers:
        search, model = map(_end_of, (state.search_prefers, suspects[0].path))
        doubts.append(
            say(
                "The search and the model disagree: the search ranks `{search}` first, the model `{model}`.",
                search=search,
                model=model,
            )
        )
    verdict = state.critic_feedback
    if verdict is not None and verdict.verdict == "REJECTED":
        gap = next(iter(verdict.gaps), say("it names no gap that could be checked"))
        doubts.append(say("A critical second reading objects: {gap}", gap=gap)[:300])
        if verdict.better_place:
            doubts.append(say("It would look at {place} first.", place=verdict.better_place)[:300])
    return tuple(doubts)


def _end_of(path: str) -> str:
    """Return a long path without its first folders, so that a sentence with two paths keeps its marks."""
    while len(path) > _PATH and "/" in path.removeprefix("…/"):
        path = f"…/{path.removeprefix('…/').partition('/')[2]}"
    return path if len(path) <= _PATH else f"…{path[-_PATH:]}"


def _suspect(number: str, why: str, evidence: Mapping[str, Evidence], case: Case) -> Suspect | None:
    found = evidence.get(number)
    if found is None or found.kind != "code" or found.locator.path is None:
        return None
    start, end = found.locator.start_line or 0, found.locator.end_line or 0
    return Suspect(
        path=found.locator.path,
        start_line=start,
        end_line=end,
        symbol=found.symbol,
        score=found.score,
        why=why,
        evidence=number,
        quote=found.quote,
        quote_start=start,
        quote_end=end,
        checked=True,
        named_by_reporter=names(f"{case.title}\n{case.body}", found.locator.path, found.symbol),
        pointed=is_named_by_maintainer(found),
    )


def _outside(case: Case) -> tuple[OutsideSource, ...]:
    """Return the relevant sources outside the repository, best first."""
    found = (item for item in case.evidence if item.evidence.kind in OUTSIDE)
    best = sorted(found, key=lambda item: -item.evidence.score)[:MAX_NAMES]
    return tuple(
        OutsideSource(
            title=mask(item.evidence.quote.partition("\n")[0])[:120],
            address=(item.evidence.locator.url or "")[:300],
            found_by=next(iter(item.evidence.reasons), "").removeprefix("from ")[:80],
            evidence=item.id,
        )
        for item in best
    )


def _attempt(entry: TraceEntry, state: BugTriageState) -> str | None:
    """Return what a step searched or compared, as text from the trace; None if it did neither."""
    if entry.node == "codebase_search" and entry.decision in (NOT_READABLE, "failed"):
        return f"{entry.reason or 'The search of the code failed'}."
    answer = "no answer" if entry.decision == "failed" else _count(entry, "results", "result")
    if entry.node == "codebase_search":
        calls = entry.counts.get("calls", 0)
        looked_up = f"; a model queried it with {calls} calls" if calls else ""
        wider = " with a broader query" if entry.counts.get("augmented") else ""
        found = f"{_count(entry, 'candidates', 'place')} strong enough to consider"
        return f"Searched the code{wider}: {found}{looked_up}."
    if entry.node == "web_search":
        return f"Searched outside the repository: {answer}."
    if entry.node in state.tools:
        return f"Asked {entry.node}: {answer}."
    if entry.node == "investigator" and not entry.error:
        # Quoted phrases are counted as messages, because some are.
        number = entry.counts.get("errors", 0)
        plural = "s" * (number != 1)
        messages = f"{number} message{plural} or quotation{plural}" if number else "no error message"
        return f"Read the issue: {_count(entry, 'traces', 'stack trace')}, {messages}."
    return None


def _count(entry: TraceEntry, name: str, thing: str) -> str:
    number = entry.counts.get(name, 0)
    return f"{number} {thing}{'s' * (number != 1)}" if number else f"no {thing}"


def _not_found(report: TriageReport, case: Case) -> NotFoundReason:
    facts, audit = case.facts, report.citation_audit
    if report.verdict == NOT_SEARCHED:
        return "not_searched"
    if not report.suspects:
        if audit.fabricated or audit.failed:
            return "claims_failed_checking"
        silent = facts.words < SHORT_TEXT and not (facts.traces or facts.errors or facts.code_blocks)
        return "text_too_short" if silent else "no_candidates"
    if case.state.search_prefers and report.suspects[0].path != case.state.search_prefers:
        return "search_and_model_disagree"
    second = report.suspects[1].score if len(report.suspects) > 1 else 0.0
    return "several_equal_candidates" if second >= 0.95 * report.suspects[0].score else "only_weak_candidates"
