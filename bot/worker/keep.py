"""For how long what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from bot.settings import Settings

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Keep:
    """In seconds."""

    deliveries: float
    """Deliveries, and jobs that are done."""
    closed: float
    """What runs gathered, after their issue was closed."""
    gone: float
    """Everything of a repository that is no longer ours."""
    mirrors: float
    """Mirrors that nobody used."""

    @classmethod
    def of(cls, settings: Settings) -> Keep:
        """As the settings say."""
        return cls(
            deliveries=settings.triage_keep_deliveries_days * _DAY,
            closed=settings.triage_keep_closed_days * _DAY,
            gone=settings.triage_keep_gone_days * _DAY,
            mirrors=settings.triage_keep_mirrors_days * _DAY,
        )
