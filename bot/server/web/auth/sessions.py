"""Sessions as signed cookies without readable tokens or repository data, and the viewer behind one."""

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

LASTS = 12 * 3600
"""Seconds for which a login is valid."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """A logged-in user."""

    name: str
    """Displayed only to the user."""
    repositories: frozenset[str] | None
    """Keys of the repositories that GitHub lets the user see; None for the operator, who sees all."""
    triages: frozenset[str] = frozenset()
    """Keys of those in which GitHub grants the user at least the triage permission."""
    id: int | None = None
    """The user's id on GitHub; None for the operator."""

    @property
    def is_operator(self) -> bool:
        """Whether the viewer is the operator, who may see and replay everything."""
        return self.repositories is None

    def may_see(self, repository_key: str) -> bool:
        """Return whether the viewer may see a repository and everything that belongs to it."""
        return self.repositories is None or repository_key in self.repositories

    def may_triage(self, repository_key: str) -> bool:
        """Return whether to offer the user a repository's commands; GitHub is asked again before one runs."""
        return self.repositories is None or repository_key in self.triages


def viewer_of(request: Request) -> Viewer:
    """Return the viewer of a request. Behind the login there always is one; elsewhere the answer is 401."""
    viewer: Viewer | None = getattr(request.state, "viewer", None)
    if viewer is None:
        raise HTTPException(401)
    return viewer


class Sessions:
    """Writes and reads one signed cookie."""

    def __init__(self, secret: bytes, *, https: bool, name: str = "triage", lasts: int = LASTS) -> None:
        """Sign cookies that are valid for ``lasts`` seconds; with ``https``, browsers reach these pages by it only."""
        # The salt contains the cookie's name, so that one cookie's value is invalid as another's.
        signs = {"digest_method": hashlib.sha256}
        self._signer = URLSafeTimedSerializer(secret, salt=f"tracehound.{name}", signer_kwargs=signs)
        self._https = https
        self._name = name
        self._lasts = lasts

    def write(self, request: Request, response: Response, payload: dict[str, Any]) -> None:
        """Set the cookie to a signed payload."""
        secure = self._secure(request)
        response.set_cookie(
            self._named(secure=secure),
            self._signer.dumps(payload),
            max_age=self._lasts,
            secure=secure,
            httponly=True,
            samesite="lax",  # with strict, a link from an issue would arrive logged out
        )

    def read(self, request: Request) -> dict[str, Any] | None:
        """Return the payload of the cookie; None if it is missing, expired or not signed by us."""
        cookie = request.cookies.get(self._named(secure=self._secure(request)), "")
        try:
            payload = self._signer.loads(cookie, max_age=self._lasts)
        except BadData:
            return None
        return payload if isinstance(payload, dict) else None

    def forget(self, request: Request, response: Response) -> None:
        """Delete the cookie."""
        secure = self._secure(request)
        response.delete_cookie(self._named(secure=secure), secure=secure, httponly=True, samesite="lax")

    def _named(self, *, secure: bool) -> str:
        """Return the cookie's name. Browsers accept the prefix ``__Host-`` only from this exact host."""
        return f"__Host-{self._name}" if secure else self._name

    def _secure(self, request: Request) -> bool:
        # A proxy that ends TLS names the browser's scheme in this header.
        return self._https or request.headers.get("x-forwarded-proto", request.url.scheme) == "https"


def session_secret(given: str | None, directory: Path) -> bytes:
    """Return the configured secret, or one that is generated once and stored in the data directory."""
    if given:
        return given.encode()
    # O_EXCL: when two processes start at once, one creates the file and both read the same secret.
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "session-secret"
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with open(file, "wb") as opened:
        opened.write(secrets.token_hex(32).encode())
    return path.read_bytes()
