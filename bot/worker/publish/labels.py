"""Set an issue's labels and type: only existing and allowed ones, and never against a person's change."""

import json
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from bot.errors import MissingPermissionError, OutcomeUnknownError, RateLimitedError, RefusedError
from bot.github.repository import RepositoryClient
from bot.ports import Issue, OwnerCheck
from bot.report.words import confidence_word
from bot.settings.repository import RepositoryConfig
from bot.store.effects import Effects
from bot.worker.publish.wanted import Wanted, WantedType, reason_to_skip
from nodes.issue.kinds import classify

_TYPE = "type"
"""The kind of the effect that sets a type."""
_MAX_RATIONALE = 280
"""Characters; GitHub's own tools send no more."""
logger = logging.getLogger(__name__)
Lacks = Callable[[MissingPermissionError], Awaitable[None]]
"""Called with a permission that the installation lacks."""
LATER: Final = "labels-later"


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


async def log_missing(error: MissingPermissionError) -> None:
    """Log a missing permission, without storing it."""
    logger.warning("%s", error, extra={"action": "permission_missing"})


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

        ``existing``: the repository's labels, if they were read already. ``typed``: a person set or removed a type of
        the issue.
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
            return await self._set_type(wanted.type, issue, typed=typed)
        except MissingPermissionError as error:
            await self.lacks(error)
        except RefusedError as error:
            logger.warning("type refused: %s", error, extra={"action": "type.refused"})
        return False

    async def _sync(
        self, wanted: frozenset[str], issue: Issue, touched: Iterable[str], existing: frozenset[str] | None
    ) -> None:
        try:
            await self._update(wanted, issue, touched, existing)
        # Labels are less important than the comment, which is written even without the permission for labels.
        except MissingPermissionError as error:
            await self.lacks(error)
        except RefusedError as error:
            logger.warning("labels refused: %s", error, extra={"action": "labels.refused"})

    async def _update(
        self, wanted: frozenset[str], issue: Issue, touched: Iterable[str], existing: frozenset[str] | None
    ) -> None:
        """Update the issue's labels to the wanted ones. Send no request if none were set and none are wanted."""
        key = issue.ref.key
        before = await self.effects.get(key, "labels")
        ours: tuple[str, ...] = tuple(json.loads(before.payload)) if before is not None else ()
        if not wanted and not ours:
            return
        settled = before is not None and before.done_hash == before.wanted_hash
        changes = plan(
            wanted,
            current=issue.labels,
            existing=await self.github.repository_labels() if existing is None else existing,
            touched=touched,
            ours=ours,
            settled=settled,
        )
        if not changes.add and not changes.remove and set(changes.ours) == set(ours) and (before is None or settled):
            return
        # Until the change is complete, old and new labels are ours, so that none is left behind after a crash.
        either = sorted({*ours, *changes.ours})
        await self.effects.set_wanted(key, "labels", "", f"begun {either}", json.dumps(either))
        # Additions come first: a crash in between leaves a label too many and not an issue without any.
        if changes.add:
            await self.owner_check()
            await self.github.add_labels(issue.ref.number, changes.add)
        for label in changes.remove:
            await self.owner_check()
            await self.github.remove_label(issue.ref.number, label)
        done = json.dumps(changes.ours)
        await self.effects.set_wanted(key, "labels", "", done, done)
        await self.effects.record_done(key, "labels", "", done)

    async def _set_type(self, wanted: WantedType, issue: Issue, *, typed: bool) -> bool:
        """Set or suggest the type; return whether the repository has it, so that no label has to say the same.

        If a person ``typed`` the issue, its type is left alone from then on.

        Raises:
            RateLimitedError: The budget of writes is used up.
            RefusedError: GitHub refuses the change.
        """
        if not wanted.name or issue.type is None:
            return False
        before = await self.effects.get(issue.ref.key, _TYPE)
        ours = before.payload if before is not None and before.done_hash == before.wanted_hash else None
        # A type that is not ours is a person's or a form's; one of ours that is gone was removed by a person.
        if issue.type.casefold() == wanted.name.casefold() or typed or issue.type != (ours or ""):
            return True
        names = {name.casefold(): name for name in await self.github.issue_types()}
        name = names.get(wanted.name.casefold())
        return name is not None and await self._write_type(name, wanted, issue)

    async def _write_type(self, name: str, wanted: WantedType, issue: Issue) -> bool:
        key = issue.ref.key
        await self.effects.set_wanted(key, _TYPE, "", name, name)
        await self.owner_check()
        suggestion = None
        if wanted.suggested:
            suggestion = {"confidence": confidence_word(classify(issue.title, issue.body).confidence)}
            suggestion |= {"rationale": wanted.rationale[:_MAX_RATIONALE]} if wanted.rationale else {}
        # GitHub drops a type without an error where the App may not set it.
        done = await self.github.set_type(issue.ref.number, name, suggestion) == name or wanted.suggested
        if done:
            await self.effects.record_done(key, _TYPE, "", name)
        return done
