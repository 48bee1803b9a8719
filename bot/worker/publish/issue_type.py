"""Set an issue's type where its organisation has types, and never against a person's choice."""

from __future__ import annotations

from dataclasses import dataclass

from bot.github.repository import RepositoryClient
from bot.ports import Issue, Outcome, OwnerCheck
from bot.report.words import confidence_word
from bot.settings.repository import RepositoryConfig
from bot.store.effects import Effects
from nodes.issue.kinds import classify
from nodes.report import TriageReport
from nodes.state import Finished

_KIND = "type"
_MAX_RATIONALE = 280
"""Characters; GitHub's own tools send no more."""


@dataclass(frozen=True, slots=True)
class WantedType:
    """The type that a report leads to."""

    name: str = ""
    """Empty if the repository's configuration has none for the report's kind."""
    suggested: bool = False
    """Sent as a suggestion for people, with the rationale, and not as a change."""
    rationale: str = ""
    """A checked sentence of the report; empty if it has none."""


def wanted_type(outcome: Outcome, config: RepositoryConfig) -> WantedType:
    """Return the issue type that the outcome and the repository's configuration lead to."""
    report = outcome.state.report if isinstance(outcome, Finished) else None
    name = config.types.map.get(report.kind, "") if report is not None else ""
    if report is None or not name:
        return WantedType()
    return WantedType(name, config.types.suggest, _rationale(report))


def _rationale(report: TriageReport) -> str:
    return report.facts[report.headline].says if report.headline is not None else ""


@dataclass(frozen=True, slots=True)
class TypeSetter:
    """Sets the type of one issue."""

    github: RepositoryClient
    effects: Effects
    owner_check: OwnerCheck

    async def put(self, wanted: WantedType, issue: Issue, *, decided: bool) -> bool:
        """Set or suggest the type; return whether the repository has it, so that no label has to say the same.

        Args:
            wanted: The type.
            issue: The issue as it is now.
            decided: A person set or removed a type of the issue, which is left alone from then on.

        Raises:
            RateLimitedError: The budget of writes is used up.
            RefusedError: GitHub refuses the change.
        """
        if not wanted.name or issue.type is None:
            return False
        before = await self.effects.get(issue.ref.key, _KIND)
        ours = before.payload if before is not None and before.done_hash == before.wanted_hash else None
        # A type that is not ours is a person's or a form's; one of ours that is gone was removed by a person.
        if issue.type.casefold() == wanted.name.casefold() or decided or issue.type != (ours or ""):
            return True
        names = {name.casefold(): name for name in await self.github.issue_types()}
        name = names.get(wanted.name.casefold())
        return name is not None and await self._write(name, wanted, issue)

    async def _write(self, name: str, wanted: WantedType, issue: Issue) -> bool:
        key = issue.ref.key
        await self.effects.set_wanted(key, _KIND, "", name, name)
        await self.owner_check()
        suggestion = _suggestion(wanted, issue) if wanted.suggested else None
        # GitHub drops a type without an error where the App may not set it.
        done = await self.github.set_type(issue.ref.number, name, suggestion) == name or wanted.suggested
        if done:
            await self.effects.record_done(key, _KIND, "", name)
        return done


def _suggestion(wanted: WantedType, issue: Issue) -> dict[str, str]:
    sure = confidence_word(classify(issue.title, issue.body).confidence)
    return {"confidence": sure} | ({"rationale": wanted.rationale[:_MAX_RATIONALE]} if wanted.rationale else {})
