"""What a program can read off an issue with certainty: traces, versions, errors, form fields."""

from __future__ import annotations

from dataclasses import dataclass

from nodes.search.mentions import find_mentions, form_fields, split_fields
from nodes.search.stacktraces import find_traces
from nodes.search.types import StackTrace


@dataclass(frozen=True, slots=True)
class IssueFacts:
    """Facts of one issue; empty means looked for and not there."""

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
    """Everything a program can read off an issue; linear in its length."""
    text = f"{title}\n\n{body}"
    named = find_mentions(text)
    prose, _code = split_fields(text)
    return IssueFacts(
        traces=tuple(find_traces(body)),
        errors=named.errors,
        symbols=named.symbols,
        paths=named.paths,
        modules=named.modules,
        versions=named.versions,
        platforms=named.platforms,
        code_blocks=named.code_blocks,
        form=form_fields(body),
        words=len(prose.split()),
    )
