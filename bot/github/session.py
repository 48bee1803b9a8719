"""Sends requests: one connection pool for all tasks, time limits, retries of reads and never of writes."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import githubkit
import httpx
from githubkit.auth import UnauthAuthStrategy
from githubkit.auth.app import AppAuth
from githubkit.exception import GitHubException, RequestError, RequestFailed
from githubkit.response import Response
from githubkit.typing import RetryOption

from bot.errors import AppRefusedError, BotError, MovedError, OutcomeUnknownError, RetryableError, unanswered
from bot.github.responses import GitHubResponse, UndecodableError, answer_of, fault_of, is_signed_by_app
from bot.observability.measures import GITHUB_CALLS, GITHUB_REMAINING

_PAUSES = (0.2, 0.8)
"""Seconds before a read is sent again. After a third failure the job decides about retries."""
_REDIRECTS = 3
"""Maximum requests of one call, including redirects."""
_READS = frozenset({"GET", "HEAD"})
_RESOURCES = frozenset({"core", "search", "code_search", "graphql", "integration_manifest"})


class Session:
    """GitHub's REST API at one address, for one App."""

    def __init__(self, *, app_id: str, private_key: str, api_url: str, timeout: float = 10.0) -> None:
        self._api = httpx.URL(api_url.rstrip("/"))
        self._kit = _PooledGitHub(
            base_url=str(self._api),
            user_agent="tracehound",
            follow_redirects=False,
            timeout=timeout,
            ssl_verify=ssl.create_default_context(),
            # `bot.github.channel` caches responses itself, by tenant and within limits.
            http_cache=False,
            auto_retry=_read_again,  # githubkit's own rule would repeat a POST
        )
        self._app = AppAuth(self._kit, app_id, private_key)
        self.app_fault = ""
        """Why GitHub refused the App's last signature; empty if it accepted it."""
        # All tries of one request with their pauses.
        self._patience = (len(_PAUSES) + 1) * timeout + sum(_PAUSES)

    async def app_authorization(self) -> str:
        """Return the authorization header for requests as the App itself."""
        return f"Bearer {await self._app.aget_jwt()}"

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
    ) -> GitHubResponse:
        """Send a request and return its successful response. Redirects of reads are followed.

        ``path`` is below the API's address, without its query; an empty ``authorization`` sends no header. If the
        cached response with the ``etag`` is still valid, the status is 304 and there is no data.

        Raises:
            UndecodableError: The response is not GitHub's.
            BotError: Any other failure, as one of our types.
        """
        url = self._api.copy_with(raw_path=self._api.raw_path.rstrip(b"/") + path.encode("ascii"))
        for _ in range(_REDIRECTS):
            response = await self._once(method, url, authorization=authorization, etag=etag, json=json, params=params)
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
        await self._kit.aclose()

    async def _once(
        self, method: str, url: httpx.URL, *, authorization: str, etag: str, **options: Any
    ) -> httpx.Response:
        headers = {"Authorization": authorization} if authorization else {}
        if etag:
            headers["If-None-Match"] = etag
        # Pinned, because a later default version may change the shape of responses.
        headers["X-GitHub-Api-Version"] = "2022-11-28"
        try:
            # httpx limits each read and write, not the request: a server that sends byte by byte would never time out.
            async with asyncio.timeout(self._patience):
                done = await self._kit.arequest(method, url, headers=headers, **options)
        except RequestFailed as error:
            fault = fault_of(_counted(error.response.raw_response))
            if isinstance(fault, AppRefusedError):
                self.app_fault = str(fault)
            raise fault from error
        except RequestError as error:
            raise _unanswered(method, url, error.exc) from error
        except TimeoutError as error:
            raise _unanswered(method, url, error) from error
        if is_signed_by_app(done.raw_request):
            self.app_fault = ""
        return _counted(done.raw_response)

    def _target(self, response: httpx.Response) -> httpx.URL:
        """Return the target of a redirect. Our token is sent only to the API it is for.

        Raises:
            UndecodableError: It is another server, as with a proxy's login page; GitHub's API never redirects there.
        """
        url = response.request.url.join(response.headers.get("location", ""))
        if (url.scheme, url.host, url.port) != (self._api.scheme, self._api.host, self._api.port):
            raise UndecodableError(f"{response.request.method}: redirected to another server")
        return url


def _counted(answer: httpx.Response) -> httpx.Response:
    GITHUB_CALLS.labels(answer.request.method, str(answer.status_code)).inc()
    remaining = answer.headers.get("x-ratelimit-remaining", "")
    # A fixed set of labels: a header must not be able to create metrics.
    if remaining.isdecimal():
        resource = answer.headers.get("x-ratelimit-resource", "core")
        GITHUB_REMAINING.labels(resource if resource in _RESOURCES else "other").set(int(remaining))
    return answer


def _unanswered(method: str, url: httpx.URL, cause: Exception) -> BotError:
    """Return the error for a missing response: a write may have been executed, unless no connection was made."""
    GITHUB_CALLS.labels(method, "0").inc()
    says = unanswered(url.host, cause)
    # Without a connection nothing was sent, so even a POST may be repeated.
    unsent = isinstance(cause, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
    return OutcomeUnknownError(says) if method == "POST" and not unsent else RetryableError(says)


def _read_again(error: GitHubException, tries: int) -> RetryOption:
    """Decide about a retry: only reads are repeated, and only if a short wait can help."""
    if not isinstance(error, RequestError) or tries >= len(_PAUSES):
        return RetryOption(do_retry=False)
    request = getattr(error.exc, "_request", None)
    failed = isinstance(error, RequestFailed) and error.response.status_code < 500
    again = request is not None and request.method in _READS and not failed
    return RetryOption(again, timedelta(seconds=_PAUSES[tries]))


class _PooledGitHub(githubkit.GitHub[UnauthAuthStrategy]):
    """githubkit with one connection pool for all tasks, and without its own handling of rate limits."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self._pool: httpx.AsyncClient | None = None

    @asynccontextmanager
    async def get_async_client(self) -> AsyncIterator[httpx.AsyncClient]:
        """Yield the shared client; githubkit's own is visible only to the task that entered it."""
        if self._pool is None:
            self._pool = await self._create_async_client()
        yield self._pool

    def _check_rate_limit(self, response: Response[Any]) -> None:
        """Do nothing: ``bot.github.responses`` handles limits, and githubkit raises for a date in Retry-After."""

    async def aclose(self) -> None:
        """Close the pool."""
        if self._pool is not None:
            await self._pool.aclose()
            self._pool = None
