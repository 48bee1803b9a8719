"""The comment on the first issue of a crash that several people report."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.report.languages.translate import translate
from bot.report.sanitise import code

_ISSUES = 10
"""Maximum number of issues that the comment names."""


def alert_marker(fingerprint: str) -> str:
    """Return the line by which the alert of a crash is found."""
    return f"<!-- triage:alert crash={re.sub(r'[^A-Za-z0-9_.-]', '-', fingerprint)[:80]} -->"


def alert_comment(fingerprint: str, reporters: int, others: Sequence[int], language: str = "en") -> str:
    """Return the comment.

    Args:
        fingerprint: identifies the crash.
        reporters: number of different reporters, the first one included.
        others: numbers of the other issues.
        language: the maintainers' language.
    """
    # In code spans, because live references would write into the other issues' histories.
    named = ", ".join(code(f"#{number}") for number in others[:_ISSUES])
    more = f" and {len(others) - _ISSUES} more" if len(others) > _ISSUES else ""
    says = f"**{reporters} people reported this crash within 24 hours.** Other reports: {named}{more}."
    note = "<sub>For maintainers; written once per crash.</sub>"
    return f"{alert_marker(fingerprint)}\n\n{translate(says, language)}\n\n{translate(note, language)}\n"
