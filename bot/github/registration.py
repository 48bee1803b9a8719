"""The answers of GitHub to a code that a browser brings: a new App with its registration, or a person's token."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx
from pydantic import BaseModel, Field, ValidationError

from bot.errors import GoneError, RefusedError, RetryableError, UserError, unanswered
from bot.github.session import Session
from bot.github.values import Json, text

_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_HEADERS = {"Accept": "application/vnd.github+json", "User-Agent": "tracehound"}
_TIMEOUT, _LOGIN_TIMEOUT = 20.0, 10.0
"""httpx's timeouts for each network operation, in seconds."""
_ALL = 30.0
"""Seconds for listing all repositories of a person."""
_PAGE = 100
_OURS = frozenset(
    {"incorrect_client_credentials", "redirect_uri_mismatch", "unauthorized_client", "application_suspended"}
)
"""GitHub's error codes for faults of our settings; others are about the person's code."""
_TRIAGES = ("triage", "push", "maintain", "admin")
"""Permission flags that include triage; GitHub Enterprise Server may send only some of them."""
_PAGES = 100
"""Pages of one list; if a person can read more than 10,000 repositories, the first of them are shown."""
logger = logging.getLogger(__name__)


class NewApp(BaseModel):
    """An App with its secrets. GitHub sends them only once."""

    id: int
    slug: str
    private_key: str = Field(validation_alias="pem")
    webhook_secret: str
    client_id: str
    client_secret: str


async def exchange_code(api_url: str, code: str) -> NewApp:
    """Exchange the code for the App, without retries: a code that was sent is used up, whatever the response.

    Raises:
        UserError: The exchange failed; the message says what to do.
    """
    if not _CODE.fullmatch(code):
        raise UserError("GitHub sent no code. Start again")
    try:
        # Not the `Session`: the code in the path is the only credential, and there is no App yet to sign for.
        async with httpx.AsyncClient(timeout=_TIMEOUT, headers=_HEADERS) as http:
            response = await http.post(f"{api_url.rstrip('/')}/app-manifests/{code}/conversions")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise UserError(
            f"{unanswered(api_url, error)}: the App may exist there, but"
            " its key is lost. Delete it on GitHub, and start again"
        ) from error
    if response.status_code != 201:
        raise UserError(
            f"GitHub answered {response.status_code}: the code is unknown, or older than an hour. Start again"
        )
    try:
        return NewApp.model_validate_json(response.content)
    except ValidationError as error:
        raise UserError("GitHub's response contains no App: delete the App on GitHub, and start again") from error


@dataclass(frozen=True, slots=True)
class RegisteredApp:
    """The App as its settings page shows it."""

    slug: str
    permissions: Mapping[str, str]
    events: frozenset[str]
    hook_url: str
    """Empty if there is none."""
    hook_insecure: bool
    """Certificates are not verified."""


async def fetch_registered_app(app_id: str, private_key: str, api_url: str) -> RegisteredApp:
    """Return the App's registration, requested with the App's own key.

    Raises:
        BotError: GitHub does not know the App, or cannot be reached.
        ValueError: The key is not a private key.
    """
    async with aclosing(Session(app_id=app_id, private_key=private_key, api_url=api_url)) as session:
        authorization = await session.app_authorization()
        app: Json = (await session.send("GET", "/app", authorization=authorization)).object()
        try:
            hook: Json = (await session.send("GET", "/app/hook/config", authorization=authorization)).object()
        # An App may have no webhook.
        except GoneError:
            hook = {}
    return RegisteredApp(
        slug=text(app.get("slug")),
        permissions={str(name): str(level) for name, level in (app.get("permissions") or {}).items()},
        events=frozenset(map(str, app.get("events") or ())),
        hook_url=text(hook.get("url")),
        hook_insecure=str(hook.get("insecure_ssl", "0")) == "1",
    )


class LoggedOutError(RefusedError):
    """GitHub rejects the code or the token, which may be invalid, expired or revoked."""


@dataclass(frozen=True, slots=True)
class Person:
    """A GitHub account."""

    login: str
    """Empty if GitHub returns none."""
    id: int | None


