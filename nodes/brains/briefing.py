"""Format the state for the supervisor as in PRD section 4, and a case for the other roles within 8,000 tokens."""

from collections.abc import Iterable, Mapping, Sequence

from nodes.brains.fence import compress, fence, squeeze
from nodes.brains.shared import build_message, join_sections
from nodes.context.brain import Case
from nodes.evidence import Evidence, NumberedEvidence
from nodes.guards import has_submitted
from nodes.judgements import Submission
from nodes.search.types import Passage
from nodes.state import AgentFinding, BugTriageState, HumanExchange
from nodes.trust.secrets import mask
from prompts.texts import Role

CHECKED = "a program checked: "
"""Prefix of the reason of evidence that a fact points to."""
# Characters per section; together with the instructions they stay below 8,000 tokens.
EVIDENCE = 2_800
"""Characters of the evidence of a briefing."""
_ANSWERS = 1_400
"""Further characters for what was looked up after a rejection."""
_SHORTEST = 240
"""Minimum characters of each piece of evidence, however many a model cited."""
LATER = 150
"""Token limit of each later message: redirects, answers from people, the critic's verdict, and a rejected draft."""
_FINDINGS, _FINDINGS_LATER = 3_000, 1_600
_EXCHANGES = 2_000
_REJECTED = 1_500


def build_supervisor_context(state: BugTriageState, *, fenced: bool = False) -> str:
    """Build the supervisor's human message; the redirect section is omitted if there are no redirects.

    If ``fenced``, findings and exchanges are marked as data, because they repeat the words of strangers.
    """
    findings = _format_findings(state.findings)
    exchanges = _format_human_exchanges(state.human_exchanges, state.pending_exchange)
    if fenced:
        findings = fence("findings", findings) if state.findings else findings
        asked = state.human_exchanges or state.pending_exchange
        exchanges = fence("exchanges", exchanges) if asked else exchanges
    redirect_block = _format_redirect_instructions(state.redirect_instructions)
    redirect_section = f"## Redirect instructions\n{redirect_block}" if redirect_block else ""
    questions_asked = len([e for e in state.human_exchanges if e.answer is not None])
    return (
        f"{redirect_section}\n\n"
        f"## Current state\n"
        f"Iteration: {state.iterations} / {state.max_iterations}\n"
        f"Questions asked so far: {questions_asked} / 2\n\n"
        f"## Findings so far\n"
        f"{findings}\n\n"
        f"## Human exchanges so far\n"
        f"{exchanges}\n\n"
        f"## Your task\n"
        "Decide the next step. Output JSON with these fields:\n"
        '- next_node: one of "investigator", "codebase_search", "web_search", '
        '"critic", "human_input", "writer", "end"\n'
        "- reasoning: your chain-of-thought for this decision (1-3 sentences)\n"
        '- question: the question to ask the user (only when next_node == "human_input", '
        "otherwise null)\n"
        "- question_context: additional context to show alongside the question (null otherwise)\n"
        "- confidence: your confidence in the current root cause hypothesis (0.0-1.0). "
        "Use 0.0 if no hypothesis yet."
    ).strip()


def _format_findings(findings: Sequence[AgentFinding]) -> str:
    if not findings:
        return "No findings yet."
    return "\n\n".join(
        f"[{n}] {f.agent_name} (confidence: {f.confidence:.0%})\n"
        f"Summary: {f.summary}\n"
        f"Details: {f.details}\n"
        f"Relevant files: {', '.join(f.relevant_files) or 'none'}"
        for n, f in enumerate(findings, 1)
    )


def _format_human_exchanges(exchanges: Sequence[HumanExchange], pending: HumanExchange | None) -> str:
    parts = [
        f"Q: {e.question}\nContext: {e.context}\nA: {e.answer if e.answer is not None else '(awaiting answer)'}"
        for e in (*exchanges, *([pending] if pending is not None else []))
    ]
    return "\n\n".join(parts) if parts else "None."


def _format_redirect_instructions(instructions: Sequence[str]) -> str:
    lines = (f"{number}. {instruction}" for number, instruction in enumerate(instructions, 1))
    heading = "## Active redirect instructions (follow these above all else)"
    return "\n".join((heading, *lines)) if instructions else ""


