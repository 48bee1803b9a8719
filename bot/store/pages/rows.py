"""The rows of the list of runs: their columns, the filter of a list, and what the viewer may see."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.store.databases.database import Value
from bot.store.runs.rows import RunStatus

Keys = Collection[str] | None
"""Keys of the repositories that the viewer may see; None means all."""
LISTED = 25
"""Runs on one page."""
# A run that continues after an answer is stored as waiting until it ends or asks again. It is shown as running. A run
# whose job failed on every attempt is shown as failed, until that job is queued again.
STATUS = """
CASE WHEN {run}.status NOT IN ('running', 'waiting') THEN {run}.status
WHEN {run}.status = 'waiting' AND EXISTS (
    SELECT 1 FROM questions WHERE questions.issue_key = {run}.issue_key AND questions.state = 'open'
) THEN 'waiting'
WHEN NOT EXISTS (
    SELECT 1 FROM jobs WHERE jobs.issue_key = {run}.issue_key AND lane = 'run' AND state IN ('todo', 'doing')
) AND EXISTS (
    SELECT 1 FROM jobs WHERE jobs.issue_key = {run}.issue_key AND lane = 'run' AND state = 'dead'
) AND NOT EXISTS (
    SELECT 1 FROM runs AS later WHERE later.issue_key = {run}.issue_key AND later.run_no > {run}.run_no
) THEN 'failed' ELSE 'running' END
"""
Outcome = Literal["", "right", "wrong", "awaiting", "unknown", "unclaimed"]
"""The outcome of a report: its first file was fixed or not, no fix is known yet, none was found, or it claims nothing.

Until the fix is known, the last judgement by a person counts. Empty without a report, and after a later report.
"""
# Only the last report of an issue has a row of outcomes.
OUTCOME = """
CASE WHEN {run}.kind = '' THEN '' WHEN {run}.claimed = 0 THEN 'unclaimed'
WHEN {fix}.state = 'scored' THEN CASE WHEN {fix}.rank = 1 THEN 'right' ELSE 'wrong' END
ELSE coalesce(
    (SELECT CASE WHEN is_right = 1 THEN 'right' ELSE 'wrong' END FROM feedback
     WHERE feedback.issue_key = {run}.issue_key AND feedback.run_no = {run}.run_no
     ORDER BY feedback.at DESC, source, actor LIMIT 1),
    CASE {fix}.state WHEN 'open' THEN 'awaiting' WHEN 'unknown' THEN 'unknown' ELSE '' END
) END
"""
# Reports that named no file are not compared with a fix.
FIX = "CASE WHEN {fix}.named <> '[]' THEN {fix}.state ELSE '' END"
FIX_ROW = "outcomes AS {fix} ON {fix}.issue_key = {run}.issue_key AND {fix}.run_no = {run}.run_no"
THIS = {"run": "runs", "fix": "fixes"}
"""Names of the tables of the listed run, in the texts above."""
# A new run has a title once it has read the issue.
_TITLE = """
coalesce(nullif(runs.title, ''), (
  SELECT earlier.title FROM runs AS earlier WHERE earlier.issue_key = runs.issue_key AND earlier.title <> ''
  ORDER BY earlier.run_no DESC LIMIT 1
), '')
"""
COLUMNS = f"""
runs.issue_key, runs.run_no, runs.repository_key, owner, name, {_TITLE}, {STATUS.format(**THIS)}, brain, kind,
runs.claimed, runs.confidence, began_at, changed_at, place, symbol, {OUTCOME.format(**THIS)}, {FIX.format(**THIS)},
fixes.rank
"""
FROM = f"""
FROM runs JOIN repositories ON repositories.repository_key = runs.repository_key
LEFT JOIN {FIX_ROW.format(**THIS)}
"""


def visible(column: str, keys: Keys) -> tuple[str, list[Value]]:
    """Return a condition that the column is one of the keys, and its parameters."""
    if keys is None:
        return "1 = 1", []
    if not keys:
        # Postgres does not accept ``IN ()``.
        return "1 = 0", []
    return f"{column} IN ({', '.join('?' * len(keys))})", [*sorted(keys)]


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run in a list."""

    issue_key: str
    number: int
    repository_key: str
    owner: str
    name: str
    title: str
    """The issue's title when the run read it, or else a later or an earlier run; secrets are masked."""
    status: RunStatus
    brain: str
    kind: str
    """Kind of the issue according to the report; empty without a report."""
    claimed: bool
    confidence: float | None
    began_at: float
    """Seconds since 1970; 0 for runs of older releases."""
    changed_at: float
    place: str
    """The file that the report claims; empty if it claims none, and for runs of older releases."""
    symbol: str
    outcome: Outcome
    fix: str
    """State of the comparison with the fix (``OutcomeState``); empty if there is none."""
    rank: int | None
    """Rank of the first named file that the fix changed, from 1; 0: none; None without a comparison."""

    @property
    def issue(self) -> int:
        """The issue's number."""
        return int(self.issue_key.rpartition("#")[2])

    @property
    def thread(self) -> str:
        """The key of its evidence and events."""
        return f"{self.issue_key}:{self.number}"

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return self.status not in ("running", "waiting")


@dataclass(frozen=True, slots=True)
class ListPosition:
    """A position in the list: the key of one run."""

    began_at: float
    issue_key: str
    number: int


def read_row(row: Sequence[Any]) -> RunRow:
    """Convert a row of ``COLUMNS`` to a run."""
    values = dict(zip(RunRow.__dataclass_fields__, row, strict=True))
    return RunRow(**{**values, "claimed": bool(values["claimed"])})


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A filter for runs; an empty or None field matches all."""

    repository: str = ""
    status: str = ""
    text: str = ""
    """A part of the title; ASCII letters match in any case."""
    outcome: str = ""


def conditions_of(run_filter: RunFilter, names: dict[str, str]) -> tuple[list[str], list[Value]]:
    """Return the conditions for a run, and their parameters; ``names`` are those of its tables."""
    one: Sequence[tuple[str, Value]] = (
        ("{run}.repository_key = ?", run_filter.repository or None),
        (f"({STATUS}) = ?", run_filter.status or None),
        ("lower({run}.title) LIKE ? ESCAPE '!'", _pattern(run_filter.text) if run_filter.text else None),
        (f"({OUTCOME}) = ?", run_filter.outcome or None),
    )
    given = [(text.format(**names), value) for text, value in one if value is not None]
    return [text for text, _ in given], [value for _, value in given]


def _pattern(text: str) -> str:
    escaped = "".join(f"!{c}" if c in "!%_" else c for c in text)
    # SQLite's lower() changes ASCII letters only.
    return f"%{''.join(c.lower() if c.isascii() else c for c in escaped)}%"
