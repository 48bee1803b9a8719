"""Sends requests: one connection pool for all tasks, time limits, retries of reads and never of writes."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpx
import jwt

from bot.errors import AppRefusedError, BotError, MovedError, OutcomeUnknownError, RetryableError, unanswered
from bot.github.responses import Answer, UndecodableError, answer_of, fault_of, is_signed_by_app
from bot.observability.measures import GITHUB_CALLS, GITHUB_REMAINING

_PAUSES = (0.2, 0.8)
"""Seconds before a read is sent again. After a third failure the job decides about retries."""
_SIGNED_FOR = 600
"""Seconds for which a signature of the App is valid, which is the most that GitHub accepts."""
_USED_FOR = 480.0
"""Seconds for which a signature is used again."""
_REDIRECTS = 3
"""Maximum requests of one call, including redirects."""
_READS = frozenset({"GET", "HEAD"})
_RESOURCES = frozenset({"core", "search", "code_search", "graphql", "integration_manifest"})


class Session:
    """GitHub's REST API at one address, for one App."""

    def __init__(self, *, app_id: str, private_key: str, api_url: str, timeout: float = 10.0) -> None:
        self._api = httpx.URL(api_url.rstrip("/"))
        self._client = httpx.AsyncClient(
            headers={"User-Agent": "tracehound", "Accept": "application/vnd.github+json"},
            # A request that waits for a connection has the whole time of its call.
            timeout=httpx.Timeout(timeout, pool=None),
            verify=ssl.create_default_context(),
        )
        self._app_id = app_id
        self._private_key = private_key
        self._signature = "", 0.0
        self.app_fault = ""
        """Why GitHub refused the App's last signature; empty if it accepted it."""
        # All tries of one request with their pauses.
        self._patience = (len(_PAUSES) + 1) * timeout + sum(_PAUSES)

    def app_authorization(self) -> str:
        """Return the authorization header for requests as the App itself.

        Raises:
            jwt.InvalidKeyError: The private key is none.
        """
        signature, signed = self._signature
        now = time.time()
        if not signed <= now < signed + _USED_FOR:
            began = int(now) - 60  # GitHub's clock may be behind
            claims = {"iss": self._app_id, "iat": began, "exp": began + _SIGNED_FOR}
            signature = jwt.encode(claims, self._private_key, algorithm="RS256")
            self._signature = signature, now
        return f"Bearer {signature}"

    async def send(
        self,
        method: str,
        path: str,
        *,
        authorization: str,
        json: Mapping[str, Any] | None = None,
        params: Mapping[str, str | int] | None = None,
        follow: bool = True,
        etag: str = "",
        accept: str = "",
    ) -> Answer:
        """Send a request and return its successful response. Redirects of reads are followed.

        Args:
            method: GET, POST, …
            path: Path below the API's address, without its query.
            authorization: The header; empty sends the request without authentication.
            json: The body.
            params: The query.
            follow: Follow redirects of reads.
            etag: ETag of the cached response. If that is still valid, the status is 304 and there is no data.
            accept: The media type; empty for GitHub's default.

        Raises:
            UndecodableError: The response is not GitHub's.
            BotError: Any other failure, as one of our types.
        """
        url = self._api.copy_with(raw_path=self._api.raw_path.rstrip(b"/") + path.encode("ascii"))
        for _ in range(_REDIRECTS):
            response = await self._once(
                method, url, authorization=authorization, etag=etag, accept=accept, json=json, params=params
            )
            if not response.has_redirect_location:
                return answer_of(response, conditional=bool(etag))
            # The location contains the query already.
            url, params = self._target(response), None
            # A write is never sent a second time, so its redirect is an error.
            if not follow or method not in _READS:
                raise MovedError(f"GitHub answered {response.status_code} to {method}", to=url.path)
        raise RetryableError(f"{method}: redirected more than {_REDIRECTS} times")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _once(
        self, method: str, url: httpx.URL, *, authorization: str, etag: str, accept: str, **options: Any
    ) -> httpx.Response:
        headers = {"Authorization": authorization} if authorization else {}
        if accept:
            headers["Accept"] = accept
        if etag:
            headers["If-None-Match"] = etag
        # Pinned, because a later default version may change the shape of responses.
        headers["X-GitHub-Api-Version"] = "2022-11-28"
        request = self._client.build_request(method, url, headers=headers, **options)
        try:
            # httpx limits each read and write, not the request: a server that sends byte by byte would never time out.
            async with asyncio.timeout(self._patience):
                answer = await self._answered(request)
        except (httpx.HTTPError, OSError) as error:  # which includes the end of our own time
            raise _unanswered(method, url, error) from error
        _count(answer)
        if answer.is_error:
            fault = fault_of(answer)
            if isinstance(fault, AppRefusedError):
                self.app_fault = str(fault)
            raise fault
        if is_signed_by_app(request):
            self.app_fault = ""
        return answer

    async def _answered(self, request: httpx.Request) -> httpx.Response:
        """Send a request. Only reads are repeated, and only where a short wait can help."""
        for pause in _PAUSES if request.method in _READS else ():
            with suppress(httpx.HTTPError, OSError):
                answer = await self._client.send(request)
                if answer.status_code < 500:
                    return answer
            await asyncio.sleep(pause)
        return await self._client.send(request)

    def _target(self, response: httpx.Response) -> httpx.URL:
        """Return the target of a redirect. Our token is sent only to the API it is for.

        Raises:
            UndecodableError: It is another server, as with a proxy's login page; GitHub's API never redirects there.
        """
        url = response.request.url.join(response.headers.get("location", ""))
        if (url.scheme, url.host, url.port) != (self._api.scheme, self._api.host, self._api.port):
            raise UndecodableError(f"{response.request.method}: redirected to another server")
        return url


def _count(answer: httpx.Response) -> None:
    GITHUB_CALLS.labels(answer.request.method, str(answer.status_code)).inc()
    remaining = answer.headers.get("x-ratelimit-remaining", "")
    # A fixed set of labels: a header must not be able to create metrics.
    if remaining.isdecimal():
        resource = answer.headers.get("x-ratelimit-resource", "core")
        GITHUB_REMAINING.labels(resource if resource in _RESOURCES else "other").set(int(remaining))


def _unanswered(method: str, url: httpx.URL, cause: Exception) -> BotError:
    """Return the error for a missing response: a write may have been executed, unless no connection was made."""
    GITHUB_CALLS.labels(method, "0").inc()
    says = unanswered(url.host, cause)
    # Without a connection nothing was sent, so even a POST may be repeated.
    unsent = isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return OutcomeUnknownError(says) if method == "POST" and not unsent else RetryableError(says)