def build_briefing(case: Case, shown: Sequence[NumberedEvidence] = (), role: Role = "writer") -> str:
    """Build the human message of a role, except supervisor and readers; all text from strangers is fenced."""
    state = case.state
    quoted = _quoted(shown, case.bodies)
    evidence = fence("evidence", "\n\n".join(quoted)) if shown else ""
    findings = _format_findings(state.findings)
    if role == "critic" and has_submitted(state):
        # A critic judges what was submitted last, not guesses, and its own verdict has a section.
        earlier = ("investigator", "codebase_search", "critic")
        others = tuple(finding for finding in state.findings if finding.agent_name not in earlier)
        findings = "\n\n".join(filter(None, (_submitted(case), _format_findings(others) if others else "")))
    findings = compress(findings, _FINDINGS_LATER if shown else _FINDINGS)
    asked = bool(state.human_exchanges or state.pending_exchange)
    bodies = [
        f"{name} {body.path}:{body.start_line}-{body.end_line}\n{body.quote}"
        for name, body in case.bodies.items()
        if name in {item.id for item in shown}
    ]
    sections = (
        ("The code around the first places", fence("functions", "\n\n".join(bodies)) if bodies else ""),
        ("Findings so far", fence("findings", findings) if state.findings else ""),
        ("Human exchanges so far", fence("exchanges", exchanges(case)) if asked else ""),
        ("Critic", fence("critic", critique(case)) if state.critic_feedback else ""),
        ("Rejected draft", fence("rejected", compress(rejection(case), _REJECTED)) if state.best_draft else ""),
    )
    parts = (_format_redirect_instructions(state.redirect_instructions), join_sections(sections))
    block = f"## Evidence\n{evidence}" if evidence else ""
    return build_message(case, role, "\n\n".join(filter(None, parts)), block)


def _submitted(case: Case) -> str:
    """Format a submission for its critic: what is claimed, what is to change, and the rival that its reader saw.

    The program's number is left out, because it weighs the search and says nothing about the argument.
    """
    given = case.state.submitted
    if given is None:
        return ""
    ids = {item.evidence.key: item.id for item in case.evidence}
    lines = ["Hypothesis:"]
    lines += [f"- {item.text} [{', '.join(ids[key] for key in item.evidence if key in ids)}]" for item in given.cause]
    lines += ["To change, most likely first:"]
    lines += [f"- {ids[place.evidence]}: {place.why}".rstrip(": ") for place in given.places if place.evidence in ids]
    if given.rival is not None and given.rival.evidence in ids:
        against = f" Against it: {ids[given.against]}." if given.against in ids else ""
        lines.append(f"The strongest rival: {ids[given.rival.evidence]}: {given.rival.why}{against}")
    return "\n".join(lines)


def evidence_for(case: Case) -> tuple[NumberedEvidence, ...]:
    """Return the evidence of a critic's or a writer's briefing.

    What was looked up since the last verdict comes first, because it answers that verdict; then what the model that
    read the code submitted.
    """
    judged = case.state.critic_feedback.on_evidence if case.state.critic_feedback is not None else None
    answers = frozenset(case.state.evidence[judged.evidence :]) if judged is not None else frozenset[str]()
    submitted = case.state.submitted or Submission()
    # The rival and what speaks against it, too: a critic judges both.
    cited, places = frozenset(submitted.cited), frozenset(place.evidence for place in submitted.places)
    room = EVIDENCE + (_ANSWERS if answers else 0)
    if not places:
        return select(case.evidence, room, answers, cited)
    # Among the results of the search alone, only its preferred place and the lines that a program checked can refute a
    # submission. The issue itself is above.
    best = max((item.evidence.score for item in case.evidence if item.evidence.key not in places), default=0.0)
    basis = [item for item in case.evidence if item.evidence.key in answers | cited | places or _may_refute(item, best)]
    return select(basis, room, answers, cited | places)


def _may_refute(item: NumberedEvidence, best: float) -> bool:
    evidence = item.evidence
    if evidence.kind != "code":
        return evidence.kind not in ("issue", "trace")
    return evidence.score >= best or any(reason.startswith(CHECKED) for reason in evidence.reasons)


def select(
    evidence: Iterable[NumberedEvidence],
    room: int = EVIDENCE,
    answers: frozenset[str] = frozenset(),
    cited: frozenset[str] = frozenset(),
) -> tuple[NumberedEvidence, ...]:
    """Return the evidence that fits into a briefing: the best by score, in the order of its numbers.

    Answers come first, then what findings cite (content keys), even if it does not fit; room is in characters.
    """
    chosen, numbered = set[str](), tuple(evidence)
    keys = {item.id: item.evidence.key for item in numbered}
    ordered = sorted(numbered, key=lambda item: -item.evidence.score)
    ordered.sort(key=lambda item: (keys[item.id] not in answers, keys[item.id] not in cited))
    # An item that does not fit is skipped, not the rest: a shorter one of a lower score may still fit.
    for item in ordered:
        size = len(_evidence(item)) + 2
        if size <= room or keys[item.id] in cited:
            room -= size
            chosen.add(item.id)
    return tuple(item for item in numbered if item.id in chosen)


