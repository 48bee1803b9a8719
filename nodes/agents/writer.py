"""Write the report: the brain proposes a draft, and the program checks, completes and gates it."""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from langgraph.runtime import Runtime

from nodes.agents.case import load_case, metrics_of, trace_entry
from nodes.agents.writing import acceptance, statement
from nodes.agents.writing.acceptance import Gate, is_by_rules, was_searched
from nodes.agents.writing.compose import compose, conclude, without_code_claims
from nodes.agents.writing.explanation import completed, is_same_place, proposed, within_words
from nodes.agents.writing.related import add_history, add_past_issues, add_related_changes, title_of
from nodes.brains.fallback import is_model_asked, judge
from nodes.brains.rules.write import kind_labels
from nodes.context.brain import Case, Judged
from nodes.context.ports import Context
from nodes.evidence import Evidence
from nodes.guards import is_rejected, is_unreadable
from nodes.issue.asked import questions
from nodes.judgements import Draft, DraftSuspect
from nodes.limits import CANDIDATES
from nodes.messages import messages_of
from nodes.report import TriageReport
from nodes.search.git.errors import SearchError
from nodes.search.history.claims import read_claims
from nodes.search.sentences import say
from nodes.search.types import Survey
from nodes.state import AgentFinding, BugTriageState, Metrics, RetryReason, TraceEntry, Update
from nodes.trust.citations import Checked, check, penalised
from nodes.trust.prose import ProseCheck

_PLACELESS = frozenset({"security", "spam"})
_CHANGES_CODE = frozenset({"feature", "docs"})
"""Kinds for which a model's explanation is about the place of a change and not about a cause."""

_UNREVIEWED = say("No second reading tried to refute it, so it is not claimed.")


async def writer(state: BugTriageState, runtime: Runtime[Context]) -> Update:
    """Draft, check every citation, score, and either finish or send the draft back for a wider search."""
    started = time.perf_counter()
    context = runtime.context
    context.listener("writer", "writing the report")
    case = await load_case(state, context)
    judged = await _drafted_by_reader(case, context) or await judge(context, case, lambda brain: brain.write(case))
    checked = await _checked(judged, case, context)
    shown, support = acceptance.after_verdict(state, context.agreement)
    confidence = penalised(_raw_confidence(case, judged, checked, shown), checked.audit)
    support = _raw_support(case, judged, checked, support)
    evaluation = acceptance.evaluate(checked.draft, checked.audit, state.search_confidence)
    composed = compose(
        case,
        checked,
        evaluation,
        confidence=confidence,
        support=None if support is None else penalised(support, checked.audit),
        written_by=judged.judged_by,
        fallback=judged.fallback,
    )
    report = await _stated(composed, case, context)
    verdict = acceptance.check_draft(case, report, context.claim_from, context.agreement)
    update: Update = {"metrics": _measured(judged, report, verdict, state)}
    if verdict.outcome == "retry":
        update |= {"best_draft": acceptance.better_draft(report, state), "findings": _rejected(report, judged)}
        update |= {"retry_count": state.retry_count + 1, "retry_pending": True}
    else:
        chosen = conclude(acceptance.better_draft(report, state), verdict, case, context.claim_from)
        dated, history = await add_history(chosen, case, context)
        whole, past = await add_past_issues(dated, case, context, history)
        final = statement.naming_attached(await add_related_changes(whole, context), context)
        final = _drafted(final, state, context)
        update |= {"findings": (*history, *past), "report": final, "best_draft": None}
        update |= {"requires_human_review": final.requires_human_review, "clarification_question": final.review_message}
    update["trace"] = (_entry(report, verdict, judged, state, started),)
    return update


def _drafted(report: TriageReport, state: BugTriageState, context: Context) -> TriageReport:
    """Return the report with the messages of its sentences, and its drafts."""
    sentences = (report.verdict, report.unconfirmed_because, *report.doubts, *report.missing)
    reasons = (related.why for related in report.related)
    messages = messages_of(*sentences, *reasons, *(fact.says for fact in report.facts))
    for exchange in state.human_exchanges:
        messages |= exchange.messages
    report = report.model_copy(update={"messages": messages})
    comment, ticket = context.renderer.comment(report, context.language), context.renderer.ticket(report)
    return report.model_copy(update={"github_comment": comment, "ticket": ticket})


async def _drafted_by_reader(case: Case, context: Context) -> Judged[Draft] | None:
    """Return the draft of the model that read the code, without another call; None if a writer is needed."""
    if not is_model_asked(context, case.state):
        return None
    by_rules = await context.rules.write(case)
    draft = proposed(by_rules.value, case)
    read = next((finding.judged_by for finding in reversed(case.state.searches) if finding.submitted is not None), "")
    return None if draft is None else replace(by_rules, value=draft, judged_by=read)


