"""The interfaces between the parts of the App: values, and protocols with their guarantees."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports.github import (
    AppPort,
    Comment,
    FailedDelivery,
    GitHubPort,
    InstallationSeen,
    Issue,
    IssueRef,
    OwnerCheck,
    Permission,
    Rating,
    Reaction,
    RepositoryRef,
    is_bot,
)
from bot.ports.store import (
    AskedQuestion,
    CommandEffects,
    ControlPort,
    Effect,
    EffectsPort,
    Judgement,
    NewSignal,
    OpenReport,
    OpenReports,
    QuestionState,
    Relation,
    RunView,
    SignalKind,
    TaughtWord,
    UnansweredQuestion,
)
from nodes.state import Finished, Waiting

__all__ = [
    "AppPort",
    "AskedQuestion",
    "CommandEffects",
    "Comment",
    "ControlPort",
    "Effect",
    "EffectsPort",
    "FailedDelivery",
    "Finished",
    "GitHubPort",
    "InstallationSeen",
    "Issue",
    "IssueRef",
    "Judgement",
    "NewSignal",
    "OpenReport",
    "OpenReports",
    "Outcome",
    "OwnerCheck",
    "Permission",
    "QuestionState",
    "Rating",
    "Reaction",
    "Relation",
    "RepositoryRef",
    "RunView",
    "SignalKind",
    "Stopped",
    "TaughtWord",
    "UnansweredQuestion",
    "Waiting",
    "Withheld",
    "is_bot",
]


@dataclass(frozen=True, slots=True)
class Stopped:
    """The run ended without a result: it must not be reported, or it was aborted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Withheld:
    """No analysis is shown: the issue contains a publicly readable secret (``nodes.trust.secrets``)."""


Outcome = Waiting | Finished | Stopped | Withheld
