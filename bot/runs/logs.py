"""Fetch the logs that are attached to an issue, and put what they say about a failure where their link is."""

from __future__ import annotations

import asyncio
import io
import ipaddress
import re
import socket
import ssl
import zipfile
import zlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from bot.report.sanitise import code
from bot.settings.operator import LogsConfig
from nodes.context.ports import AttachedText
from nodes.search.issue.normal.evidence import fence_after
from nodes.trust.secrets import mask

_ADDRESS = re.compile(r"""https://[^\s()<>\[\]"'`|]+""")
LOG_HOSTS = ("objects.githubusercontent.com", "github-production-repository-file-5c1aeb.s3.amazonaws.com")
"""Where GitHub stores attached files; the pages redirect there."""
_PATH = re.compile(r"/(?:[\w.-]{1,100}/[\w.-]{1,100}|user-attachments)/files/\d{1,20}/[^/]{1,300}$")
_TEXT, _ARCHIVE = (".log", ".txt", ".json"), ".zip"
_MAX_BODY = 131_072
_MAX_LINE = 500
"""Characters of a line; the rest of a longer one is left out."""
EXCERPT = 6_000
"""Characters of all logs of an issue that are read: more than a trace has, and less than a prompt has room for."""
_BEFORE, _AFTER = 3, 30
"""Lines around one that reports a failure."""
_FAILURE = re.compile(
    r"\b(?:traceback|panic(?:ked)?|fatal|exception|error|caused by|assert(?:ion)?|segmentation fault|failed)\b"
    r"|[a-z](?:Error|Exception)\b",
    re.IGNORECASE,
)
_ENTRIES, _MEMBERS, _MAX_TEXT, _RATIO = 1_000, 5, 8_000_000, 100
"""Limits of an archive: entries, texts that are read, bytes of a text, and its ratio to its packed size."""
_HOPS = 3
"""Requests for one attachment: its address and its redirects."""
_ODD = re.compile(r"[^\w.+@ -]")
Resolve = Callable[[str], Awaitable[tuple[str, int]]]
"""Returns an address and a port of a host; raises OSError if the host is unknown."""


class AttachmentLimits(NamedTuple):
    """Limits on the attachments of an issue."""

    number: int = 3
    """Maximum number of attachments of an issue and its answers; the first ones are read."""
    max_bytes: int = 2_000_000
    """Maximum size of an attachment, packed if it is an archive."""
    seconds: float = 10.0
    """Maximum time for an attachment, redirects included."""


ATTACHMENT_LIMITS = AttachmentLimits()


class RefusedAttachment(Exception):  # noqa: N818  an expected outcome; the message is for people
    """The attachment is not read."""


