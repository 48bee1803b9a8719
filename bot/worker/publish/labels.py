"""Set an issue's labels and type: only existing and allowed ones, and never against a person's change."""

import json
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from bot.errors import MissingPermissionError, OutcomeUnknownError, RateLimitedError, RefusedError
from bot.ports import Issue
from bot.report.words import confidence_word
from bot.worker.publish.target import Target
from bot.worker.publish.wanted import Wanted, WantedType, reason_to_skip
from nodes.issue.kinds.classify import classify

_TYPE = "type"
"""The kind of the effect that sets a type."""
_MAX_RATIONALE = 280
"""Characters; GitHub's own tools send no more."""
logger = logging.getLogger(__name__)
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
    """Compute which labels to add and remove, given those of the issue and of the repository, and our earlier ones.

    Labels that a person ``touched`` are left alone. A missing label means that a person removed it only if the earlier
    change was ``settled``, that is completed.
    """
    names = {name.casefold(): name for name in existing}
    have, touched_names, mine = folded(current), folded(touched), folded(ours)
    goal = {name.casefold() for name in wanted} & names.keys()
    # A label of ours that is gone was removed by a person whose delivery did not arrive, and is not added again.
    removed_by_people = mine - have if settled else frozenset()
    add = goal - have - touched_names - removed_by_people
    remove = (mine & have) - goal - touched_names
    remaining = (mine & goal & have) | add
    return Plan(*(tuple(sorted(names.get(name, name) for name in part)) for part in (add, remove, remaining)))


def folded(labels: Iterable[str]) -> frozenset[str]:
    """Return the names of labels for comparisons, in which GitHub ignores case."""
    return frozenset(label.casefold() for label in labels)


@dataclass(frozen=True, slots=True)
class ReportLabels:
    """The labels of one issue's report."""

    target: Target
    issue: Issue
    touched: Iterable[str]
    typed: bool = False
    """A person set or removed a type of the issue."""
    existing: frozenset[str] | None = None
    """The repository's labels, if they were read already."""

    async def put(self, wanted: Wanted) -> None:
        """Update the issue's type and labels now, or store them for a later job: no report or job waits for them."""
        effects, payload = self.target.effects, wanted.stored
        try:
            has_type = False
            async with self._tolerated("type"):
                has_type = await self._set_type(wanted.type)
            # Labels are less important than the comment, which is written even without the permission for labels.
            async with self._tolerated("labels"):
                await self._update(wanted.labels - (wanted.unless_typed if has_type else set()))
        except (RateLimitedError, OutcomeUnknownError) as error:
            logger.info("labels postponed: %s", error, extra={"action": "labels.later"})
            await effects.set_wanted(LATER, "", payload, payload)
            return
        later = await effects.get(LATER)
        # Labels that were set now replace those that an earlier report left to a later job.
        if later is not None and not later.is_done:
            await effects.record_done(LATER, "", later.wanted_hash)

    @asynccontextmanager
    async def _tolerated(self, what: str) -> AsyncIterator[None]:
        try:
            yield
        except MissingPermissionError as error:
            await self.target.lacks(error)
        except RefusedError as error:
            logger.warning("%s refused: %s", what, error, extra={"action": f"{what}.refused"})

    async def _update(self, wanted: frozenset[str]) -> None:
        """Update the issue's labels to the wanted ones. Send no request if none were set and none are wanted."""
        effects, github = self.target.effects, self.target.github
        before = await effects.get("labels")
        ours: tuple[str, ...] = tuple(json.loads(before.payload)) if before is not None else ()
        if not wanted and not ours:
            return
        settled = before is not None and before.is_done
        changes = plan(
            wanted,
            current=self.issue.labels,
            existing=await github.repository_labels() if self.existing is None else self.existing,
            touched=self.touched,
            ours=ours,
            settled=settled,
        )
        if not changes.add and not changes.remove and set(changes.ours) == set(ours) and (before is None or settled):
            return
        # Until the change is complete, old and new labels are ours, so that none is left behind after a crash.
        either = sorted({*ours, *changes.ours})
        await effects.set_wanted("labels", "", f"begun {either}", json.dumps(either))
        await change_labels(self.target, changes.add, changes.remove)
        done = json.dumps(changes.ours)
        await effects.set_wanted("labels", "", done, done)
        await effects.record_done("labels", "", done)

    async def _set_type(self, wanted: WantedType) -> bool:
        """Set or suggest the type; return whether the repository has it, so that no label has to say the same."""
        current, effects = self.issue.type, self.target.effects
        if not wanted.name or current is None:
            return False
        before = await effects.get(_TYPE)
        ours = before.payload if before is not None and before.is_done else ""
        # A type that is not ours is a person's or a form's; one of ours that is gone was removed by a person.
        if current.casefold() == wanted.name.casefold() or self.typed or current != ours:
            return True
        names = {name.casefold(): name for name in await self.target.github.issue_types()}
        name = names.get(wanted.name.casefold())
        if name is None:
            return False
        await effects.set_wanted(_TYPE, "", name, name)
        await self.target.owner_check()
        suggestion = None
        if wanted.suggested:
            suggestion = {"confidence": confidence_word(classify(self.issue.title, self.issue.body).confidence)}
            suggestion |= {"rationale": wanted.rationale[:_MAX_RATIONALE]} if wanted.rationale else {}
        # GitHub drops a type without an error where the App may not set it.
        is_set = await self.target.github.set_type(self.target.ref.number, name, suggestion) == name
        if is_set or wanted.suggested:
            await effects.record_done(_TYPE, "", name)
        return is_set or wanted.suggested


async def change_labels(target: Target, add: Sequence[str], remove: Sequence[str]) -> None:
    """Add labels to the issue, then remove others."""
    # Additions come first: a crash in between leaves a label too many and not an issue without any.
    if add:
        await target.owner_check()
        await target.github.add_labels(target.ref.number, add)
    for label in remove:
        await target.owner_check()
        await target.github.remove_label(target.ref.number, label)


async def put_postponed(target: Target, issue: Issue | None, touched: Iterable[str], *, typed: bool = False) -> None:
    """Set postponed labels; drop them if the issue may not be written to any more."""
    later = await target.effects.get(LATER)
    if later is None or later.is_done:
        return
    if issue is None or issue.ref.key != target.ref.key or reason_to_skip(issue, target.found.config) is not None:
        await target.effects.record_done(LATER, "", later.wanted_hash)
    else:
        await ReportLabels(target, issue, touched, typed).put(Wanted.restore(later.payload))
