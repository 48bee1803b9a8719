"""Reports the faults of a repository's configuration once: in a comment of the issue that claims them first."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports import IssueRef
from bot.report.languages.translate import translate
from bot.report.sanitise import prose
from bot.settings.repository_file import PATH, FoundConfig
from bot.store.effects import Effects
from bot.worker.publish.poster import Poster


@dataclass(frozen=True, slots=True)
class ConfigFaults:
    """The faults of the configuration that one issue's run read."""

    effects: Effects
    ref: IssueRef
    found: FoundConfig

    async def note(self) -> str:
        """Return the faults for the first comment after they appeared; else an empty string."""
        if self.found.config.mode != "comment" or not await self._claims_report():
            return ""
        return f"{first_faults(self.found)} Until it is fixed, the last valid version applies."

    async def post(self, poster: Poster) -> None:
        """Post one comment per repository, if the faults alone prevent all other writes."""
        if not self.found.may_tell or not await self._claims_report():
            return
        marker = f"<!-- triage:config {self.found.digest} -->"
        message = translate(
            f"For maintainers: {first_faults(self.found)} Until it is fixed, triage writes nothing else here.",
            self.found.config.language,
        )
        await poster.put("config", self.found.digest, marker, f"{marker}\n\n{message}\n")
        await self.record_reported()

    async def record_reported(self) -> None:
        """Record that a comment with the faults was posted."""
        if self.found.faults:
            await self.effects.record_done(self._key, "config", self.found.digest, self.ref.key)

    async def _claims_report(self) -> bool:
        """Return whether the faults are reported on this issue: the first issue that claims them."""
        if not self.found.faults:
            return False
        claimed = await self.effects.claim(self._key, "config", self.found.digest, self.ref.key)
        return claimed.payload == self.ref.key

    @property
    def _key(self) -> str:
        """The key of the repository's own effects: issue #0, which cannot exist on GitHub."""
        return f"{self.ref.repository.key}#0"


def first_faults(found: FoundConfig) -> str:
    """Return the first three faults, each with its line."""
    message = "; ".join(prose(str(fault)) for fault in found.faults[:3])
    return f"`{PATH}`, {message}{'' if message.endswith('?') else '.'}"
