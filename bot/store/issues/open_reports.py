"""Read the reports and questions of a repository's open issues, for the digest."""

from __future__ import annotations

from bot.ports import OpenReport, OpenReports, UnansweredQuestion
from bot.report.document import Result
from bot.store.databases.database import Connection, Keyed
from bot.store.issues.questions import read_relations
from nodes.state import HumanExchange

MAX_READ = 100
"""Maximum number of reports, and of questions, that are read."""
# Open by the last delivery, and not muted: a person asked the App to leave a muted issue alone.
_IS_OPEN = "ended IS NULL AND coalesce(muted, 0) = 0"
_REPORTS = f"""
SELECT runs.issue_key, title, result, first_at, count(*) OVER ()
FROM (
    SELECT issue_key, max(run_no) AS last, min(began_at) AS first_at FROM runs
    WHERE repository_key = ? AND result IS NOT NULL GROUP BY issue_key
) AS reported
JOIN runs ON runs.issue_key = reported.issue_key AND run_no = last
LEFT JOIN issues ON issues.issue_key = reported.issue_key
WHERE kind <> 'security' AND {_IS_OPEN} ORDER BY first_at DESC, runs.issue_key LIMIT ?
"""
_QUESTIONS = f"""
SELECT runs.issue_key, title, exchange, asked_at, state
FROM runs JOIN questions ON questions.issue_key = runs.issue_key
LEFT JOIN issues ON issues.issue_key = runs.issue_key
WHERE repository_key = ? AND state IN ('open', 'expired') AND kind <> 'security' AND {_IS_OPEN}
    AND run_no = (SELECT max(run_no) FROM runs AS newer WHERE newer.issue_key = runs.issue_key)
ORDER BY asked_at, runs.issue_key, slot LIMIT ?
"""
_CLOSED = """
SELECT count(DISTINCT runs.issue_key) FROM runs JOIN issues ON issues.issue_key = runs.issue_key
WHERE repository_key = ? AND result IS NOT NULL AND ended = 'closed' AND ended_at >= ?
"""


class OpenIssues(Keyed):
    """The open issues of one repository."""

    async def read(self, since: float) -> OpenReports:
        """Read reports and questions in one transaction; closed issues are counted from ``since`` on."""
        return await self._database.read(lambda db: _read(db, self._key, since))


def _read(db: Connection, key: str, since: float) -> OpenReports:
    rows = db.execute(_REPORTS, (key, MAX_READ)).fetchall()
    questions = db.execute(_QUESTIONS, (key, MAX_READ)).fetchall()
    (closed,) = db.execute(_CLOSED, (key, since)).fetchone()
    return OpenReports(
        tuple(_report(db, issue_key, *row[:3]) for issue_key, *row in rows),
        rows[0][-1] if rows else 0,
        tuple(_question(*row) for row in questions),
        closed,
    )


def _report(db: Connection, issue_key: str, title: str, result: str, since: float) -> OpenReport:
    report = Result.model_validate_json(result).report
    return OpenReport(_number(issue_key), title, since, report, read_relations(db, issue_key))


def _question(issue_key: str, title: str, exchange: str, asked_at: str, state: str) -> UnansweredQuestion:
    text = HumanExchange.model_validate_json(exchange).question
    return UnansweredQuestion(_number(issue_key), title, text, asked_at, state == "expired")


def _number(issue_key: str) -> int:
    return int(issue_key.rpartition("#")[2])
