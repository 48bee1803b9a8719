"""Fetch the pictures of an issue from GitHub's attachment hosts, with strict limits.

GitHub gives attachments of private repositories to people who are logged in and to no App. But its API renders an issue
with addresses that are signed for some minutes. Only the API gets a token, the host of a picture never does.
"""

from __future__ import annotations

import base64
import html
import re
import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import httpx

from bot.errors import BotError
from bot.runs.attachments import (
    NOT_SHOWN,
    AttachmentLimits,
    Fetcher,
    RefusedAttachment,
    Resolve,
    resolve_public,
    within,
)
from bot.settings.operator import PicturesConfig
from nodes.context import Picture, Pictures
from nodes.search.issue.normal.fences import outside_fences

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
LIMITS = AttachmentLimits(number=3, max_bytes=4_000_000, seconds=10.0)


Rendered = Callable[[], Awaitable[str]]
"""Returns the issue as HTML, with the addresses that GitHub signs for its reader."""


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

        Args:
            config: the operator's configuration.
            limits: how much is fetched.
            resolve: finds the address of a host; None for one that refuses private addresses.
            tls: certificates to trust; None for the machine's.
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

        Args:
            text: the issue, or an answer.
            earlier: pictures of the same issue that count against the limit.
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
        return next((one for one in _SIGNED.findall(page) if name in urlsplit(one).path), "")


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