async def _checked(judged: Judged[Draft], case: Case, context: Context) -> Checked:
    evidence = {item.id: item.evidence for item in case.evidence}
    others = partial(title_of, context.past) if context.past is not None else None
    issue = f"{case.title}\n{case.body}"
    if judged.judged_by == "rules":  # the program wrote the prose of drafts by rules
        return await check(judged.value, evidence, context.code, issue, others)
    checked = await check(completed(judged.value, case), evidence, context.code, issue, others)
    if not checked.draft.root_cause and judged.value.root_cause:
        # The writer's own words did not pass; those of the model that read the code may.
        again = completed(judged.value.model_copy(update={"root_cause": ""}), case)
        second = await check(again, evidence, context.code, issue, others)
        checked = replace(second, audit=checked.audit) if second.draft.root_cause else checked
    cause, longer = within_words(checked.draft.root_cause)
    checked = replace(checked, draft=checked.draft.model_copy(update={"root_cause": cause}))
    standing = [evidence[name] for name in checked.standing]
    known = [f"{e.quote} {e.locator.path or ''} {e.symbol or ''} {' '.join(e.reasons)}\n" for e in standing]
    prose = ProseCheck(context.code, (issue, *known), [e.locator.path for e in standing if e.locator.path])
    draft = _in_read_order(await prose.draft(checked.draft), evidence, case)
    draft = draft.model_copy(update={"labels": await _labels(draft, case, context)})
    longer = tuple(f"too long: {line}" for line in longer)
    dropped = (*checked.audit.dropped, *(line[:300] for line in (*longer, *prose.dropped)))
    return replace(checked, draft=draft, audit=checked.audit.model_copy(update={"dropped": dropped}))


def _raw_confidence(case: Case, judged: Judged[Draft], checked: Checked, searched: float) -> float:
    """Return the confidence before penalties; a model's number only lowers that of the search."""
    own, by_model = judged.value.confidence, judged.judged_by != "rules"
    # A model's number alone is not sufficient for a place in the code.
    if not was_searched(case.state) and not (by_model and judged.value.kind == "bug"):
        return own
    if by_model and _moved(case, checked):
        # Only the writer prefers this file, so its confidence is at most the remaining probability.
        return min(own, searched, round(1 - searched, 4))
    return min(own, searched)


def _raw_support(case: Case, judged: Judged[Draft], checked: Checked, support: float | None) -> float | None:
    """Return how far search and model support the first place before penalties; None if only the confidence counts."""
    if support is None or not was_searched(case.state) or (judged.judged_by != "rules" and _moved(case, checked)):
        return None
    return support if judged.judged_by == "rules" else min(judged.value.confidence, support)


def _moved(case: Case, checked: Checked) -> bool:
    """Return whether the draft's first file differs from the first file of the model that read the code."""
    first, read = checked.draft.suspects[:1], case.state.readings[-1:]
    if not (first and read and case.state.search_confidence):
        return False
    path = next((item.evidence.locator.path for item in case.evidence if item.id == first[0].evidence), None)
    return bool(path) and next(iter(read[0].relevant_files), "") not in ("", path)


def _in_read_order(draft: Draft, evidence: Mapping[str, Evidence], case: Case) -> Draft:
    """Return a model's draft with its places in the order in which the model that read the code submitted them.

    The confidence is about the first of them. A writer that answers an objection may move another place up.
    """
    given = case.state.submitted
    if given is None or is_rejected(case.state):
        return draft
    by_key = {item.key: item for item in evidence.values()}
    read = [by_key[place.evidence] for place in given.places if place.evidence in by_key]

    def position(suspect: DraftSuspect) -> int:
        here = evidence[suspect.evidence]
        if here in read:
            return read.index(here)
        same = [number for number, place in enumerate(read) if is_same_place(here, place)]
        # A writer may name another line of a file that was submitted.
        same += [number for number, place in enumerate(read) if place.locator.path == here.locator.path]
        return next(iter(same), len(read))

    return draft.model_copy(update={"suspects": tuple(sorted(draft.suspects, key=position))})


async def _labels(draft: Draft, case: Case, context: Context) -> tuple[str, ...]:
    """Return the kind's label, and the further labels that a model proposes and the repository has."""
    own = kind_labels(case, draft.kind)
    proposed = [label for label in draft.labels if label.casefold() not in own]
    if context.labels is None or not proposed:  # reading the repository's labels costs a request
        return own
    known = {name.casefold(): name for name in await context.labels()}
    return tuple(dict.fromkeys((*own, *(known[item.casefold()] for item in proposed if item.casefold() in known))))