def _quoted(shown: Sequence[NumberedEvidence], bodies: Mapping[str, Passage]) -> list[str]:
    """Format evidence; lines of code that is given around a place are not repeated."""

    def whole(item: NumberedEvidence) -> str:
        where = item.evidence.locator
        first, last = where.start_line or 0, where.end_line or 0
        here = ((name, body) for name, body in bodies.items() if body.path == where.path)
        return next((name for name, body in here if body.start_line <= first and last <= body.end_line), "")

    texts = [_evidence(item, shown, whole(item)) for item in shown]
    if sum(map(len, texts)) <= 2 * EVIDENCE:
        return texts
    return [compress(text, max(_SHORTEST, 2 * EVIDENCE // len(texts))) for text in texts]


def _evidence(item: NumberedEvidence, shown: Sequence[NumberedEvidence] = (), whole: str = "") -> str:
    """Format evidence; lines that a longer quote contains, or the code around a place, are not repeated."""
    evidence = item.evidence
    heading = " ".join(filter(None, (item.id, evidence.kind, str(evidence.locator), evidence.symbol)))
    longer = next((other.id for other in shown if _contains(other.evidence, evidence)), "")
    text = f"(in the code around {whole})" if whole else f"(quoted in {longer})" if longer else evidence.quote
    # How the search found a place says nothing about the fault; what a program checked does.
    checked = [reason for reason in evidence.reasons if reason.startswith(CHECKED) or evidence.kind != "code"]
    reasons = f"Found because: {'; '.join(checked[:4])}" if checked else ""
    return "\n".join(filter(None, (heading, text, reasons)))


def _contains(longer: Evidence, evidence: Evidence) -> bool:
    one, other = longer.locator, evidence.locator
    if longer.kind != "code" or one.path is None or one.path != other.path or longer.key == evidence.key:
        return False
    first, last = one.start_line or 0, one.end_line or 0
    start, end = other.start_line or 0, other.end_line or 0
    return first <= start and end <= last and last - first > end - start


def exchanges(case: Case) -> str:
    """Format the questions to people and their answers."""
    state = case.state
    return compress(_format_human_exchanges(state.human_exchanges, state.pending_exchange), _EXCHANGES)


def critique(case: Case) -> str:
    """Format the critic's last verdict; empty if there is none."""
    feedback = case.state.critic_feedback
    if feedback is None:
        return ""
    lists = (
        ("Gaps", feedback.gaps),
        ("Required evidence", feedback.required_evidence),
        ("Contradictions", feedback.contradictions),
        ("Better place", (feedback.better_place,) if feedback.better_place else ()),
    )
    return "\n".join([feedback.verdict, *(f"{name}: {' | '.join(values)}" for name, values in lists if values)])


def rejection(case: Case) -> str:
    """Format what the program rejected in the last draft, and why; empty if there was none."""
    metrics, draft = case.state.metrics, case.state.best_draft
    if draft is None or not metrics.retry_reasons:
        return ""
    reason, audit = metrics.retry_reasons[-1], metrics.last_citation_audit
    lines = [f"Attempt {reason.iteration} was rejected at a confidence of {reason.confidence:.0%}: {reason.reason}."]
    lines += [f"Its first sentence: {draft.verdict}"]
    lines += [f"Its places: {', '.join(suspect.path for suspect in draft.suspects[:5])}"] if draft.suspects else []
    dropped = audit.dropped if audit is not None else ()
    lines += [f"Removed, because a program could not confirm it: {' | '.join(dropped[:6])}"] if dropped else []
    return mask("\n".join(lines))


def later_messages(case: Case) -> str:
    """Format later messages. Redirects come from maintainers and may give instructions; the rest is fenced as data."""
    state = case.state
    redirects = _format_redirect_instructions(state.redirect_instructions)
    parts = [
        squeeze(redirects, LATER) if redirects else "",
        fence("exchanges", squeeze(exchanges(case), LATER)) if state.human_exchanges else "",
        fence("critic", squeeze(critique(case), LATER)) if state.critic_feedback else "",
        fence("rejected", squeeze(rejection(case), LATER)) if state.best_draft else "",
    ]
    return "\n".join(filter(None, parts))
