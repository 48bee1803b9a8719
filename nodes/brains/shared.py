"""The beginning that all requests of a run share byte for byte, so that a provider's prompt cache can serve it.

Rules are in the system message. The human message begins with the issue, then come the instructions of the stage and
what only this stage needs. The supervisor is an exception: its messages are the PRD's.
"""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from nodes.brains.calls.request import Message
from nodes.brains.fence import compress, estimate, fence, squeeze
from nodes.context.brain import Case
from nodes.issue.facts import IssueFacts
from nodes.search.tokens import WORD, load_patterns
from nodes.search.types import StackTrace
from nodes.trust.secrets import mask
from prompts.texts import Role, build_shared_prompt, build_task_prompt

ISSUE, FACTS = 1_500, 160
"""Maximum tokens of the issue, and of the facts of a shortened issue."""
TITLE = 300
_OF_A_TOKEN = 4
"""Approximate number of characters per token."""
_FRAMES, _EACH = 5, 10
LOOKS = load_patterns(Path(__file__).with_name("asides.toml"))
"""Patterns of the parts of a report, by the kind of part."""
_KEPT_PACKAGES = 3


def build_conversation(case: Case, role: Role, sections: str) -> tuple[Message, Message]:
    """Return the two messages of a stage that needs these sections."""
    return build_rules(case), ("human", build_message(case, role, sections))


def build_rules(case: Case) -> Message:
    """Return the system message of every stage."""
    return "system", build_shared_prompt(case.language)


def build_message(case: Case, role: Role, sections: str, evidence: str = "") -> str:
    """Return the human message of a stage: after the issue the evidence, which neighbouring stages see too."""
    return "\n\n".join(filter(None, (build_beginning(case), evidence, build_task_prompt(role), sections)))


def build_beginning(case: Case) -> str:
    """Return the issue as every stage sees it, with its facts if it had to be shortened."""
    # Facts repeat parts of the issue.
    facts = fence("facts", _fitting(mask(format_facts(case.facts)), FACTS)) if is_shortened(case) else ""
    return join_sections((("Issue", fence("issue", _text(case))), ("Facts that a program read from all of it", facts)))


def _fitting(text: str, tokens: int) -> str:
    """Return the lines that fit, in their order; half a frame or path says nothing."""
    lines = list[str]()
    for line in text.split("\n"):
        if estimate("\n".join((*lines, line))) <= tokens:
            lines.append(line)
    return "\n".join(lines)


def read_before(case: Case) -> str:
    """Return what the investigator read from the issue, fenced, for readers of the code; empty if it read nothing."""
    reading = case.state.reading
    if reading is None:
        return ""
    terms = ", ".join(reading.search_terms[:8])
    # The issue itself states the problem.
    text = "\n".join(filter(None, (reading.hypothesis or reading.problem, terms)))
    return fence("reading", text) if text else ""


def is_shortened(case: Case) -> bool:
    """Return whether the stages see the issue without some of its parts."""
    return _text(case) != f"{mask(case.title)[:TITLE]}\n\n{_body(case)}".strip()


def join_sections(sections: Iterable[tuple[str, str]]) -> str:
    """Return the sections that have a text, each under its heading."""
    return "\n\n".join(f"## {name}\n{text}" for name, text in sections if text)


def _body(case: Case) -> str:
    """Return the body without the comments of its template, which GitHub does not show either."""
    # Searched, because a comment may contain any sign, and an expression for it would not be linear.
    body, kept, at = mask(case.body), list[str](), 0
    while (start := body.find("<!--", at)) >= 0 and (end := body.find("-->", start + 4)) >= 0:
        kept.append(body[at:start])
        at = end + 3
    return re.sub(r"\n{3,}", "\n\n", "".join((*kept, body[at:]))).strip() or body


def _text(case: Case) -> str:
    # Masked before it is cut: half of a token would no longer be recognised.
    body = compress(essence(_body(case), min(ISSUE, case.compress_from // _OF_A_TOKEN)), case.compress_from)
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


def essence(text: str, tokens: int) -> str:
    """Return a text of at most about this many tokens.

    Wide indentation, blocks about the environment, frames that were printed before and frames of libraries go first,
    only as far as needed.
    """
    # The indentation of a log says nothing.
    steps = (partial(LOOKS["indent"].sub, "    "), _without_environment, _without_repeats, _without_libraries)
    for step in steps:
        if estimate(text) <= tokens:
            return text
        text = step(text)
    return squeeze(text, tokens)


def _without_environment(text: str) -> str:
    """Drop sections about the environment, lists of packages beyond a few, and boxes to tick."""
    kept, skipping, packages = list[str](), False, 0
    for line in text.split("\n"):
        if LOOKS["heading"].match(line) or LOOKS["environment"].match(line):
            skipping = bool(LOOKS["environment"].match(line.strip("#* \t")))
        packages = packages + 1 if LOOKS["package"].match(line) else 0
        if not (skipping or packages > _KEPT_PACKAGES or LOOKS["box"].match(line)):
            kept.append(line)
    return "\n".join(kept)


def _without_repeats(text: str) -> str:
    """Drop frames that an earlier trace has too, as when an error is logged twice or causes another."""
    kept, seen = list[str](), set[str]()
    for line in text.split("\n"):
        found = LOOKS["frame"].match(line)
        frame = (found[1] or found[2] or found[3]).strip() if found else ""
        if frame not in seen:
            kept.append(line)
        if frame.startswith("at "):
            seen.add(frame)
    return "\n".join(kept)


def _without_libraries(text: str) -> str:
    """Drop the frames of libraries, with the lines of code that follow each in a trace of Python.

    A package that the text names elsewhere is kept: the project itself is installed among the libraries.
    """
    lines = text.split("\n")
    named = {word for line in lines if not LOOKS["frame"].match(line) for word in WORD.findall(line)}
    kept, inside = list[str](), False
    for line in lines:
        frame, package = bool(LOOKS["frame"].match(line)), LOOKS["installed"].search(line)
        of_library = frame and bool(LOOKS["library"].search(line)) and not (package and package[1] in named)
        below = line.startswith("    ") or bool(LOOKS["numbered"].match(line))
        inside = of_library or (inside and not frame and below)
        if not inside:
            kept.append(line)
    return "\n".join(kept)
