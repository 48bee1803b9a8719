"""Fetch the pictures of an issue, and other attachments, from allowed hosts only and with strict limits."""

from __future__ import annotations

import asyncio
import base64
import html
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx

from bot.errors import BotError
from bot.settings.operator import PicturesConfig
from nodes.context import Picture, Pictures
from nodes.search.issue.normal.fences import outside_fences

_HOPS = 3
"""Requests for one attachment: its address and its redirects."""
NOT_SHOWN = "HTTP 404"
"""The refusal of an attachment that is missing, or that belongs to a private repository."""
_PICTURE = re.compile(
    r"""!\[[^\[\]\n]{0,300}\]\([ \t]{0,9}<?(https?://[^\s()<>"']{1,1000})"""
    r"""|<img\b[^<>]{0,500}?\bsrc[ \t]{0,9}=[ \t]{0,9}["']?(https?://[^\s<>"']{1,1000})""",
    re.IGNORECASE,
)
_MAX_BODY = 131_072
_ATTACHMENT = re.compile(r"/user-attachments/assets/|/[\w.-]{1,100}/[\w.-]{1,100}/assets/")
_KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_MAX_PIXELS = 40_000_000
"""Maximum pixels of a PNG or GIF. A small file can expand to gigabytes in a server that decodes it."""
_TOO_MANY = "more pictures than the limit"
_SIGNED = re.compile(r"https://private-user-images\.githubusercontent\.com/[^\s\"'<>]{1,4000}")
_MAX_HTML = 2_000_000
Rendered = Callable[[], Awaitable[str]]
"""Returns the issue as HTML, with the addresses that GitHub signs for its reader."""


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


LIMITS = AttachmentLimits(number=3, max_bytes=4_000_000, seconds=10.0)


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches attachments over https, each from one of the allowed hosts."""

    hosts: frozenset[str]
    pages: str
    """The host that has pages besides attachments, such as ``github.com``."""
    attachments: re.Pattern[str]
    """The paths of attachments on it."""
    limits: AttachmentLimits
    accept: str = "*/*"
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
            headers = {"Host": host, "Accept": self.accept, "User-Agent": "tracehound", "Accept-Encoding": "identity"}
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
            raise RefusedAttachment(NOT_SHOWN if response.status_code == 404 else f"HTTP {response.status_code}")
        content = bytearray()
        # Raw: a compressed picture gains nothing, and a bomb would be expanded before it is measured.
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


class PictureFetcher:
    """Fetches pictures over https, without any credentials."""

    def __init__(
        self,
        config: PicturesConfig,
        *,
        limits: AttachmentLimits = LIMITS,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Fetch within these limits.

        ``resolve``: None refuses private addresses. ``tls``: None trusts the machine's certificates.
        """
        self._config = config
        self._fetcher = Fetcher(
            hosts=frozenset(config.hosts),
            pages="github.com",
            attachments=_ATTACHMENT,
            limits=limits,
            accept="image/*",
            resolve=resolve or resolve_public,
            tls=tls,
        )
        self._rendered: Rendered | None = None

    def reading(self, rendered: Rendered) -> PictureFetcher:
        """Return a fetcher for one issue, which also finds attachments of private repositories."""
        fetcher = PictureFetcher(self._config, resolve=self._fetcher.resolve, tls=self._fetcher.tls)
        fetcher._rendered = rendered
        return fetcher

    async def fetch(self, text: str, earlier: int = 0) -> Pictures:
        """Return the pictures of a text. A picture that cannot be fetched is refused; nothing is raised.

        ``earlier`` pictures of the same issue count against the limit.
        """
        urls, most = find_pictures(text), max(self._fetcher.limits.number - earlier, 0)
        fetched, refused = list[Picture](), [_TOO_MANY] * max(len(urls) - most, 0)
        if not urls:
            return Pictures()
        async with self._fetcher.client() as client:
            for url in urls[:most]:
                try:
                    content = await within(self._fetcher.limits.seconds, self._shown(client, url))
                    fetched.append(Picture(url, _data_url(content)))
                except RefusedAttachment as refusal:
                    refused.append(str(refusal))
        return Pictures(tuple(fetched), tuple(refused))

    async def _shown(self, client: httpx.AsyncClient, url: str) -> bytes:
        try:
            return await self._fetcher.get(client, url)
        except RefusedAttachment as refusal:
            # GitHub's answer for an attachment of a private repository, too.
            signed = await self._signed(url) if str(refusal) == NOT_SHOWN else ""
            if not signed:
                raise
        return await self._fetcher.get(client, signed)

    async def _signed(self, url: str) -> str:
        """Return the address that GitHub signed for an attachment; empty if there is none."""
        name = urlsplit(url).path.rpartition("/")[2]
        if self._rendered is None or urlsplit(url).hostname != "github.com" or not name:
            return ""
        try:
            page = html.unescape((await self._rendered())[:_MAX_HTML])
        except BotError:
            return ""
        return next((item for item in _SIGNED.findall(page) if name in urlsplit(item).path), "")


def find_pictures(body: str) -> tuple[str, ...]:
    """Return the addresses of the pictures that a body shows outside of code blocks, each once, in their order."""
    shown = "\n".join(outside_fences(body[:_MAX_BODY]))
    found = _PICTURE.finditer(shown)
    return tuple(dict.fromkeys(match[1] or match[2] for match in found))


def _data_url(content: bytes) -> str:
    """Return a picture as a data URL, of the kind that its first bytes show.

    Raises:
        RefusedAttachment: it is not a picture, or is too large when decoded.
    """
    kind = next((name for magic, name in _KINDS if content.startswith(magic)), None)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        raise RefusedAttachment("not a PNG, JPEG, GIF or WebP picture")
    width, height = _size(kind, content)
    if width * height > _MAX_PIXELS:
        raise RefusedAttachment("too many pixels")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _size(kind: str, content: bytes) -> tuple[int, int]:
    """Return width and height if the first bytes contain them. The formats of JPEG and WebP limit both."""
    if kind == "image/png":
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    if kind == "image/gif":
        return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")
    return 0, 0
