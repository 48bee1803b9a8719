"""How long stored data is retained."""

from __future__ import annotations

from dataclasses import dataclass

from bot.settings import Settings

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Retention:
    """Retention times, in seconds."""

    deliveries: float
    """Deliveries and finished jobs."""
    closed: float
    """What runs gathered, counted from the closing of their issue."""
    gone: float
    """All data of a repository that the App can no longer access."""
    mirrors: float
    """Unused mirrors."""

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """Read them from the settings."""
        return cls(
            deliveries=settings.triage_keep_deliveries_days * _DAY,
            closed=settings.triage_keep_closed_days * _DAY,
            gone=settings.triage_keep_gone_days * _DAY,
            mirrors=settings.triage_keep_mirrors_days * _DAY,
        )
