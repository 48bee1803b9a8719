"""Render the results from the history as JSON and as text for a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nodes.search.history.types import History, SuspectCommit
    from nodes.search.types import Reason


def history_document(history: History) -> dict[str, Any]:
    """Return the history as JSON values."""
    found = history.suspicion
    return {
        "suspect_changes": [_change(change) for change in found.changes],
        "recent_changes": [_change(change) for change in found.recent],
        "range": {"words": found.span, "commits": found.commits} if found.span else None,
        "inconclusive": {"reason": found.doubt, "text": found.explanation} if found.doubt else None,
        "owners": [
            {"name": owner.name, "score": round(owner.score, 6), "reasons": list(map(reason_document, owner.reasons))}
            for owner in history.owners
        ],
        "fingerprints": [
            {"value": one.value, "basis": one.basis, "error": one.error, "frames": list(one.frames)}
            for one in history.fingerprints
        ],
    }


def reason_document(reason: Reason) -> dict[str, Any]:
    """Return a reason as JSON values."""
    return {"kind": reason.kind, "text": reason.text, "contribution": round(reason.contribution, 6)}


def history_text(history: History) -> str:
    """Return the history as text: suspect changes, owners of the code and crash fingerprints."""
    found = history.suspicion
    lines: list[str] = []
    if found.changes:
        counted = "1 commit" if found.commits == 1 else f"{found.commits} commits"
        within = f" ({counted} in {found.span})" if found.span else ""
        lines += [f"Suspect changes{within}, not bisected:", *_paragraphs(found.changes)]
    else:
        lines += [f"No change is suspected: {found.explanation}."]
        lines += ["Latest changes of these lines:", *_paragraphs(found.recent)] if found.recent else []
    lines += ["", "People who know this code:"] if history.owners else []
    lines += [f"  {owner.name}: {_reasons(owner.reasons)}" for owner in history.owners]
    lines += [""] if history.fingerprints else []
    lines += [f"Crash {one.value}, named by its {one.basis}: {one.error}" for one in history.fingerprints]
    return "\n".join(map(printable, lines))


def printable(text: str) -> str:
    """Escape control characters and undecodable bytes: names and quoted lines may contain terminal commands."""
    clean = "".join(c if c.isprintable() or c == "\t" else f"\\x{ord(c):02x}" for c in text)
    return clean.encode("utf-8", "backslashreplace").decode()


def _change(change: SuspectCommit) -> dict[str, Any]:
    commit = change.commit
    return {
        "sha": commit.sha,
        "subject": commit.subject,
        "author": commit.author,
        "date": _day(commit.committed),
        "basis": change.basis,
        "score": round(change.score, 6),
        "touches": list(change.touches),
        "reasons": list(map(reason_document, change.reasons)),
    }


def _paragraphs(changes: Sequence[SuspectCommit]) -> Iterator[str]:
    for change in changes:
        commit = change.commit
        yield f"  {commit.sha[:10]} {commit.subject}  ({commit.author}, {_day(commit.committed)}; {change.score:.2f})"
        yield f"    {_reasons(change.reasons)}"


def _reasons(reasons: Sequence[Reason]) -> str:
    return "; ".join(reason.text for reason in reasons[:3])


def _day(moment: int) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d")
