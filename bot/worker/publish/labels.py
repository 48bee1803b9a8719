"""Set an issue's labels and type: only existing and allowed ones, and never against a person's change."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from bot.errors import MissingPermissionError, OutcomeUnknownError, RateLimitedError, RefusedError
from bot.github.repository import RepositoryClient
from bot.ports import AskedQuestion, Effect, Issue, Outcome, OwnerCheck
from bot.settings.repository import RepositoryConfig, StateName
from bot.store.effects import Effects
from bot.worker.publish.issue_type import TypeSetter, WantedType, wanted_type
from bot.worker.publish.skip_reasons import reason_to_skip
from nodes.report import Kind, TriageReport
from nodes.state import Finished, Waiting

_KIND: Mapping[Kind, str] = {
    "bug": "bug",
    "feature": "enhancement",
    "question": "question",
    "docs": "documentation",
}


def wanted_labels(
    outcome: Outcome, config: RepositoryConfig, questions: Sequence[AskedQuestion] = ()
) -> frozenset[str]:
    """Return the labels that the outcome and the issue's questions require, under the repository's own names."""
    if isinstance(outcome, Waiting):
        return _allowed(_state("needs-answer", config), config)
    if not isinstance(outcome, Finished) or outcome.state.report is None:
        return frozenset()
    report = outcome.state.report
    custom = config.labels.map.get(report.kind)
    proposed = [custom if custom and label == _KIND.get(report.kind) else label for label in report.labels]
    named = [custom] if custom else []
    unanswered = _state("no-answer", config) if any(one.state == "expired" for one in questions) else []
    return _allowed([*proposed, *named, *_state(_state_of(report), config), *unanswered], config)


def replaced_by_type(outcome: Outcome, config: RepositoryConfig) -> frozenset[str]:
    """Return the label that a type makes superfluous: the kind's default one, but none of ``labels.map``."""
    report = outcome.state.report if isinstance(outcome, Finished) else None
    if report is None or report.kind in config.labels.map or report.kind not in _KIND:
        return frozenset()
    return frozenset({_KIND[report.kind]})


def shown_labels(report: TriageReport, config: RepositoryConfig, existing: Iterable[str]) -> TriageReport:
    """Return the report with only those labels that exist and are allowed in the repository; models invent labels."""
    existing_names = {name.casefold() for name in existing}
    labels = tuple(
        label for label in report.labels if label.casefold() in existing_names and config.labels.allows(label)
    )
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


@dataclass(frozen=True, slots=True)
class Plan:
    """Labels to add, labels to remove, and the labels that are ours afterwards."""

    add: tuple[str, ...]
    remove: tuple[str, ...]
    ours: tuple[str, ...]


def plan(
    wanted: frozenset[str],
    *,
    current: Iterable[str],
    existing: Iterable[str],
    touched: Iterable[str],
    ours: Iterable[str],
    settled: bool,
) -> Plan:
    """Compute which labels to add and remove.

    Args:
        wanted: Labels that the issue should have.
        current: The issue's labels.
        existing: The repository's labels.
        touched: Labels that a person added or removed; they are left alone.
        ours: Labels that we added earlier.
        settled: The earlier change was completed. Only then does a missing label mean that a person removed it.
    """
    names = {name.casefold(): name for name in existing}
    have, touched_names, mine = _folded(current), _folded(touched), _folded(ours)
    goal = {name.casefold() for name in wanted} & names.keys()
    # A label of ours that is gone was removed by a person whose delivery did not arrive, and is not added again.
    removed_by_people = mine - have if settled else frozenset()
    add = goal - have - touched_names - removed_by_people
    remove = (mine & have) - goal - touched_names
    remaining = (mine & goal & have) | add
    return Plan(*(tuple(sorted(names.get(name, name) for name in part)) for part in (add, remove, remaining)))


def _folded(labels: Iterable[str]) -> frozenset[str]:
    # GitHub ignores case in the names of labels.
    return frozenset(label.casefold() for label in labels)


async def sync_labels(
    wanted: frozenset[str],
    *,
    issue: Issue,
    touched: Iterable[str],
    github: RepositoryClient,
    effects: Effects,
    owner_check: OwnerCheck,
    existing: frozenset[str] | None = None,
) -> None:
    """Update the issue's labels to the wanted ones. Send no request if none were set and none are wanted."""
    key = issue.ref.key
    before = await effects.get(key, "labels")
    ours = _ours(before)
    if not wanted and not ours:
        return
    settled = before is not None and before.done_hash == before.wanted_hash
    changes = plan(
        wanted,
        current=issue.labels,
        existing=await github.repository_labels() if existing is None else existing,
        touched=touched,
        ours=ours,
        settled=settled,
    )
    if not changes.add and not changes.remove and set(changes.ours) == set(ours) and (before is None or settled):
        return
    # Until the change is complete, old and new labels are stored as ours, so that none is left behind after a crash.
    either = sorted({*ours, *changes.ours})
    await effects.set_wanted(key, "labels", "", f"begun {either}", json.dumps(either))
    # Additions come first: a crash in between leaves a label too many and not an issue without any.
    if changes.add:
        await owner_check()
        await github.add_labels(issue.ref.number, changes.add)
    for label in changes.remove:
        await owner_check()
        await github.remove_label(issue.ref.number, label)
    done = json.dumps(changes.ours)
    await effects.set_wanted(key, "labels", "", done, done)
    await effects.record_done(key, "labels", "", done)


