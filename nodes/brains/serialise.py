"""Format the state for the supervisor, exactly as in PRD section 4."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.state import AgentFinding, BugTriageState, HumanExchange


def build_supervisor_context(state: BugTriageState) -> str:
    """Build the supervisor's human message; the redirect section is omitted if there are no redirects."""
    redirect_block = _format_redirect_instructions(state.redirect_instructions)
    redirect_section = f"## Redirect instructions\n{redirect_block}" if redirect_block else ""
    questions_asked = len([e for e in state.human_exchanges if e.answer is not None])
    return (
        f"{redirect_section}\n\n"
        f"## Current state\n"
        f"Iteration: {state.iterations} / {state.max_iterations}\n"
        f"Questions asked so far: {questions_asked} / 2\n\n"
        f"## Findings so far\n"
        f"{_format_findings(state.findings)}\n\n"
        f"## Human exchanges so far\n"
        f"{_format_human_exchanges(state.human_exchanges, state.pending_exchange)}\n\n"
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
    parts = []
    for n, f in enumerate(findings, 1):
        files = ", ".join(f.relevant_files) if f.relevant_files else "none"
        parts.append(
            f"[{n}] {f.agent_name} (confidence: {f.confidence:.0%})\n"
            f"Summary: {f.summary}\n"
            f"Details: {f.details}\n"
            f"Relevant files: {files}"
        )
    return "\n\n".join(parts)


def _format_human_exchanges(exchanges: Sequence[HumanExchange], pending: HumanExchange | None) -> str:
    parts = []
    for e in exchanges:
        answer = e.answer if e.answer is not None else "(awaiting answer)"
        parts.append(f"Q: {e.question}\nContext: {e.context}\nA: {answer}")
    if pending is not None:
        parts.append(f"Q: {pending.question}\nContext: {pending.context}\nA: (awaiting answer)")
    return "\n\n".join(parts) if parts else "None."


def _format_redirect_instructions(instructions: Sequence[str]) -> str:
    if not instructions:
        return ""
    lines = ["## Active redirect instructions (follow these above all else)"]
    for i, instruction in enumerate(instructions, 1):
        lines.append(f"{i}. {instruction}")
    return "\n".join(lines)
