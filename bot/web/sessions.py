"""Who logged in, as a signed cookie: it holds no token and nothing of a repository."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import Response

LASTS = 12 * 3600
"""Seconds from a login to the next one."""


class Sessions:
    """Writes and reads a cookie."""

    def __init__(self, secret: bytes, *, https: bool, name: str = "triage", lasts: int = LASTS) -> None:
        """Sign with a secret.

        Args:
            secret: whoever knows it can log in as anybody.
            https: browsers see these pages by https, and may send the cookie by nothing else.
            name: the cookie's; what was signed for one is nothing to another.
            lasts: seconds for which it is believed.
        """
        self._signer = URLSafeTimedSerializer(
            secret, salt=f"tracehound.{name}", signer_kwargs={"digest_method": hashlib.sha256}
        )
        self._https = https
        self._name = name
        self._lasts = lasts

    def write(self, request: Request, response: Response, said: dict[str, Any]) -> None:
        """Let the browser say this from now on."""
        secure = self._secure(request)
        response.set_cookie(
            self._named(secure=secure),
            self._signer.dumps(said),
            max_age=self._lasts,
            secure=secure,
            httponly=True,
            samesite="lax",  # strict would log out whoever follows a link from an issue
        )

    def read(self, request: Request) -> dict[str, Any] | None:
        """What a browser says, unless it is too old or was not written by us."""
        cookie = request.cookies.get(self._named(secure=self._secure(request)), "")
        try:
            said = self._signer.loads(cookie, max_age=self._lasts)
        except BadData:
            return None
        return said if isinstance(said, dict) else None

    def forget(self, request: Request, response: Response) -> None:
        """Let the browser say nothing."""
        secure = self._secure(request)
        response.delete_cookie(self._named(secure=secure), secure=secure, httponly=True, samesite="lax")

    def _named(self, *, secure: bool) -> str:
        """With the prefix a browser takes it from this very host alone."""
        return f"__Host-{self._name}" if secure else self._name

    def _secure(self, request: Request) -> bool:
        return self._https or request.headers.get("x-forwarded-proto", request.url.scheme) == "https"


def session_secret(given: str | None, directory: Path) -> bytes:
    """The operator's secret, or one that is made up once and kept in the data directory."""
    if given:
        return given.encode()
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "session-secret"
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_bytes()
    with open(file, "wb") as opened:
        opened.write(secrets.token_hex(32).encode())
    return path.read_bytes()