def _ours(before: Effect | None) -> tuple[str, ...]:
    return tuple(json.loads(before.payload)) if before is not None else ()


logger = logging.getLogger(__name__)
Lacks = Callable[[MissingPermissionError], Awaitable[None]]
"""Called with a permission that the installation lacks."""


async def log_missing(error: MissingPermissionError) -> None:
    """Log a missing permission, without storing it."""
    logger.warning("%s", error, extra={"action": "permission_missing"})


LATER: Final = "labels-later"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The labels and the type that an issue should have."""

    labels: frozenset[str]
    type: WantedType = WantedType()  # noqa: RUF009  frozen
    unless_typed: frozenset[str] = frozenset()
    """Those of the labels that are left out if the repository has the type."""

    @classmethod
    def by(cls, outcome: Outcome, config: RepositoryConfig, questions: Sequence[AskedQuestion] = ()) -> Wanted:
        """Return what an outcome leads to."""
        labels = wanted_labels(outcome, config, questions)
        return cls(labels, wanted_type(outcome, config), replaced_by_type(outcome, config))

    @property
    def stored(self) -> str:
        """The text that is stored for a later job."""
        return json.dumps([sorted(self.labels), asdict(self.type), sorted(self.unless_typed)])

    @classmethod
    def restore(cls, stored: str) -> Wanted:
        """Return what was stored; earlier releases stored the labels alone."""
        match json.loads(stored):
            case [list(labels), dict(kind), list(unless_typed)]:
                return cls(frozenset(labels), WantedType(**kind), frozenset(unless_typed))
            case labels:
                return cls(frozenset(labels))


@dataclass(frozen=True, slots=True)
class ReportLabels:
    """The labels of one issue's report."""

    github: RepositoryClient
    effects: Effects
    owner_check: OwnerCheck
    lacks: Lacks

    async def put(
        self,
        wanted: Wanted,
        issue: Issue,
        touched: Iterable[str],
        existing: frozenset[str] | None = None,
        *,
        typed: bool = False,
    ) -> None:
        """Update the issue's type and labels now, or store them for a later job; a report never waits for them.

        A job that waits for a limit would block the later jobs of its issue.

        Args:
            wanted: The labels and the type.
            issue: The issue as it is now.
            touched: Labels that a person added or removed.
            existing: The repository's labels, if they were read already.
            typed: A person set or removed a type of the issue.
        """
        key, payload = issue.ref.key, wanted.stored
        try:
            labels = wanted.labels - (wanted.unless_typed if await self._type(wanted, issue, typed=typed) else set())
            await self._sync(labels, issue, touched, existing)
        except (RateLimitedError, OutcomeUnknownError) as error:
            logger.info("labels postponed: %s", error, extra={"action": "labels.later"})
            await self.effects.set_wanted(key, LATER, "", payload, payload)
            return
        later = await self.effects.get(key, LATER)
        # Labels that were set now replace those that an earlier report left to a later job.
        if later is not None and later.done_hash != later.wanted_hash:
            await self.effects.record_done(key, LATER, "", later.wanted_hash)

    async def catch_up(
        self,
        issue_key: str,
        issue: Issue | None,
        config: RepositoryConfig,
        touched: set[str],
        *,
        typed: bool = False,
    ) -> None:
        """Set postponed labels; drop them if the issue may not be written to any more."""
        later = await self.effects.get(issue_key, LATER)
        if later is None or later.done_hash == later.wanted_hash:
            return
        moved = issue is not None and issue.ref.key != issue_key
        if issue is None or moved or reason_to_skip(issue, config) is not None:
            await self.effects.record_done(issue_key, LATER, "", later.wanted_hash)
            return
        await self.put(Wanted.restore(later.payload), issue, touched, typed=typed)

    async def _type(self, wanted: Wanted, issue: Issue, *, typed: bool) -> bool:
        """Set the type; return whether it takes the place of a label."""
        try:
            setter = TypeSetter(self.github, self.effects, self.owner_check)
            return await setter.put(wanted.type, issue, decided=typed)
        except MissingPermissionError as error:
            await self.lacks(error)
        except RefusedError as error:
            logger.warning("type refused: %s", error, extra={"action": "type.refused"})
        return False

    async def _sync(
        self, wanted: frozenset[str], issue: Issue, touched: Iterable[str], existing: frozenset[str] | None
    ) -> None:
        try:
            await sync_labels(
                wanted,
                issue=issue,
                touched=touched,
                github=self.github,
                effects=self.effects,
                owner_check=self.owner_check,
                existing=existing,
            )
        # Labels are less important than the comment, which is written even without the permission for labels.
        except MissingPermissionError as error:
            await self.lacks(error)
        except RefusedError as error:
            logger.warning("labels refused: %s", error, extra={"action": "labels.refused"})
