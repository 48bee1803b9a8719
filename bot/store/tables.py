"""Assemble the tables into one store, with the transactions that span several of them."""

from dataclasses import dataclass

from bot.limits.ceilings import day_of
from bot.ports import AskedQuestion, IssueRef, Relation, RepositoryRef
from bot.store.databases.database import Connection, Database, ForeignKeyError, Keyed, query
from bot.store.effects import Effects
from bot.store.installations import EndedSessions, Installations, StoredConfig
from bot.store.issues.past_issues import PastIssues
from bot.store.issues.people import Control, IssueSignals, Questions, read_asked, read_label_changes, read_relations
from bot.store.issues.state import Issues, read_state
from bot.store.jobs.deliveries import Inbox
from bot.store.jobs.queue import Jobs
from bot.store.jobs.turns import DeadJobs
from bot.store.pages.overview import Attention, Repositories, WaitingJobs
from bot.store.pages.runs import Runs
from bot.store.repository_data import Pruning, RepositoryData
from bot.store.runs.api_runs import ApiRuns
from bot.store.runs.issue_runs import IssueRuns
from bot.store.runs.outcomes import IssueOutcome, Outcomes, RepositoryOutcomes, Standing, read_standing
from bot.store.runs.run_events import RunEvents, RunEvidence
from bot.store.runs.usage import RepositoryLimited, StoredPace, UsageCounters, read_limited
from bot.store.workers import Leases, StoreMetrics
from bot.store.writes import StoredWrites


@dataclass(frozen=True, slots=True)
class ReportInputs:
    """The store's data on one issue and its repository at one moment."""

    questions: tuple[AskedQuestion, ...]
    """All that were asked on the issue, the open one included."""
    touched: dict[str, bool]
    typed: bool
    relations: tuple[Relation, ...]
    """Duplicates that people confirmed or denied."""
    standing: Standing
    limited: bool
    """The repository reached a limit today."""


class Pages:
    """All queries of the web pages."""

    def __init__(self, database: Database) -> None:
        self.runs = Runs(database)
        self.repositories = Repositories(database)
        self.queue = WaitingJobs(database)
        self.attention = Attention(database)


class Store:
    """All tables, grouped by use."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.inbox = Inbox(self._database)
        self.jobs = Jobs(self._database)
        self.dead = DeadJobs(self._database)
        self.installations = Installations(self._database)
        self.outcomes = Outcomes(self._database)
        self.leases = Leases(self._database)
        self.writes = StoredWrites(self._database)
        self.metrics = StoreMetrics(self._database)
        self.usage = UsageCounters(self._database)
        self.api_runs = ApiRuns(self._database)
        self.ended_sessions = EndedSessions(self._database)
        self.pages = Pages(self._database)
        self.pruning = Pruning(self._database)

    def clock(self) -> float:
        """Return seconds since 1970, the same for all processes that share the store."""
        return self._database.clock()

    def repository_data(self, repository_key: str) -> RepositoryData:
        """Return access to everything stored about a repository, for export and deletion."""
        return RepositoryData(self._database, repository_key)

    def pace(self, name: str, calls_per_minute: float) -> StoredPace:
        """Return the rate limiter of a name, shared by all processes that use the store."""
        return StoredPace(self._database, name, calls_per_minute)

    def for_repository(self, ref: RepositoryRef) -> "RepositoryStore":
        """Return the part of the store that belongs to one repository."""
        return self.of_repository(ref.key)

    def of_repository(self, repository_key: str) -> "RepositoryStore":
        """Return the same part by the repository's key."""
        return RepositoryStore(self._database, repository_key)

    def for_issue(self, ref: IssueRef) -> "IssueStore":
        """Return the part of the store that belongs to one issue."""
        return self.for_repository(ref.repository).issue(ref)

    async def aclose(self) -> None:
        """Close the database."""
        await self._database.aclose()


class RepositoryStore(Keyed):
    """One repository's part of the store. No method takes a repository, so no call can reach another one."""

    def __init__(self, database: Database, key: str) -> None:
        super().__init__(database, key)
        # Issue #0 cannot exist on GitHub.
        self.effects = Effects(database, f"{key}#0")
        self.config = StoredConfig(database, key)
        self.limited = RepositoryLimited(database, key)
        self.past = PastIssues(database, key)
        self.outcomes = RepositoryOutcomes(database, key)

    def issue(self, ref: IssueRef) -> "IssueStore":
        """Return the part of one of its issues; raises ``ForeignKeyError`` for another repository's."""
        if ref.repository.key != self._key:
            raise ForeignKeyError(f"{ref.key} is not in {self._key}")
        return IssueStore(self._database, ref, self)


class IssueStore(Keyed):
    """One issue's part of the store."""

    def __init__(self, database: Database, ref: IssueRef, repository: RepositoryStore) -> None:
        super().__init__(database, ref.key)
        self.repository = repository
        self.effects = Effects(database, ref.key)
        self.questions = Questions(database, ref.key)
        self.runs = IssueRuns(database, ref)
        self.signals = IssueSignals(database, ref.key)
        self.row = Issues(database, ref.key)
        self.outcome = IssueOutcome(database, ref.key)
        self.control = Control(database, ref)

    @query
    def report_inputs(self, db: Connection) -> ReportInputs:
        """Return what a report shows besides the result of its run."""
        # One query instead of six: each would wait for the store's thread.
        repository, key = self._key.rpartition("#")[0], self._key
        return ReportInputs(
            read_asked(db, key),
            read_label_changes(db, key),
            read_state(db, key).typed,
            read_relations(db, key),
            read_standing(db, repository),
            bool(read_limited(db, repository, day_of(self._clock()))),
        )

    def thread(self, run: int) -> str:
        """Return the key of a run's checkpoints, evidence and events."""
        return f"{self._key}:{run}"

    def evidence(self, run: int) -> RunEvidence:
        """Return access to the evidence of a run."""
        return RunEvidence(self._database, self.thread(run))

    def events(self, run: int) -> RunEvents:
        """Return access to the events of a run."""
        return RunEvents(self._database, self.thread(run))
