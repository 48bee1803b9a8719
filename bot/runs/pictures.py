"""Fetch the pictures of an issue from GitHub's attachment hosts, with strict limits.

GitHub gives attachments of private repositories to people who are logged in and to no App. But its API renders an issue
with addresses that are signed for some minutes. Only the API gets a token, the host of a picture never does.
"""

from __future__ import annotations

import asyncio
import base64
import html
import ipaddress
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx

from bot.errors import BotError
from bot.settings.operator import PicturesConfig
from nodes.context import Picture, Pictures
from nodes.search.issue.normal.fences import outside_fences

_PICTURE = re.compile(
    r"""!\[[^\[\]\n]{0,300}\]\([ \t]{0,9}<?(https?://[^\s()<>"']{1,1000})"""
    r"""|<img\b[^<>]{0,500}?\bsrc[ \t]{0,9}=[ \t]{0,9}["']?(https?://[^\s<>"']{1,1000})""",
    re.IGNORECASE,
)
_MAX_BODY = 131_072
_HOPS = 3
"""Requests for one picture: the attachment's address and its redirects."""
_ATTACHMENT = re.compile(r"/user-attachments/assets/|/[\w.-]{1,100}/[\w.-]{1,100}/assets/")
_KINDS = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_MAX_PIXELS = 40_000_000
"""Maximum pixels of a PNG or GIF. A small file can expand to gigabytes in a server that decodes it."""
_TOO_MANY = "more pictures than the limit"
_NOT_SHOWN = "HTTP 404"
_SIGNED = re.compile(r"https://private-user-images\.githubusercontent\.com/[^\s\"'<>]{1,4000}")
_MAX_HTML = 2_000_000


class Resolved(NamedTuple):
    """An address to connect to."""

    address: str
    port: int


Resolve = Callable[[str], Awaitable[Resolved]]
Rendered = Callable[[], Awaitable[str]]
"""Returns the issue as HTML, with the addresses that GitHub signs for its reader."""


class RefusedPicture(Exception):  # noqa: N818  an expected outcome; the message is for the trace
    """The picture is not fetched."""


