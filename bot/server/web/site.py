"""The dependencies of the pages, and the repository and the run that the address of a page names."""

from collections.abc import Callable
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import Request

from bot.github.registration import People
from bot.server.web.auth.authentication import Accounts, Authenticator
from bot.server.web.auth.sessions import Sessions, session_secret, viewer_of
from bot.settings.environment import Settings
from bot.store.installations import EndedSessions
from bot.store.pages.overview import RepositoryRow
from bot.store.pages.runs import FullRun
from bot.store.tables import Store

# Above any run's number, and small enough to be compared by both databases.
_MAX_NUMBER = 2**31


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of the server that pages use."""

    settings: Settings
    store: Store
    authenticator: Authenticator
    wake: Callable[[], None]
    """Signals that a job was stored."""

    def address(self, request: Request) -> str:
        """Return the address under which browsers reach this server, without a trailing slash."""
        return (self.settings.triage_public_url or f"{request.url.scheme}://{request.url.netloc}").rstrip("/")


def build_authenticator(settings: Settings, ended: EndedSessions | None = None) -> Authenticator:
    """Build the authentication that the settings allow."""
    given, token = settings.triage_session_secret, settings.triage_admin_token
    secret = session_secret(given.get_secret_value() if given else None, settings.triage_data_dir)
    https = (settings.triage_public_url or "").startswith("https:")
    people = None
    if settings.github_client_id is not None and settings.github_client_secret is not None:
        people = People(
            client_id=settings.github_client_id,
            client_secret=settings.github_client_secret.get_secret_value(),
            server_url=settings.github_server_url,
            api_url=settings.github_api_url,
        )
    return Authenticator(
        Sessions(secret, https=https),
        token.get_secret_value() if token else None,
        oauth_states=Sessions(secret, https=https, name="triage-oauth", lasts=600),
        accounts=Accounts(people, settings.server, secret) if people else None,
        ended=ended,
    )


def site_of(request: Request) -> Site:
    """Return the site of the application that received the request."""
    site: Site = request.app.state.site
    return site


async def repository_of(request: Request) -> RepositoryRow:
    """Return the repository that the path names; 404 if it does not exist or the viewer may not see it."""
    owner, name = request.path_params["owner"], request.path_params["name"]
    found = await site_of(request).store.pages.repositories.named(owner, name)
    # As if a hidden repository did not exist.
    if found is None or not viewer_of(request).may_see(found.key):
        raise HTTPException(404)
    return found


async def full_run(request: Request) -> FullRun:
    """Return the run that the path names with its result; 404 if it does not exist or the viewer may not see it."""
    repository = await repository_of(request)
    issue, number = request.path_params["issue"], request.path_params["run"]
    if max(issue, number) >= _MAX_NUMBER:
        raise HTTPException(404)
    found = await site_of(request).store.pages.runs.full(f"{repository.key}#{issue}", number)
    if found is None:
        raise HTTPException(404)
    return found
