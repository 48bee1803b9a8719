"""Turn headers and bytes into a Delivery: check the signature, parse the JSON, read a few fields. No I/O."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from bot.ports import Comment, IssueRef, RepositoryRef
from bot.server.webhook.payload import AnyPayload, DistinctPayload, IssuePart, Payload, RepositoryPart, User, mismatch

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
T = TypeVar("T")
_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")


class MalformedError(ValueError):
    """The delivery does not have the form that GitHub sends; the message names the fault."""


def is_signature(header: str | None) -> bool:
    """Return whether a header has the form of a signature; if not, the body need not be read."""
    return header is not None and _SIGNATURE.fullmatch(header) is not None


class Signature:
    """The HMAC of a body that arrives in chunks, under each currently valid secret."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._sums = [hmac.new(secret, digestmod=hashlib.sha256) for secret in secrets]

    def update(self, piece: bytes) -> None:
        """Add the next chunk of the body."""
        for item in self._sums:
            item.update(piece)

    def matches(self, header: str | None) -> bool:
        """Return whether the header carries the body's HMAC under any secret, in constant time."""
        given = (header or "").encode("utf-8", "surrogateescape")
        # Compare with every secret, so that the time does not reveal which one matches.
        found = [hmac.compare_digest(b"sha256=" + item.hexdigest().encode(), given) for item in self._sums]
        return any(found)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A verified and parsed webhook event of GitHub; a part that its payload lacks raises MalformedError."""

    guid: str
    event: str
    payload: Payload
    server: str = "github.com"
    """Host of GitHub's pages, used if the payload names none."""

    @property
    def action(self) -> str:
        """The event's action, such as ``opened``."""
        return self.payload.action

    @property
    def host(self) -> str:
        """Host of the GitHub pages that the delivery links to."""
        # A GitHub Enterprise server has its own host; an event about an installation names no repository.
        parts = (self.payload.repository, self.payload.installation)
        return next(filter(None, (urlsplit(part.html_url).netloc for part in parts if part)), self.server)

    @property
    def repository(self) -> RepositoryRef:
        """The repository of the event."""
        return self.named(_needed(self.payload.repository, "repository"))

    @property
    def issue(self) -> IssueRef:
        """The issue of the event."""
        return self.repository.issue(_needed(self.payload.issue, "issue").number)

    @property
    def comment(self) -> Comment:
        """The comment of the event."""
        part = _needed(self.payload.comment, "comment")
        user = part.user or User()
        return Comment(
            id=part.id,
            author_id=user.id,
            author=user.login,
            author_is_bot=user.is_bot,
            body=part.body,
            url=part.html_url,
            created_at=part.created_at,
            updated_at=part.updated_at or part.created_at,
        )

    def key_of(self, repository: RepositoryPart | None, issue: IssuePart | None) -> str | None:
        """Return the key of an issue of another repository; None if the payload does not name both."""
        return self.named(repository).issue(issue.number).key if repository and issue else None

    def named(self, part: RepositoryPart) -> RepositoryRef:
        """Return a repository of the payload, with the delivery's installation."""
        owner, _, name = part.full_name.partition("/")
        installation = self.payload.installation
        return RepositoryRef(
            host=urlsplit(part.html_url).netloc or self.host,
            installation_id=installation.id if installation else 0,
            id=part.id,
            owner=(part.owner.login if part.owner else "") or owner,
            name=part.name or name,
            clone_url=part.clone_url,
        )


def _needed(part: T | None, name: str) -> T:
    if part is None:
        raise MalformedError(f"no {name} in the payload")
    return part


def media_type(header: str | None) -> str:
    """Return the content type in lower case, without its parameters."""
    return (header or "").partition(";")[0].strip().lower()


def read_delivery(headers: Mapping[str, str], body: bytes, *, known: bool, server: str = "github.com") -> Delivery:
    """Parse a body whose signature is valid.

    ``known``: a handler uses the event; otherwise the body is only checked to be a JSON object. ``server``: used if the
    payload names none.

    Raises:
        MalformedError: a header is missing or too long, or the body is not JSON of the shape that GitHub sends.
    """
    guid, event = headers.get("x-github-delivery", ""), headers.get("x-github-event", "")
    # The signature does not cover the headers, so their length is limited before they are stored.
    if not 0 < len(guid) <= 100 or not 0 < len(event) <= 100:
        raise MalformedError("X-GitHub-Delivery and X-GitHub-Event are required")
    text = _form(body) if media_type(headers.get("content-type")) == FORM else body
    try:
        # Only checked: an event that no handler uses may have any shape, and must not be refused for it.
        if not known:
            AnyPayload.model_validate_json(text)
            return Delivery(guid, event, Payload(), server)
        payload = DistinctPayload.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        # ``from None``: the cause contains the payload, which must not reach a log.
        raise MalformedError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    # The signature covers the body but not the headers, so a captured body could be sent as another event.
    if why := mismatch(event, payload):
        raise MalformedError(f"not a payload of {event}: {why}")
    return Delivery(guid, event, payload, server)


def _form(body: bytes) -> bytes:
    try:
        fields = parse_qs(body, strict_parsing=True, max_num_fields=10)
    except ValueError as error:
        raise MalformedError("not a form") from error
    if b"payload" not in fields:
        raise MalformedError("a form without a payload")
    return fields[b"payload"][0]
