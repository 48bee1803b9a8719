"""Facts that a program can extract from an issue with certainty: traces, versions, errors, form fields."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.search.issue.mentions import find_mentions, form_fields, split_fields
from nodes.search.issue.mentions.markdown import without_template
from nodes.search.issue.stacktraces import find_traces
from nodes.search.types import StackTrace


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """Facts of one issue; empty means that none was found."""

    traces: tuple[StackTrace, ...] = ()
    errors: tuple[str, ...] = ()
    """Error messages and quoted phrases."""
    symbols: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    code_blocks: tuple[str, ...] = ()
    form: tuple[tuple[str, str], ...] = ()
    """(heading, content) of an issue form."""
    words: int = 0
    """Words of prose outside code."""


def read_facts(title: str, body: str) -> IssueFacts:
    """Extract all certain facts from an issue, once per run."""
    named = find_mentions(f"{title}\n{without_template(body)}")
    traces = tuple(find_traces(body))
    prose, _code = split_fields(without_template(_without(body, traces)))
    return IssueFacts(
        traces=traces,
        errors=named.errors,
        symbols=named.symbols,
        paths=named.paths,
        modules=named.modules,
        versions=named.versions,
        platforms=named.platforms,
        code_blocks=named.code_blocks,
        form=form_fields(body),
        words=sum(any(map(str.isalpha, word)) for word in f"{title} {prose}".split()),
    )


def _without(body: str, traces: tuple[StackTrace, ...]) -> str:
    """Return the body without its stack traces, which reporters often paste outside code blocks."""
    # From the end, so that the offsets of earlier traces stay valid.
    for trace in sorted(traces, key=lambda trace: -trace.start):
        body = body[: trace.start] + body[trace.end :]
    return body
