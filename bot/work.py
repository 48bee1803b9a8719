"""The base classes of jobs: where a job belongs, when it starts, and which others it repeats."""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from bot.limits.writes import installation_key
from bot.ports import IssueRef, RepositoryRef

Lane = Literal["run", "control"]


class BaseWork(BaseModel):
    """Base class of stored work."""

    model_config = ConfigDict(frozen=True, defer_build=True)
    lane: ClassVar[Lane] = "run"
    rest: ClassVar[float] = 0.0
    merges: ClassVar[bool] = False
    """Whether equal work that already waits is postponed instead of storing it a second time."""
    repeatable: ClassVar[bool] = False
    """Whether a person may comment or press a button several times in a row."""

    @property
    def delay(self) -> float:
        """Seconds to wait before it starts."""
        return self.rest

    @property
    def may_repeat(self) -> bool:
        """Whether a person may request the same work several times in a row."""
        return self.repeatable

    def repeats(self, last: "BaseWork") -> bool:
        """Return whether it adds nothing to the job that waits directly before it in the queue."""
        return self == last


class PlacedWork(BaseWork):
    """Work on an issue or a repository."""

    ref: IssueRef | RepositoryRef

    @property
    def installation(self) -> str:
        """The key of the installation, for fair scheduling between installations."""
        return installation_key(self.ref.host, self.ref.installation_id)

    @property
    def key(self) -> str:
        """The ordering key: jobs of one lane with equal keys run one at a time, in order."""
        return self.ref.key


class IssueWork(PlacedWork):
    """Work on an issue."""

    ref: IssueRef


class ControlWork(IssueWork):
    """Short work on an issue, which waits for no run."""

    lane: ClassVar[Lane] = "control"


class RepositoryWork(PlacedWork):
    """Work on a repository."""

    ref: RepositoryRef

    @property
    def key(self) -> str:
        """The ordering key: one job at a time for each repository, as issue number 0, which never exists."""
        return f"{self.ref.key}#0"
