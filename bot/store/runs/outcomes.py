"""Store what each report named and whether the fix changed it, and people's judgements, of which the latest counts."""

import json
from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.ports import IssueRef, PersonJudgement
from bot.store.databases.database import Connection, Keyed, TableGroup, of_key, query, transaction, upsert

OutcomeState = Literal["open", "scored", "unknown"]
LOOKS = (3_600.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0)
"""Seconds after which the search for a missing fix is repeated: a fix may land after its issue was closed."""
_COLUMNS = "run_no, sha, claimed, confidence, named, state, rank, fix, why, looks"
# Repositories that are archived or no longer accessible cannot be read; they are due again if they return.
_DUE = """
SELECT issues.issue_key, run_no, looks, host, installation_id, repositories.repository_key, owner, name
FROM outcomes JOIN issues ON issues.issue_key = outcomes.issue_key
JOIN repositories ON repositories.repository_key = outcomes.repository_key
WHERE ended = 'closed' AND (outcomes.state = 'open' OR (outcomes.state = 'unknown' AND look_at <= ?))
    AND gone = 0 AND archived = 0 AND installation_id <> 0
ORDER BY issues.issue_key LIMIT 500
"""
_TEXTS = """
SELECT issue_key, title, body FROM runs
WHERE repository_key = ? AND body <> '' AND result IS NOT NULL AND run_no = (
    SELECT max(run_no) FROM runs AS later
    WHERE later.issue_key = runs.issue_key AND later.body <> '' AND later.result IS NOT NULL
) ORDER BY issue_key LIMIT 5000
"""
_TALLY = """
SELECT owner, name, count(*), count(*) FILTER (WHERE claimed = 1), count(*) FILTER (WHERE outcomes.state = 'scored'),
    count(*) FILTER (WHERE outcomes.state = 'scored' AND rank = 1),
    count(*) FILTER (WHERE outcomes.state = 'scored' AND rank BETWEEN 1 AND 3),
    count(*) FILTER (WHERE outcomes.state = 'unknown'),
    count(*) FILTER (WHERE outcomes.state = 'scored' AND claimed = 1),
    count(*) FILTER (WHERE outcomes.state = 'scored' AND claimed = 1 AND rank = 1),
    repositories.repository_key
FROM outcomes JOIN repositories ON repositories.repository_key = outcomes.repository_key
GROUP BY repositories.repository_key, owner, name ORDER BY owner, name
"""
_LAST = "SELECT max(run_no) FROM runs WHERE issue_key = ? AND result IS NOT NULL"
_NOTE = upsert("feedback", "issue_key, run_no, source, actor", "is_right, why, at")
_CORRECTIONS = """
SELECT feedback.issue_key, sha, place, feedback.why, feedback.at FROM feedback
JOIN runs ON runs.issue_key = feedback.issue_key AND runs.run_no = feedback.run_no
WHERE source = 'command' AND is_right = 0 AND repository_key = ? AND sha <> ''
ORDER BY feedback.at DESC, feedback.issue_key LIMIT 5000
"""
_FEEDBACK_COUNTS = """
SELECT count(*) FILTER (WHERE source = 'command' AND is_right = 1),
    count(*) FILTER (WHERE source = 'command' AND is_right = 0)
FROM feedback WHERE issue_key >= ? AND issue_key < ?
"""
_LABELLED = """
SELECT count(*) FILTER (WHERE added = 1), count(*) FILTER (WHERE added = 0) FROM label_actors
WHERE issue_key >= ? AND issue_key < ? AND issue_key IN (SELECT issue_key FROM outcomes)
"""
_JUDGED = """
SELECT runs.confidence, is_right FROM feedback
JOIN runs ON runs.issue_key = feedback.issue_key AND runs.run_no = feedback.run_no
WHERE repository_key = ? AND runs.claimed = 1 AND runs.confidence IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM outcomes WHERE outcomes.issue_key = feedback.issue_key AND outcomes.state = 'scored'
    ) AND NOT EXISTS (
        SELECT 1 FROM feedback AS later WHERE later.issue_key = feedback.issue_key
            AND (later.at, later.source, later.actor) > (feedback.at, feedback.source, feedback.actor)
    )
ORDER BY feedback.issue_key LIMIT 5000
"""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A judgement and its origin."""

    actor: str
    judgement: PersonJudgement
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A report that a person called wrong, and their words."""

    issue: int
    sha: str
    claimed: str
    """The file that the report claimed; empty if it claimed none."""
    why: str
    at: float
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class FeedbackCounts:
    """The numbers of judgements by people of a repository's reports, and of label changes on issues with a report."""

    right: int
    wrong: int
    labels_added: int
    labels_removed: int


