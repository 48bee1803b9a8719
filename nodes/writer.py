"""Write the report: the brain proposes a draft, and the program checks, completes and gates it."""

from __future__ import annotations

import time
from dataclasses import replace

from langgraph.runtime import Runtime

from nodes.brains import judge
from nodes.candidates import CANDIDATES
from nodes.case import load_case, spent, traced
from nodes.changes import add_history
from nodes.compose import compose, conclude, withheld, without_sight
from nodes.context import Case, Context, Judged
from nodes.guards import is_unreadable
from nodes.judgements import Draft
from nodes.past_issues import PastIssueTitles, add_past_issues
from nodes.report import CitationAudit, Evaluation, TriageReport
from nodes.search.errors import SearchError
from nodes.search.survey import Survey
from nodes.state import BugTriageState, Metrics, RetryReason, TraceEntry, Update
from nodes.statement import TOO_THIN, is_refuted, is_thin, reporter_query, state_facts, with_pointer, without_claim
from nodes.trust.citations import Checked, check, penalised
from nodes.trust.evaluator import evaluate
from nodes.trust.prose import ProseCheck
from nodes.trust.quality_gate import LOW_CONFIDENCE, Gate, Signals, gate

_PLACELESS = frozenset({"security", "spam"})
_NEEDS_NO_CODE = frozenset({"feature", "question", "spam"})


