"""What pages are made from."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from bot.settings import Settings
from bot.store.tables import Store
from bot.web.door import Door
from bot.web.sessions import Sessions, session_secret


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of the server that pages ask."""

    settings: Settings
    store: Store
    door: Door

    @classmethod
    def of(cls, settings: Settings, store: Store) -> Site:
        """Put them together from the settings."""
        given = settings.triage_session_secret
        secret = session_secret(given.get_secret_value() if given else None, settings.triage_data_dir)
        sessions = Sessions(secret, https=(settings.triage_public_url or "").startswith("https:"))
        token = settings.triage_admin_token
        return cls(settings, store, Door(sessions, token.get_secret_value() if token else None))


def site_of(request: Request) -> Site:
    """The site a request came to."""
    site: Site = request.app.state.site
    return site