class People:
    """Queries GitHub as the person who is logged in, with their token, which never leaves this process.

    Every call may raise LoggedOutError, if the code or the token is not valid (any more), and RetryableError, if GitHub
    does not respond.
    """

    def __init__(self, *, client_id: str, client_secret: str, server_url: str, api_url: str) -> None:
        self._client = {"client_id": client_id, "client_secret": client_secret}
        self._server = server_url.rstrip("/")
        self._api = api_url.rstrip("/")

    def address(self, *, state: str, challenge: str, redirect_uri: str) -> str:
        """Return the URL to which a browser is redirected to log in; ``challenge`` is RFC 7636's, by SHA-256."""
        parameters = {"client_id": self._client["client_id"], "state": state, "redirect_uri": redirect_uri}
        pkce = {"code_challenge": challenge, "code_challenge_method": "S256"}
        return f"{self._server}/login/oauth/authorize?{urlencode(parameters | pkce)}"

    async def token(self, code: str, *, verifier: str, redirect_uri: str) -> str:
        """Exchange the code with which the browser returned for the person's token."""
        # Checked first, because the code is a value from a browser's address and any page can link to it.
        if not _CODE.fullmatch(code):
            raise LoggedOutError("no code")
        form = {**self._client, "code": code, "code_verifier": verifier, "redirect_uri": redirect_uri}
        response = await self._request("POST", f"{self._server}/login/oauth/access_token", data=form)
        token = (response or {}).get("access_token")
        if not isinstance(token, str) or not token:
            _log_fault(response)
            raise LoggedOutError("no token")
        return token

    async def account(self, token: str) -> Person:
        """Return the person's account."""
        found = await self._request("GET", f"{self._api}/user", token=token) or {}
        number = found.get("id")
        return Person(str(found.get("login") or ""), number if isinstance(number, int) else None)

    async def repositories(self, token: str) -> dict[int, bool]:
        """Return the ids of the App's repositories that a person can read, each with whether they may triage there."""
        found: dict[int, bool] = {}
        try:
            # httpx limits each operation only, and a person may have hundreds of pages.
            async with asyncio.timeout(_ALL):
                async for installation in self._listed("/user/installations", "installations", token, needed=True):
                    path = f"/user/installations/{int(installation['id'])}/repositories"
                    async for repository in self._listed(path, "repositories", token):
                        # These flags are the person's.
                        flags = repository.get("permissions")
                        may_triage = isinstance(flags, dict) and any(flags.get(level) is True for level in _TRIAGES)
                        found[int(repository["id"])] = may_triage
        except (TimeoutError, KeyError, TypeError, ValueError) as error:
            raise RetryableError(unanswered(httpx.URL(self._api).host, error)) from error
        return found

    async def _listed(self, path: str, name: str, token: str, *, needed: bool = False) -> AsyncIterator[dict[str, Any]]:
        """Yield the items of every page; a list that is ``needed`` and refused is unknown, not empty."""
        for page in range(1, _PAGES + 1):
            listed = await self._request("GET", self._api + path, token=token, params={"per_page": _PAGE, "page": page})
            if listed is None and needed:
                logger.warning("GitHub refuses to list a person's installations", extra={"action": "login_refused"})
                raise RetryableError("GitHub does not list the installations")
            items = (listed or {}).get(name) or []
            for item in items:
                yield item
            if len(items) < _PAGE:
                return

    async def _request(self, method: str, address: str, *, token: str = "", **options: Any) -> dict[str, Any] | None:
        """Return GitHub's JSON object; None for 403 and 404."""
        headers = {"Accept": "application/json", "User-Agent": "tracehound"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            # A new client for each request, so that cookies of one person never reach the request of another.
            async with httpx.AsyncClient(timeout=_LOGIN_TIMEOUT, headers=headers) as http:
                response = await http.request(method, address, **options)
                body = response.json() if response.status_code == 200 else {}
        except (httpx.HTTPError, ValueError) as error:
            raise RetryableError(unanswered(httpx.URL(address).host, error)) from error
        if response.status_code == 401:
            raise LoggedOutError("GitHub no longer accepts the token")
        if response.status_code in (403, 404):
            return None  # suspended, or the person has no access any more
        if response.status_code != 200 or not isinstance(body, dict):
            raise RetryableError(f"GitHub answered {response.status_code}")
        return body


def _log_fault(response: dict[str, Any] | None) -> None:
    """Log faults that only the operator can fix."""
    fault = "no such address" if response is None else str(response.get("error") or "")
    if response is None or fault in _OURS:
        logger.error(
            "GitHub refuses logins (%s): check GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET and the App's callback address",
            fault,
            extra={"action": "login_misconfigured"},
        )