async def writer(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Draft, check every citation, score, and either finish or send the draft back for a wider search."""
    began = time.perf_counter()
    context = runtime.context
    context.listener("writer", "writing the report")
    case = await load_case(state, context)
    judged = await judge(context, case, lambda brain: brain.write(case))
    checked = await _checked(judged, case, context)
    raw = (
        min(judged.value.confidence, state.search_confidence)
        if _needs_search(case, judged)
        else judged.value.confidence
    )
    confidence = penalised(raw, checked.audit)
    evaluation = evaluate(checked.draft, checked.audit, state.search_confidence)
    composed = compose(
        case, checked, evaluation, confidence=confidence, written_by=judged.judged_by, fallback=judged.fallback
    )
    report = await _stated(composed, case, context)
    verdict = _gate(case, report, context.claim_from)
    update: Update = {"metrics": _measured(judged, report, verdict, state)}
    if verdict.outcome == "retry":
        update |= {"best_draft": _better(report, state)}
        update |= {"retry_count": state.retry_count + 1, "retry_pending": True}
    else:
        chosen = conclude(_better(report, state), verdict, case, context.claim_from)
        dated, history = await add_history(chosen, case, context)
        whole, past = await add_past_issues(dated, case, context, history)
        final = _drafted(whole, context)
        update["findings"] = (*history, *past)
        update |= {"report": final, "requires_human_review": final.requires_human_review, "best_draft": None}
        update |= {"clarification_question": final.review_message}
    update["trace"] = (_entry(report, verdict, judged, state, began),)
    return update


async def _checked(judged: Judged[Draft], case: Case, context: Context) -> Checked:
    evidence = {item.id: item.evidence for item in case.evidence}
    others = PastIssueTitles(context.past) if context.past is not None else None
    issue = f"{case.title}\n{case.body}"
    checked = await check(judged.value, evidence, context.code, issue, others)
    if judged.judged_by == "rules":  # the program wrote their prose
        return checked
    standing = [evidence[name] for name in checked.standing]
    known = [f"{e.quote} {e.locator.path or ''} {e.symbol or ''} {' '.join(e.reasons)}\n" for e in standing]
    prose = ProseCheck(context.code, (issue, *known), [e.locator.path for e in standing if e.locator.path])
    draft = await prose.draft(checked.draft)
    dropped = (*checked.audit.dropped, *(line[:300] for line in prose.dropped))
    return replace(checked, draft=draft, audit=checked.audit.model_copy(update={"dropped": dropped}))


async def _stated(report: TriageReport, case: Case, context: Context) -> TriageReport:
    """Return the report with its facts and what they allow it to state."""
    if is_unreadable(case.state):
        return report
    searched = _was_searched(case.state)
    report = report if searched or report.written_by == "rules" else without_sight(report)
    if report.kind in _PLACELESS or _is_thin(report, case):
        thin = {"verdict": TOO_THIN} if report.kind == "bug" else {}
        update = {"suspects": (), "root_cause": None, "missing": report.missing[:1], **thin}
        return report.model_copy(update=update)
    try:
        survey = await context.code.survey(reporter_query(case, CANDIDATES))
    except SearchError:
        return without_claim(report) if searched else without_sight(report)
    if report.kind != "bug":
        return await with_pointer(report, survey, context.code)
    if searched:
        return await _with_facts(report, survey, case, context)
    return report if case.state.tier == "simple" else await _as_found(report, survey, context)


async def _as_found(report: TriageReport, survey: Survey, context: Context) -> TriageReport:
    """Return the program's own places with their facts, for a report that was written before any search."""
    if not survey.leads:
        return without_sight(report)
    stated = await state_facts(without_sight(report), survey, context.code, ordered=True)
    tried = (*stated.tried, "Searched the code for the words of the issue alone.")[-6:]
    sure = round(penalised(survey.confidence, report.citation_audit), 4)
    return stated.model_copy(update={"confidence": sure, "tried": tried})


async def _with_facts(report: TriageReport, survey: Survey, case: Case, context: Context) -> TriageReport:
    by_rules = _is_by_rules(report, case)
    if not by_rules:
        # If a model names no place, the program's places stay; the low confidence prevents a claim about them.
        return await state_facts(report, survey, context.code, ordered=not report.suspects)
    stated = await state_facts(report, survey, context.code, ordered=True)
    if is_refuted(case, stated):
        return without_claim(stated)
    return stated.model_copy(update={"confidence": round(penalised(survey.confidence, report.citation_audit), 4)})


def _is_by_rules(report: TriageReport, case: Case) -> bool:
    """Return whether rules also ranked the places: rules that replace a model retain its order."""
    searches = [one for one in case.state.findings if one.agent_name == "codebase_search"]
    return report.written_by == "rules" and all(one.judged_by == "rules" for one in searches)


def _is_thin(report: TriageReport, case: Case) -> bool:
    """Return whether an issue is too short to search by; never if a model inferred more from it than rules can."""
    return _is_by_rules(report, case) and is_thin(case)


def _needs_search(case: Case, judged: Judged[Draft]) -> bool:
    """Return whether the confidence is about a place in the code, so that a model's number alone is not sufficient."""
    return _was_searched(case.state) or (judged.judged_by != "rules" and judged.value.kind == "bug")


def _was_searched(state: BugTriageState) -> bool:
    return any(entry.node == "codebase_search" and not entry.error for entry in state.trace)


def _gate(case: Case, report: TriageReport, claim_from: float) -> Gate:
    state = case.state
    thin = _is_thin(report, case)
    needs_no_code = report.kind in _NEEDS_NO_CODE or thin or (state.tier == "simple" and not _was_searched(state))
    if needs_no_code and state.critic_feedback is None:
        return Gate("accept")
    searches = [entry for entry in state.trace if entry.node == "codebase_search"]
    counts = searches[-1].counts if searches else {}
    empty = bool(searches) and not counts.get("candidates")
    feedback = state.critic_feedback
    signals = Signals(
        confidence=report.confidence,
        citation_issue=bool(report.citation_audit.fabricated or report.citation_audit.failed),
        hallucination=bool(report.citation_audit.fabricated),
        unreadable=is_unreadable(state),
        critic_retry=feedback is not None and feedback.verdict == "REJECTED",
        conflict=feedback is not None and bool(feedback.contradictions),
        nothing_found=empty and not counts.get("filtered_out"),
        all_filtered=empty and bool(counts.get("filtered_out")),
        threshold=min(claim_from, LOW_CONFIDENCE),
    )
    rounds_left = state.iterations < state.max_iterations
    return gate(signals, retry_count=state.retry_count, max_retries=state.max_retries if rounds_left else 0)


def _better(report: TriageReport, state: BugTriageState) -> TriageReport:
    """Return the better of a retry and the draft before it; the narrower search wins a tie.

    A draft from before the first search never wins, because it was written without the code.
    """
    kept = state.best_draft
    if kept is None or (_was_searched(state) and _is_blind(state)):
        return report
    return kept if kept.confidence >= report.confidence else report


def _is_blind(state: BugTriageState) -> bool:
    """Return whether every earlier draft was written before the first search."""
    nodes = [entry.node for entry in state.trace if not (entry.node == "codebase_search" and entry.error)]
    return "writer" not in nodes[nodes.index("codebase_search") :]


def _drafted(report: TriageReport, context: Context) -> TriageReport:
    drafts = {"github_comment": context.renderer.comment(report), "ticket": context.renderer.ticket(report)}
    return report.model_copy(update=drafts)


def _measured(judged: Judged[Draft], report: TriageReport, verdict: Gate, state: BugTriageState) -> Metrics:
    audit = report.citation_audit
    retries: tuple[RetryReason, ...] = ()
    if verdict.cause is not None:
        retries = (
            RetryReason(
                iteration=state.retry_count + 1,
                confidence=report.confidence,
                reason=verdict.cause,
                citation_issue=bool(audit.fabricated or audit.failed),
                hallucination=bool(audit.fabricated),
            ),
        )
    return spent(judged).model_copy(
        update={
            "confidence_history": (report.confidence,),
            "retry_reasons": retries,
            "evaluation": report.evaluation,
            "last_citation_audit": audit,
            "claims_dropped": len(audit.dropped),
        }
    )


def _entry(
    report: TriageReport, verdict: Gate, judged: Judged[Draft], state: BugTriageState, began: float
) -> TraceEntry:
    audit = report.citation_audit
    return traced(
        "writer",
        state,
        judged,
        began,
        decision=verdict.outcome,
        confidence=report.confidence,
        reason=verdict.cause or verdict.message,
        counts={
            "citations": audit.citations,
            "invalid_citations": len(audit.fabricated) + len(audit.failed),
            "uncited_claims": audit.uncited_claims,
            "dropped": len(audit.dropped),
            "overall_score": round(100 * report.evaluation.overall_score),
            "answer_length": len(f"{report.verdict} {report.root_cause or ''}".strip()),
            "retry_count": state.retry_count + (verdict.outcome == "retry"),
        },
    )


def bare_report(state: BugTriageState, reason: str) -> TriageReport:
    """Return a minimal report after the writer failed: the best draft, or the state of the search."""
    note = f"Writing the report failed: {reason}"[:300]
    kept = state.best_draft or TriageReport(
        verdict="I could not finish this triage.",
        kind=state.reading.kind if state.reading else "bug",
        repository=state.repository,
        commit=state.sha,
        citation_audit=CitationAudit(),
        evaluation=Evaluation(),
    )
    failed = kept.model_copy(
        update={
            "root_cause": None,
            "not_found": "claims_failed_checking",
            "status": "needs_clarification",
            "requires_human_review": True,
            "review_message": note,
            "notes": (*kept.notes, note),
            "github_comment": "The report could not be written. A maintainer should look at this issue.",
        }
    )
    return withheld(failed) if "security" in (kept.kind, state.reading and state.reading.kind) else failed