@dataclass(frozen=True, slots=True)
class ReadIssueText:
    """An issue's text with what was read from its attachments."""

    body: str
    attached: tuple[AttachedText, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not read, and why."""


class LogReader:
    """Reads attached logs over https, each from one of the allowed hosts; without one it sends no request."""

    def __init__(
        self,
        config: LogsConfig,
        server_url: str,
        *,
        limits: AttachmentLimits = ATTACHMENT_LIMITS,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Read within limits, with the machine's certificates unless others are given in ``tls``.

        ``server_url`` is that of GitHub's pages. Only this server may have a private address, if it is not
        ``github.com``, because the operator named it.
        """
        self._config = config
        self._server = (urlsplit(server_url).hostname or "github.com").lower()
        self._hosts = (self._server, *LOG_HOSTS)
        self._limits = limits
        self._tls = tls
        self.resolve = resolve or self._resolve

    async def read(self, body: str, *, allowed: bool = True) -> ReadIssueText:
        """Return the body with an excerpt of each attached log below its link. Nothing is raised.

        A log that cannot be read leaves a note with the reason. ``allowed``: the repository has not turned it off.
        """
        links = self._links(body) if self._config.enabled and allowed else {}
        if not links:
            return ReadIssueText(body)
        most = self._limits.number
        read, notes = dict[str, AttachedText](), list[str]()
        # No proxy of the environment: the address that was checked is the one that is connected to.
        tls = self._tls or ssl.create_default_context()  # httpx brings certificates of its own
        async with httpx.AsyncClient(verify=tls, trust_env=False, follow_redirects=False) as client:
            for url in list(links)[:most]:
                # Without characters that mean something in Markdown.
                name = _ODD.sub("_", unquote(urlsplit(url).path.rpartition("/")[2]))[-80:]
                try:
                    content = await self._fetched(client, url)
                    room = EXCERPT - sum(len(item.text) for item in read.values())
                    read[url] = await asyncio.to_thread(_texts, name, content, room)
                except RefusedAttachment as refusal:
                    notes.append(f"The attached {code(name)} was not read: {refusal}.")
        if len(links) > most:
            notes.append(f"Only the first {most} of {len(links)} attached files were read.")
        return ReadIssueText(_inserted(body, read, links), tuple(read.values()), tuple(notes))

    def _links(self, body: str) -> dict[str, int]:
        """Return the addresses of attached logs outside of code blocks, with the lines that they are in."""
        found, fence = dict[str, int](), ""
        for number, line in enumerate(body[:_MAX_BODY].split("\n")):
            fence = fence_after(line, fence)
            for address in () if fence else _ADDRESS.findall(line):
                url = address.rstrip(".,;:!*_")
                host, path = _split(url)
                if host == self._server and _PATH.match(path) and path.lower().endswith((*_TEXT, _ARCHIVE)):
                    found.setdefault(url, number)
        return found

    async def _fetched(self, client: httpx.AsyncClient, url: str) -> bytes:
        """Return an attachment, after at most two redirects; RefusedAttachment if it may not or cannot be fetched."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                for _ in range(_HOPS):
                    host = self._allowed(url)
                    address, port = await self.resolve(host)
                    # Connected by address: a second lookup could give an address that was not checked.
                    target = httpx.URL(url).copy_with(host=address, port=port)
                    headers = {"Host": host, "Accept": "*/*", "User-Agent": "tracehound", "Accept-Encoding": "identity"}
                    sni = {"sni_hostname": host}
                    async with client.stream(
                        "GET", target, headers=headers, timeout=self._limits.seconds, extensions=sni
                    ) as response:
                        if not response.has_redirect_location:
                            return await self._content(response)
                        url = urljoin(url, response.headers["location"])
        except TimeoutError as error:
            raise RefusedAttachment("not received in time") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            raise RefusedAttachment("not reachable") from error
        raise RefusedAttachment("too many redirects")

    def _allowed(self, url: str) -> str:
        """Return the host of an address that may be requested."""
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if parts.scheme != "https" or parts.username or parts.password or parts.port not in (None, 443):
            raise RefusedAttachment("not a plain https address")
        if host not in self._hosts:
            raise RefusedAttachment("the host is not allowed")
        # GitHub's host has pages besides attachments.
        if host == self._server and not _PATH.match(parts.path):
            raise RefusedAttachment("not an attachment")
        return host

    async def _resolve(self, host: str) -> tuple[str, int]:
        """Return a public address of a host, or any of the operator's server; RefusedAttachment if one is private."""
        infos = await asyncio.get_running_loop().getaddrinfo(host, 443, type=socket.SOCK_STREAM)
        found = [str(info[4][0]) for info in infos]
        own = host == self._server and host != "github.com"
        if not found or not (own or all(ipaddress.ip_address(address).is_global for address in found)):
            raise RefusedAttachment("the host has a private address")
        return found[0], 443

    async def _content(self, response: httpx.Response) -> bytes:
        if response.status_code != 200:
            raise RefusedAttachment(f"HTTP {response.status_code}")
        content = bytearray()
        # Raw: a bomb would be expanded before it is measured.
        async for chunk in response.aiter_raw():
            content += chunk
            if len(content) > self._limits.max_bytes:
                raise RefusedAttachment("too large")
        return bytes(content)


def _split(url: str) -> tuple[str, str]:
    """Return host and path of an address; both are empty if it is not an address."""
    try:
        parts = urlsplit(url)
        return (parts.hostname or "").lower(), parts.path
    except ValueError:
        return "", ""


def _inserted(body: str, read: dict[str, AttachedText], links: dict[str, int]) -> str:
    lines = body.split("\n")
    # From the end, so that the numbers of earlier lines stay valid.
    for url in sorted(read, key=lambda item: -links[item]):
        text = read[url].text
        fence = "`" * max((len(run) + 1 for run in re.findall("`{3,}", text)), default=3)
        lines[links[url] + 1 : links[url] + 1] = ["", fence, *text.split("\n"), fence, ""]
    return "\n".join(lines)


def _texts(name: str, content: bytes, room: int) -> AttachedText:
    """Return what a text, or a small archive of texts, says about a failure; RefusedAttachment for any other."""
    parts = list[str]()
    for text in _members(content) if name.lower().endswith(_ARCHIVE) else (_decoded(content),):
        parts.append(excerpt(text, room - sum(map(len, parts))))
    whole = "\n".join(filter(None, parts))
    if not whole:
        raise RefusedAttachment("nothing in it reports a failure, or there is no room left")
    return AttachedText(name, whole)


def _members(content: bytes) -> Iterator[str]:
    """Yield the texts of an archive, the first few."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if len(archive.infolist()) > _ENTRIES:
                raise RefusedAttachment("too many files in it")
            named = [item for item in archive.infolist() if item.filename.lower().endswith(_TEXT)]
            for member in named[:_MEMBERS]:
                yield _decoded(_member(archive, member))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise RefusedAttachment("not a readable archive") from error


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a file of an archive, unless it expands too far; the sizes that the archive states are not trusted."""
    # Python expands the other methods without a limit.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise RefusedAttachment("packed with an unusual method")
    most = min(_MAX_TEXT, max(member.compress_size, 1_000) * _RATIO)
    with archive.open(member) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise RefusedAttachment("a file in it is too large when unpacked")
    return content


def _decoded(content: bytes) -> str:
    utf16 = content.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not utf16 and b"\0" in content:
        raise RefusedAttachment("not a text")
    return content.decode("utf-16" if utf16 else "utf-8-sig", "replace").replace("\r\n", "\n").replace("\0", "")


def excerpt(text: str, room: int) -> str:
    """Return a log if it fits, else the lines around those that tell of a failure, the last ones first; masked."""
    lines = [line[:_MAX_LINE].rstrip() for line in mask(text).split("\n")]
    if sum(len(line) + 1 for line in lines) <= room:
        return "\n".join(lines).strip("\n")
    kept, size = set[int](), 0
    for number in reversed([n for n, line in enumerate(lines) if _FAILURE.search(line)]):
        around = set(range(max(number - _BEFORE, 0), min(number + _AFTER, len(lines)))) - kept
        size += sum(len(lines[n]) + 1 for n in around)
        if size > room:
            break
        kept |= around
    return "\n".join(lines[n] for n in sorted(kept))
