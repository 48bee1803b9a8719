"""What a program can read off an issue with certainty: traces, versions, errors, form fields."""

from __future__ import annotations

from dataclasses import dataclass

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
