"""Fetch the attachments of an issue, from allowed hosts only and with strict limits."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx

_HOPS = 3
"""Requests for one attachment: its address and its redirects."""


class Resolved(NamedTuple):
    """An address to connect to."""

    address: str
    port: int


Resolve = Callable[[str], Awaitable[Resolved]]


class RefusedAttachment(Exception):  # noqa: N818  an expected outcome; the message is for people
    """The attachment is not fetched."""


async def resolve_public(host: str) -> Resolved:
    """Return a public address of a host.

    Raises:
        RefusedAttachment: the host has a private address, also if it has public ones too.
        OSError: the host is unknown.
    """
    found = await _addresses(host)
    if not found or not all(ipaddress.ip_address(address).is_global for address in found):
        raise RefusedAttachment("the host has a private address")
    return Resolved(found[0], 443)


async def resolve_any(host: str) -> Resolved:
    """Return an address of a host that the operator named; it may be private.

    Raises:
        OSError: the host is unknown.
    """
    return Resolved((await _addresses(host))[0], 443)


async def _addresses(host: str) -> list[str]:
    loop = asyncio.get_running_loop()
    return [str(info[4][0]) for info in await loop.getaddrinfo(host, 443, type=socket.SOCK_STREAM)]


class AttachmentLimits(NamedTuple):
    """Limits on the attachments of an issue."""

    number: int
    """The first ones of an issue and its answers."""
    max_bytes: int
    """Of one attachment, packed if it is an archive."""
    seconds: float
    """For one attachment, redirects included."""


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches attachments over https, each from one of the allowed hosts."""

    hosts: frozenset[str]
    pages: str
    """The host that has pages besides attachments, such as ``github.com``."""
    attachments: re.Pattern[str]
    """The paths of attachments on it."""
    limits: AttachmentLimits
    resolve: Resolve = resolve_public
    tls: ssl.SSLContext | None = None
    """Certificates to trust; None for the machine's."""

    def client(self) -> httpx.AsyncClient:
        """Return a client for some requests."""
        # No proxy of the environment: the address that was checked is the one that is connected to.
        tls = self.tls or ssl.create_default_context()  # httpx brings certificates of its own
        return httpx.AsyncClient(verify=tls, trust_env=False, follow_redirects=False)

    async def get(self, client: httpx.AsyncClient, url: str) -> bytes:
        """Return the content of an attachment, through at most two redirects.

        Raises:
            RefusedAttachment: it may not be fetched, is too large, or is not there.
        """
        for _ in range(_HOPS):
            host = self._allowed(url)
            resolved = await self.resolve(host)
            # Connected by address: a second lookup could give another one than was checked.
            target = httpx.URL(url).copy_with(host=resolved.address, port=resolved.port)
            headers = {"Host": host, "Accept": "*/*", "User-Agent": "tracehound", "Accept-Encoding": "identity"}
            async with client.stream(
                "GET", target, headers=headers, timeout=self.limits.seconds, extensions={"sni_hostname": host}
            ) as response:
                if not response.has_redirect_location:
                    return await self._content(response)
                url = urljoin(url, response.headers["location"])
        raise RefusedAttachment("too many redirects")

    def _allowed(self, url: str) -> str:
        """Return the host of an address that may be requested."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme != "https" or parts.username or parts.password or parts.port not in (None, 443):
            raise RefusedAttachment("not a plain https address")
        if host not in self.hosts:
            raise RefusedAttachment("the host is not allowed")
        if host == self.pages and not self.attachments.match(parts.path):
            raise RefusedAttachment("not an attachment")
        return host

    async def _content(self, response: httpx.Response) -> bytes:
        if response.status_code != 200:
            raise RefusedAttachment(f"HTTP {response.status_code}")
        content = bytearray()
        # Raw: a bomb would be expanded before it is measured.
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self.limits.max_bytes:
                raise RefusedAttachment("too large")
        return bytes(content)


async def within(seconds: float, work: Awaitable[bytes]) -> bytes:
    """Return what the work returns in time.

    Raises:
        RefusedAttachment: it fails in any way.
    """
    try:
        async with asyncio.timeout(seconds):
            return await work
    except TimeoutError as error:
        raise RefusedAttachment("not received in time") from error
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        raise RefusedAttachment("not reachable") from error