class PictureFetcher:
    """Fetches pictures over https, without any credentials."""

    def __init__(
        self, config: PicturesConfig, *, resolve: Resolve | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        """Fetch within these limits.

        Args:
            config: the operator's limits.
            resolve: finds the address of a host; None for one that refuses private addresses.
            tls: certificates to trust; None for the machine's.
        """
        self._config = config
        self._resolve = resolve or resolve_public
        self._tls = tls
        self._rendered: Rendered | None = None

    def reading(self, rendered: Rendered) -> PictureFetcher:
        """Return a fetcher for one issue, which also finds attachments of private repositories."""
        fetcher = PictureFetcher(self._config, resolve=self._resolve, tls=self._tls)
        fetcher._rendered = rendered
        return fetcher

    async def fetch(self, text: str, earlier: int = 0) -> Pictures:
        """Return the pictures of a text. A picture that cannot be fetched is refused; nothing is raised.

        Args:
            text: the issue, or an answer.
            earlier: pictures of the same issue that count against the limit.
        """
        urls, most = find_pictures(text), max(self._config.count - earlier, 0)
        fetched, refused = list[Picture](), [_TOO_MANY] * max(len(urls) - most, 0)
        if not urls:
            return Pictures()
        # No proxy of the environment: the address that was checked is the one that is connected to.
        async with httpx.AsyncClient(verify=self._tls or True, trust_env=False, follow_redirects=False) as client:
            for url in urls[:most]:
                try:
                    async with asyncio.timeout(self._config.timeout):
                        fetched.append(Picture(url, _data_url(await self._shown(client, url))))
                except RefusedPicture as refusal:
                    refused.append(str(refusal))
                except TimeoutError:
                    refused.append("no picture in time")
                except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
                    refused.append(f"not reachable ({type(error).__name__})")
        return Pictures(tuple(fetched), tuple(refused))

    async def _shown(self, client: httpx.AsyncClient, url: str) -> bytes:
        try:
            return await self._get(client, url)
        except RefusedPicture as refusal:
            # GitHub's answer for an attachment of a private repository, too.
            signed = await self._signed(url) if str(refusal) == _NOT_SHOWN else ""
            if not signed:
                raise
        return await self._get(client, signed)

    async def _signed(self, url: str) -> str:
        """Return the address that GitHub signed for an attachment; empty if there is none."""
        name = urlsplit(url).path.rpartition("/")[2]
        if self._rendered is None or urlsplit(url).hostname != "github.com" or not name:
            return ""
        try:
            page = html.unescape((await self._rendered())[:_MAX_HTML])
        except BotError:
            return ""
        return next((one for one in _SIGNED.findall(page) if name in urlsplit(one).path), "")

    async def _get(self, client: httpx.AsyncClient, url: str) -> bytes:
        for _ in range(_HOPS):
            host = self._allowed(url)
            resolved = await self._resolve(host)
            # Connected by address: a second lookup could give another one than was checked.
            target = httpx.URL(url).copy_with(host=resolved.address, port=resolved.port)
            headers = {"Host": host, "Accept": "image/*", "User-Agent": "tracehound"}
            async with client.stream(
                "GET", target, headers=headers, timeout=self._config.timeout, extensions={"sni_hostname": host}
            ) as response:
                if not response.has_redirect_location:
                    return await self._content(response)
                url = urljoin(url, response.headers["location"])
        raise RefusedPicture("too many redirects")

    def _allowed(self, url: str) -> str:
        """Return the host of an address that may be requested.

        Raises:
            RefusedPicture: it may not.
        """
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme != "https" or parts.username or parts.password or parts.port not in (None, 443):
            raise RefusedPicture("not a plain https address")
        if host not in self._config.hosts:
            raise RefusedPicture("the host is not allowed")
        if host == "github.com" and not _ATTACHMENT.match(parts.path):
            raise RefusedPicture("not an attachment")
        return host

    async def _content(self, response: httpx.Response) -> bytes:
        if response.status_code != 200:
            raise RefusedPicture(_NOT_SHOWN if response.status_code == 404 else f"HTTP {response.status_code}")
        content = bytearray()
        # Raw: a compressed picture gains nothing, and a bomb would be expanded before it is measured.
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._config.max_bytes:
                raise RefusedPicture("too large")
        return bytes(content)


def find_pictures(body: str) -> tuple[str, ...]:
    """Return the addresses of the pictures that a body shows outside of code blocks, each once, in their order."""
    shown = "\n".join(outside_fences(body[:_MAX_BODY]))
    found = _PICTURE.finditer(shown)
    return tuple(dict.fromkeys(match[1] or match[2] for match in found))


async def resolve_public(host: str) -> Resolved:
    """Return a public address of a host.

    Raises:
        RefusedPicture: the host has a private address, also if it has public ones too.
        OSError: the host is unknown.
    """
    loop = asyncio.get_running_loop()
    found = [str(info[4][0]) for info in await loop.getaddrinfo(host, 443, type=socket.SOCK_STREAM)]
    if not found or not all(ipaddress.ip_address(address).is_global for address in found):
        raise RefusedPicture("the host has a private address")
    return Resolved(found[0], 443)


def _data_url(content: bytes) -> str:
    """Return a picture as a data URL, of the kind that its first bytes show.

    Raises:
        RefusedPicture: it is not a picture, or is too large when decoded.
    """
    kind = next((name for magic, name in _KINDS if content.startswith(magic)), None)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        raise RefusedPicture("not a PNG, JPEG, GIF or WebP picture")
    width, height = _size(kind, content)
    if width * height > _MAX_PIXELS:
        raise RefusedPicture("too many pixels")
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _size(kind: str, content: bytes) -> tuple[int, int]:
    """Return width and height if the first bytes contain them. The formats of JPEG and WebP limit both."""
    if kind == "image/png":
        return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")
    if kind == "image/gif":
        return int.from_bytes(content[6:8], "little"), int.from_bytes(content[8:10], "little")
    return 0, 0