def _rejected(report: TriageReport, judged: Judged[Draft]) -> tuple[AgentFinding, ...]:
    """Return the finding about a model's rejected draft, for the supervisor."""
    dropped = "; ".join(report.citation_audit.dropped)
    summary = "A draft was rejected, because a program could not confirm all of it."
    details = f"Removed: {dropped}"[:600] if dropped else ""
    finding = AgentFinding(agent_name="writer", summary=summary, details=details, judged_by=judged.judged_by)
    return () if judged.judged_by == "rules" else (finding,)


async def _stated(report: TriageReport, case: Case, context: Context) -> TriageReport:
    """Return the report with its facts and what they allow it to state."""
    if is_unreadable(case.state):
        return report
    searched = was_searched(case.state)
    report = report if searched or report.written_by == "rules" else without_code_claims(report)
    survey: Survey | None = None
    if report.kind not in _PLACELESS:
        with suppress(SearchError):
            survey = await context.code.survey(statement.reporter_query(case, CANDIDATES))
    # A short report that names a text or a route of the program, or a version of a manifest, names a place.
    facts = survey.facts if survey else ()
    quoted = [fact for fact in facts if fact.kind == "quoted_here"]
    is_named = any(fact.is_named_line or (fact.strong and (fact.words or "").startswith("/")) for fact in quoted)
    is_named = is_named or any(map(statement.is_of_version, facts))
    if report.kind in _PLACELESS or (acceptance.is_too_thin(report, case) and not is_named):
        thin = {"verdict": statement.TOO_THIN} if report.kind == "bug" else {}
        placeless = {"suspects": (), "root_cause": None, "missing": report.missing[:1], **thin}
        report = report.model_copy(update=placeless)
        claims = read_claims(case.title, case.body)
        is_about_changes = report.kind == "bug" and bool(claims.versions or claims.commits or claims.numbers)
        return statement.state_changes(report, survey) if survey is not None and is_about_changes else report
    if survey is None:
        return statement.without_claim(report) if searched else without_code_claims(report)
    explained = searched and report.is_explained and report.kind in _CHANGES_CODE
    if report.kind != "bug" and not explained:
        asked = questions(case.title, case.body) if context.answers_questions and report.kind == "question" else ()
        return await statement.with_pointer(report, survey, context.code, asked)
    if searched:
        return await _with_facts(report, survey, case, context)
    return report if case.state.tier == "simple" else await _with_search_result(report, survey, context)


async def _with_search_result(report: TriageReport, survey: Survey, context: Context) -> TriageReport:
    """Return the program's own places with their facts, for a report that was written before any search."""
    unclaimed = without_code_claims(report)
    if not survey.leads:
        return unclaimed
    stated = await statement.state_facts(unclaimed, survey, context.code, ordered=True)
    tried = (*stated.tried, "Searched the code for the words of the issue alone.")[-6:]
    sure = round(penalised(survey.confidence, report.citation_audit), 4)
    return stated.model_copy(update={"confidence": sure, "support": None, "tried": tried})


async def _with_facts(report: TriageReport, survey: Survey, case: Case, context: Context) -> TriageReport:
    by_rules, by_model = is_by_rules(report, case), report.written_by != "rules"
    # If a model names no place, the program's places stay; the low confidence prevents a claim about them.
    stated = await statement.state_facts(report, survey, context.code, ordered=by_rules or not report.suspects)
    if by_model and report.root_cause and case.state.critic_feedback is None:
        # A supervisor may skip the critic. What a model says about a mechanism is claimed only after an attempt to
        # refute it.
        return statement.without_claim(stated, _UNREVIEWED)
    if not by_rules:
        return statement.without_claim(stated) if not by_model and is_rejected(case.state) else stated
    if statement.is_refuted(case, stated):
        return statement.without_claim(stated)
    return stated.model_copy(update={"confidence": round(penalised(survey.confidence, report.citation_audit), 4)})


def _measured(judged: Judged[Draft], report: TriageReport, verdict: Gate, state: BugTriageState) -> Metrics:
    audit = report.citation_audit
    update: dict[str, object] = {
        "confidence_history": (report.confidence,),
        "evaluation": report.evaluation,
        "last_citation_audit": audit,
        "claims_dropped": len(audit.dropped),
    }
    if verdict.cause is not None:
        reason = RetryReason(
            iteration=state.retry_count + 1,
            confidence=report.confidence,
            reason=verdict.cause,
            citation_issue=bool(audit.fabricated or audit.failed),
            hallucination=bool(audit.fabricated),
        )
        update["retry_reasons"] = (reason,)
    return metrics_of(judged).model_copy(update=update)


def _entry(
    report: TriageReport, verdict: Gate, judged: Judged[Draft], state: BugTriageState, started: float
) -> TraceEntry:
    audit = report.citation_audit
    return trace_entry(
        "writer",
        state,
        started,
        judged,
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