@dataclass(frozen=True, slots=True)
class Reported:
    """The parts of a report that are compared with the fix."""

    claimed: bool
    """The report named a cause, and not only where to start reading."""
    confidence: float
    named: tuple[str, ...]
    """The files of the report's places, best first."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a search for the fix."""

    state: Literal["scored", "unknown"]
    rank: int = 0
    """Rank of the first named file that the fix changed, from 1; 0: none of them."""
    fix: str = ""
    """The full SHA of the commit that closed the issue."""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row: the last report of an issue, and how it compared with the fix."""

    run: int
    sha: str
    reported: Reported
    state: OutcomeState
    verdict: Verdict | None
    looks: int


@dataclass(frozen=True, slots=True)
class Due:
    """An issue whose fix is to be searched for."""

    ref: IssueRef
    run: int
    looks: int


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of one repository."""

    repository: str
    reports: int
    claims: int
    scored: int
    """Reports whose fix was found and changed source files."""
    first: int
    """Scored reports whose first file was fixed."""
    among_three: int
    """Scored reports with a fixed file among the first three."""
    unknown: int
    scored_claims: int
    right_claims: int
    key: str


def read_outcome(db: Connection, key: str) -> Outcome | None:
    """Return the outcome of an issue; None if nothing was reported."""
    row = db.execute(f"SELECT {_COLUMNS} FROM outcomes WHERE issue_key = ?", (key,)).fetchone()
    if row is None:
        return None
    run, sha, claimed, confidence, named, state, rank, fix, why, looks = row
    reported = Reported(bool(claimed), confidence, tuple(json.loads(named)))
    return Outcome(run, sha, reported, state, Verdict(state, rank, fix, why) if state != "open" else None, looks)


class IssueOutcome(Keyed):
    """The outcome of one issue."""

    get = of_key(read_outcome)

    @transaction
    def keep(self, db: Connection, verdict: Verdict) -> None:
        """Store the result of a search; an unknown one is searched for again, once per entry of ``LOOKS``."""
        outcome = read_outcome(db, self._key)
        if outcome is None:
            return
        now = self._clock()
        # A scored outcome is final. An unknown one has no further search after the last entry, so it stays unknown.
        again = now + LOOKS[outcome.looks] if verdict.state == "unknown" and outcome.looks < len(LOOKS) else None
        statement = """
            UPDATE outcomes SET state = ?, rank = ?, fix = ?, why = ?, looks = looks + 1, look_at = ?, settled_at = ?
            WHERE issue_key = ?
        """
        db.execute(statement, (verdict.state, verdict.rank, verdict.fix, verdict.why[:200], again, now, self._key))


class Standing(NamedTuple):
    """Results of a repository's reports: the confidence in the first file of each, and whether it was right."""

    scored: list[tuple[float, bool]]
    """Reports that named a file and whose fix is known."""
    judged: list[tuple[float, bool]]
    """Claims that people judged and that no fix has confirmed or refuted."""


def read_standing(db: Connection, repository_key: str) -> Standing:
    """Return the results of a repository's reports and claims."""
    scored = """
        SELECT confidence, rank = 1 FROM outcomes
        WHERE repository_key = ? AND state = 'scored' AND named <> '[]' ORDER BY issue_key
    """
    parts = (db.execute(statement, (repository_key,)) for statement in (scored, _JUDGED))
    return Standing(*([(float(confidence), bool(right)) for confidence, right in rows] for rows in parts))


