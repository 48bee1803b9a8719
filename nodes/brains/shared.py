"""The beginning that all requests of a run share byte for byte, so that a provider's prompt cache can serve it.

Rules are in the system message. The human message begins with the issue, then come the instructions of the stage and
what only this stage needs. The supervisor is an exception: its messages are the PRD's.
"""

from __future__ import annotations

from collections.abc import Iterable

from nodes.brains.calls.native import Message
from nodes.brains.essence import essence
from nodes.brains.fence import compress, fence, squeeze
from nodes.context import Case
from nodes.issue.facts import IssueFacts
from nodes.search.types import StackTrace
from nodes.trust.secrets import mask
from prompts import Role, build_shared_prompt, build_task_prompt

ISSUE, FACTS, PICTURES = 1_500, 160, 200
"""Maximum tokens of the issue, of the facts of a shortened issue, and of the words in its pictures."""
TITLE = 300
_FRAMES, _EACH = 5, 10


def build_conversation(case: Case, role: Role, sections: str) -> tuple[Message, Message]:
    """Return the two messages of a stage that needs these sections."""
    return build_rules(case), ("human", build_message(case, role, sections))


def build_rules(case: Case) -> Message:
    """Return the system message of every stage."""
    return "system", build_shared_prompt(case.language)


def build_message(case: Case, role: Role, sections: str, evidence: str = "") -> str:
    """Return the human message of a stage.

    Args:
        case: the run.
        role: the stage.
        sections: what only this stage needs.
        evidence: what neighbouring stages see too.
    """
    return "\n\n".join(filter(None, (build_beginning(case), evidence, build_task_prompt(role), sections)))


def build_beginning(case: Case) -> str:
    """Return the issue as every stage sees it, with its facts if it had to be shortened."""
    issue = _text(case)
    # Facts repeat parts of the issue.
    facts = fence("facts", squeeze(mask(format_facts(case.facts)), FACTS)) if issue != _unshortened(case) else ""
    pictures = fence("pictures", squeeze(case.pictures, PICTURES)) if case.pictures else ""
    sections = (
        ("Issue", fence("issue", issue)),
        ("Words in its pictures, read by a model", pictures),
        ("Facts a program read from all of it", facts),
    )
    return join_sections(sections)


def build_investigation(case: Case) -> str:
    """Return what the investigator read from the issue, for the readers of the code; empty if it read nothing."""
    reading = case.state.reading
    if reading is None:
        return ""
    terms = ", ".join(reading.search_terms[:8])
    # The issue itself states the problem.
    return mask("\n".join(filter(None, (reading.hypothesis or reading.problem, terms))))


def is_shortened(case: Case) -> bool:
    """Return whether the stages see the issue without some of its parts."""
    return _text(case) != _unshortened(case)


def join_sections(sections: Iterable[tuple[str, str]]) -> str:
    """Return the sections that have a text, each under its heading."""
    return "\n\n".join(f"## {name}\n{text}" for name, text in sections if text)


def _unshortened(case: Case) -> str:
    return f"{mask(case.title)[:TITLE]}\n\n{mask(case.body)}".strip()


def _text(case: Case) -> str:
    # Masked before it is cut: half of a token would no longer be recognised.
    body = compress(essence(mask(case.body), ISSUE), case.compress_from)
    return f"{mask(case.title)[:TITLE]}\n\n{body}".strip()


def format_facts(facts: IssueFacts) -> str:
    """Format the facts extracted from the issue, one line per kind."""
    lists = (
        ("Errors", facts.errors),
        ("Symbols", facts.symbols),
        ("Paths", facts.paths),
        ("Modules", facts.modules),
        ("Versions", facts.versions),
        ("Platforms", facts.platforms),
    )
    lines = [f"{name}: {' | '.join(values[:_EACH])}" for name, values in lists if values]
    return "\n".join([*map(_trace, facts.traces[:3]), *lines]) or "None."


def _trace(trace: StackTrace) -> str:
    error_text = ": ".join(filter(None, (trace.error, trace.message))) or "no message"
    frames = (f"{frame.path or frame.module}:{frame.line} {frame.function or ''}" for frame in trace.frames[:_FRAMES])
    return f"Stack trace ({trace.language}), innermost first: {error_text[:300]}\n  " + "\n  ".join(frames)
