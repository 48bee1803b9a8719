"""The list of runs as CSV that spreadsheets do not execute."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from bot.server.web.views.filters import Row
from bot.store.pages.rows import RunRow

HEADER = (
    *("repository", "issue", "run", "title", "status", "kind", "file", "function", "outcome", "confidence"),
    *("judged_by", "began", "link"),
)
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r")
"""First characters of a cell that a spreadsheet may execute, also as full-width characters (OWASP, CSV injection)."""


def written(lines: Iterable[Sequence[str]]) -> str:
    """Write lines of cells; a text that a spreadsheet may read as a formula gets an apostrophe in front."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows(map(_inert, lines))
    return out.getvalue()


def cells(run: RunRow, address: str) -> tuple[str, ...]:
    """Return the cells of a run.

    Args:
        run: the run.
        address: the server's address, without a trailing slash.
    """
    row = Row.of(run)
    return (
        *(f"{run.owner}/{run.name}", str(run.issue), str(run.number), row.title, run.status, run.kind),
        *(row.place, row.symbol, row.outcome, "" if run.confidence is None else f"{run.confidence:.4f}"),
        *(run.brain, row.began.iso if row.began else "", f"{address}{row.address}"),
    )


def _inert(line: Sequence[str]) -> list[str]:
    return [f"'{cell}" if cell.lstrip(" ").startswith(_FORMULA) else cell for cell in line]
