"""The App's writes to an issue: nothing, with the reason, or a comment, labels and a type."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Self

from bot.ports import AskedQuestion, Issue, Outcome, report_of
from bot.report.comment.facts import shown_facts
from bot.settings.repository import RepositoryConfig, StateName
from nodes.issue.asked import answers, questions
from nodes.report import Kind, TriageReport
from nodes.state import Waiting

CLOSED = "the issue is closed"
_BOT, _LOCKED, _OPT_OUT = "a bot opened it", "the conversation is locked", "it has the opt-out label"
_LIFTED = {
    CLOSED: "Reopen it first.",
    _BOT: "Name the bot under `bots` in `.github/triage.yml` first.",
    _LOCKED: "Unlock it first.",
    _OPT_OUT: "Remove the label first.",
}
_LABEL_OF: Mapping[Kind, str] = {
    "bug": "bug",
    "feature": "enhancement",
    "question": "question",
    "docs": "documentation",
}


@dataclass(frozen=True, slots=True)
class WantedType:
    """The type that a report leads to."""

    name: str = ""
    """Empty if the repository's configuration has none for the report's kind."""
    suggested: bool = False
    """Sent as a suggestion for people, with the rationale, and not as a change."""
    rationale: str = ""
    """A checked sentence of the report; empty if it has none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The labels and the type that an issue should have."""

    labels: frozenset[str]
    type: WantedType = WantedType()
    unless_typed: frozenset[str] = frozenset()
    """Those of the labels that are left out if the repository has the type."""

    @classmethod
    def by(cls, outcome: Outcome, config: RepositoryConfig, questions: Sequence[AskedQuestion] = ()) -> Self:
        """Return what an outcome leads to."""
        labels = wanted_labels(outcome, config, questions)
        report = report_of(outcome)
        if report is None:
            return cls(labels)
        # A type makes the kind's default label superfluous, but none of ``labels.map``.
        default = "" if report.kind in config.labels.map else _LABEL_OF.get(report.kind, "")
        name, kind = config.types.map.get(report.kind, ""), WantedType()
        if name:
            kind = WantedType(name, config.types.suggest, report.lead.says if report.lead is not None else "")
        return cls(labels, kind, frozenset(filter(None, (default,))))

    @property
    def stored(self) -> str:
        """The text that is stored for a later job."""
        return json.dumps([sorted(self.labels), asdict(self.type), sorted(self.unless_typed)])

    @classmethod
    def restore(cls, stored: str) -> Self:
        """Return what was stored; earlier releases stored the labels alone."""
        match json.loads(stored):
            case [list(labels), dict(kind), list(unless_typed)]:
                return cls(frozenset(labels), WantedType(**kind), frozenset(unless_typed))
            case labels:
                return cls(frozenset(labels))


def remedy_for(reason: str) -> str:
    """Return what a person can do to remove the reason; empty if nothing."""
    return _LIFTED.get(reason, "")


def reason_to_skip(issue: Issue | None, config: RepositoryConfig) -> str | None:
    """Return why the App leaves an issue alone in its current state; None if it does not."""
    if issue is None:
        return "the issue no longer exists"
    applies = {
        "it is a pull request": issue.is_pull_request,
        _BOT: issue.author_is_bot and issue.author.casefold() not in map(str.casefold, config.bots),
        CLOSED: issue.state != "open",
        _LOCKED: issue.locked,
        _OPT_OUT: config.opt_out_label.casefold() in map(str.casefold, issue.labels),
        "triage is disabled in this repository": not config.enabled,
    }
    return next((reason for reason, holds in applies.items() if holds), None)


def is_worth_a_comment(outcome: Outcome, config: RepositoryConfig, *, asked: bool) -> bool:
    """Return whether to write a first comment; ``asked``: a person's command asked for the run."""
    report = report_of(outcome)
    if asked or report is None or report.kind == "security":
        return True
    return report.kind in config.comment_on and _says_something(report)


def answers_question(outcome: Outcome, issue: Issue) -> bool:
    """Return whether the report on a question leads with a fact that answers what the issue asks."""
    report = report_of(outcome)
    if report is None or report.kind != "question" or report.lead is None:
        return False
    return answers(report.lead, questions(issue.title, issue.body))


def _says_something(report: TriageReport) -> bool:
    """Return whether the report names a place, a change, another issue, a reason to act, or missing information."""
    return bool(
        report.statement not in ("ranked", "nothing")
        or report.root_cause
        or report.unconfirmed
        or report.headline is not None
        or report.missing
        or report.related
        or report.suspect_changes
        or shown_facts(report)
        or report.not_found == "code_not_readable"
    )


def wanted_labels(
    outcome: Outcome, config: RepositoryConfig, questions: Sequence[AskedQuestion] = ()
) -> frozenset[str]:
    """Return the labels that the outcome and the issue's questions require, under the repository's own names."""
    if isinstance(outcome, Waiting):
        return _allowed(_state("needs-answer", config), config)
    report = report_of(outcome)
    if report is None:
        return frozenset()
    custom = config.labels.map.get(report.kind)
    proposed = [custom if custom and label == _LABEL_OF.get(report.kind) else label for label in report.labels]
    named = [custom] if custom else []
    unanswered = _state("no-answer", config) if any(question.state == "expired" for question in questions) else []
    return _allowed([*proposed, *named, *_state(_state_of(report), config), *unanswered], config)


def shown_labels(report: TriageReport, config: RepositoryConfig, existing: Iterable[str]) -> TriageReport:
    """Return the report with only those labels that exist and are allowed in the repository; models invent labels."""
    names = {name.casefold() for name in existing}
    labels = tuple(label for label in report.labels if label.casefold() in names and config.labels.allows(label))
    return report.model_copy(update={"labels": labels})


def _state_of(report: TriageReport) -> StateName:
    for related in report.related:
        if related.relation != "related":
            return "fixed" if related.relation == "fixed_by" else "duplicate"
    return "cause-found" if report.root_cause and report.kind != "feature" else "no-cause"


def _state(name: StateName, config: RepositoryConfig) -> list[str]:
    label = config.labels.map.get(name)
    return [label] if label else []


def _allowed(labels: Iterable[str], config: RepositoryConfig) -> frozenset[str]:
    return frozenset(label for label in labels if config.labels.allows(label))