class RepositoryOutcomes(Keyed):
    """The scored reports of one repository."""

    standing = of_key(read_standing)

    @query
    def feedback_counts(self, db: Connection) -> FeedbackCounts:
        """Count people's judgements of its reports and their label changes."""
        # "$" follows "#" in ASCII, so this is the range of all issues of the repository.
        bounds = (f"{self._key}#", f"{self._key}$")
        counts = (db.execute(statement, bounds).fetchone() for statement in (_FEEDBACK_COUNTS, _LABELLED))
        return FeedbackCounts(*(number for row in counts for number in row))

    async def corrections(self) -> list[Correction]:
        """Return what people wrote about wrong reports, the latest one of each issue, the latest first."""
        found: dict[str, Correction] = {}
        for key, *rest in await self._rows(_CORRECTIONS, (self._key,)):
            found.setdefault(key, Correction(int(key.rpartition("#")[2]), *rest))
        return list(found.values())

    async def texts(self) -> list[tuple[int, str, str]]:
        """Return number, title and body of issues as their last report read them, if they are still stored."""
        rows = await self._rows(_TEXTS, (self._key,))
        return [(int(key.rpartition("#")[2]), title, body) for key, title, body in rows]


class Outcomes(TableGroup):
    """All repositories' outcomes, for upkeep and statistics."""

    async def due(self) -> list[Due]:
        """Return closed issues whose fix has not been searched for yet, or is due to be searched for again."""
        found = []
        for issue, run, looks, host, installation_id, key, owner, name in await self._rows(_DUE, (self._clock(),)):
            repository, number = int(key.rpartition("/")[2]), int(issue.rpartition("#")[2])
            found.append(Due(IssueRef(host, installation_id, repository, owner, name, number), run, looks))
        return found

    async def tallies(self) -> list[Tally]:
        """Return the counts of every repository that has a report, by name."""
        rows = await self._rows(_TALLY)
        return [Tally(f"{owner}/{name}", *counts) for owner, name, *counts in rows]


def note_report(db: Connection, issue_key: str, run: int, reported: Reported) -> None:
    """Store what a report named, within a transaction; it replaces an earlier report's row."""
    # The new report has not been compared yet, so the result of the earlier comparison is reset.
    statement = f"""
        {upsert("outcomes", "issue_key", "repository_key, run_no, sha, claimed, confidence, named")},
            state = 'open', rank = 0, fix = '', why = '', looks = 0, look_at = NULL, settled_at = NULL
    """
    values = (int(reported.claimed), reported.confidence, json.dumps(reported.named))
    found = db.execute("SELECT sha FROM runs WHERE issue_key = ? AND run_no = ?", (issue_key, run)).fetchone()
    sha = found[0] if found else ""
    db.execute(statement, (issue_key, issue_key.rpartition("#")[0], run, sha, *values))


def note_feedback(db: Connection, issue_key: str, feedback: Feedback) -> None:
    """Store a judgement of the issue's last report, within a transaction; without a report, nothing is stored."""
    (run,) = db.execute(_LAST, (issue_key,)).fetchone()
    if run is not None:
        judged = (int(feedback.judgement.right), feedback.judgement.why, feedback.at)
        db.execute(_NOTE, (issue_key, run, "command", feedback.actor, *judged))


def read_feedback(db: Connection, issue_key: str, run: int) -> tuple[Feedback, ...]:
    """Read the judgements of one run's report within a larger transaction, the earliest first."""
    statement = """
        SELECT actor, is_right, why, at FROM feedback WHERE issue_key = ? AND run_no = ?
        ORDER BY at, source, actor
    """
    rows = db.execute(statement, (issue_key, run)).fetchall()
    return tuple(Feedback(actor, PersonJudgement(bool(right), why), at) for actor, right, why, at in rows)
