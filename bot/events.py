"""Headers and bytes in, a Delivery out: the signature, the JSON, and the few fields that are read. No I/O."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from pydantic import ValidationError

from bot.payload import AnyPayload, Payload, RepositoryPart, User, misfit
from bot.ports import Comment, IssueRef, RepositoryRef

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


class MalformedError(ValueError):
    """The delivery is not what GitHub sends; the message says in what."""


_SIGNATURE = re.compile(r"sha256=[0-9a-f]{64}")


def is_signature(header: str | None) -> bool:
    """Whether a header has the form of a signature; without that the body need not be read."""
    return header is not None and _SIGNATURE.fullmatch(header) is not None


class Signature:
    """The HMAC of a body that arrives in pieces, under each secret that is valid now."""

    def __init__(self, secrets: Sequence[bytes]) -> None:
        self._sums = [hmac.new(secret, digestmod=hashlib.sha256) for secret in secrets]

    def update(self, piece: bytes) -> None:
        """Take in the next piece."""
        for one in self._sums:
            one.update(piece)

    def matches(self, header: str | None) -> bool:
        """Whether the header carries the HMAC of what was taken in; takes the same time whichever way it fails."""
        given = (header or "").encode("utf-8", "surrogateescape")
        found = [hmac.compare_digest(b"sha256=" + one.hexdigest().encode(), given) for one in self._sums]
        return any(found)


@dataclass(frozen=True, slots=True)
class Delivery:
    """One event of GitHub's, verified and read."""

    guid: str
    event: str
    payload: Payload
    server: str = "github.com"
    """Where pages are, should the payload not say."""

    @property
    def action(self) -> str:
        """What happened to the thing the event is about."""
        return self.payload.action

    @property
    def host(self) -> str:
        """Where the pages are that the delivery links to."""
        said = self.payload
        for url in (
            said.repository.html_url if said.repository else "",
            said.installation.html_url if said.installation else "",
        ):
            if urlsplit(url).netloc:
                return urlsplit(url).netloc
        return self.server

    @property
    def repository(self) -> RepositoryRef:
        """The repository it is about.

        Raises:
            MalformedError: it names none.
        """
        if self.payload.repository is None:
            raise MalformedError("no repository in the payload")
        return self.named(self.payload.repository)

    @property
    def issue(self) -> IssueRef:
        """The issue it is about.

        Raises:
            MalformedError: it names none.
        """
        if self.payload.issue is None:
            raise MalformedError("no issue in the payload")
        return issue_ref(self.repository, self.payload.issue.number)

    @property
    def comment(self) -> Comment:
        """The comment it is about.

        Raises:
            MalformedError: it names none.
        """
        said = self.payload.comment
        if said is None:
            raise MalformedError("no comment in the payload")
        user = said.user or User()
        return Comment(
            id=said.id,
            author_id=user.id,
            author=user.login,
            author_is_bot=user.is_bot,
            body=said.body,
            url=said.html_url,
            created_at=said.created_at,
            updated_at=said.updated_at or said.created_at,
        )

    def named(self, part: RepositoryPart) -> RepositoryRef:
        """A repository of this delivery under its installation."""
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


def issue_ref(repository: RepositoryRef, number: int) -> IssueRef:
    """An issue of a repository."""
    return IssueRef(
        host=repository.host,
        installation_id=repository.installation_id,
        repository_id=repository.id,
        owner=repository.owner,
        name=repository.name,
        number=number,
        clone_url=repository.clone_url,
    )


def media_type(header: str | None) -> str:
    """The content type without its parameters."""
    return (header or "").partition(";")[0].strip().lower()


def read_delivery(headers: Mapping[str, str], body: bytes, *, known: bool, server: str = "github.com") -> Delivery:
    """Read a body whose signature was right.

    Args:
        headers: by lower-case name.
        body: as it was signed.
        known: whether the event is one that is used; of others only that they are JSON objects is looked at.
        server: where pages are, should the payload not say.

    Raises:
        MalformedError: a header is missing, or the body is not JSON of the shape GitHub sends.
    """
    guid, event = headers.get("x-github-delivery", ""), headers.get("x-github-event", "")
    if not 0 < len(guid) <= 100 or not 0 < len(event) <= 100:
        raise MalformedError("X-GitHub-Delivery and X-GitHub-Event are needed")
    text = _form(body) if media_type(headers.get("content-type")) == FORM else body
    try:
        if not known:
            AnyPayload.model_validate_json(text)
            return Delivery(guid, event, Payload(), server)
        payload = Payload.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise MalformedError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    # The signature covers the body and not the headers: anybody could send a captured body as another event.
    if why := misfit(event, payload):
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
