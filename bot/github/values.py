"""Convert GitHub's JSON to the bot's types: objects, search results and files; missing fields have defaults."""

import base64
import binascii
import codecs
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.errors import UnreadableFileError
from bot.ports import Comment, Issue, Permission, RepositoryRef, is_bot
from nodes.context.brain import OpenPull

# Above GitHub's own limit, so that nothing is cut unless the response is not GitHub's.
MAX_BODY = 131_072
"""Characters; GitHub itself accepts at most 65,536."""
_REPOSITORY = re.compile(r"/repos/([^/]{1,100})/([^/]{1,100})$")
_FLAGS = (
    ("admin", Permission.ADMIN),
    ("maintain", Permission.MAINTAIN),
    ("push", Permission.WRITE),
    ("triage", Permission.TRIAGE),
    ("pull", Permission.READ),
)
_ROLES = {permission.name.lower(): permission for permission in Permission if permission}
Json = Mapping[str, Any]
MAX_FILE = 131_072
"""Bytes; a larger file is an error."""
_GLIMPSE = 1_000_000
"""Bytes; GitHub omits the content of files above about this size."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True, slots=True)
class FailedDelivery:
    """A delivery that GitHub could not deliver."""

    id: int
    guid: str
    event: str
    delivered_at: str


@dataclass(frozen=True, slots=True)
class InstallationSeen:
    """An installation as GitHub's API describes it."""

    id: int
    suspended: bool
    permissions: Mapping[str, str]
    """Permission levels by name, such as ``write`` for ``issues``."""


def issue_of(data: Json, repository: RepositoryRef) -> Issue:
    """Return an issue. Owner and name of the repository are those in the JSON, which are current."""
    # A transferred issue names its new repository here.
    named = _REPOSITORY.search(str(data.get("repository_url") or ""))
    if named:
        repository = replace(repository, owner=named[1], name=named[2])
    user = data.get("user") or {}
    names = (label.get("name") if isinstance(label, Mapping) else label for label in data.get("labels") or ())
    return Issue(
        ref=repository.issue(int(data["number"])),
        title=text(data.get("title"))[:1_024],
        body=text(data.get("body"))[:MAX_BODY],
        author_id=user.get("id"),
        author=text(user.get("login")),
        author_is_bot=by_bot(user),
        state=text(data.get("state")) or "open",
        locked=bool(data.get("locked")),
        labels=tuple(filter(None, map(text, names))),
        url=text(data.get("html_url")),
        updated_at=text(data.get("updated_at")),
        is_pull_request=bool(data.get("pull_request")),
        created_at=text(data.get("created_at")),
        reopened=data.get("state_reason") == "reopened",
        not_planned=data.get("state_reason") == "not_planned",
        comments=data["comments"] if isinstance(data.get("comments"), int) else None,
        type=text((data["type"] or {}).get("name")) if "type" in data else None,
    )


def pull_of(data: Json) -> OpenPull:
    """Return an open pull request, without its files."""
    body = text(data.get("body"))[:MAX_BODY]
    return OpenPull(int(data["number"]), text(data.get("title"))[:1_024], body)


def comment_of(data: Json, is_ours: Callable[[Json], bool]) -> Comment:
    """Return a comment; ``is_ours`` tells from its author in the JSON whether the App wrote it."""
    user = data.get("user") or {}
    return Comment(
        id=int(data["id"]),
        author_id=user.get("id"),
        author=text(user.get("login")),
        author_is_bot=by_bot(user),
        body=text(data.get("body"))[:MAX_BODY],
        url=text(data.get("html_url")),
        created_at=text(data.get("created_at")),
        updated_at=text(data.get("updated_at")),
        ours=is_ours(data),
    )


def permission_of(data: Json) -> Permission:
    """Return the highest flag that is set; without flags the role, else the permission, which is "read" for triage."""
    user = data.get("user")
    flags = user.get("permissions") if isinstance(user, Mapping) else None
    if isinstance(flags, Mapping):
        return next((permission for flag, permission in _FLAGS if flags.get(flag)), Permission.NONE)
    # An organisation's custom role may have any name; its permission is that of the role it is based on.
    named = (text(data.get("role_name")), text(data["permission"]))
    return next((_ROLES[name] for name in named if name in _ROLES), Permission.NONE)


def delivery_of(data: Json) -> FailedDelivery:
    """Return a failed delivery from the App's log."""
    return FailedDelivery(
        id=int(data["id"]), guid=text(data["guid"]), event=text(data["event"]), delivered_at=text(data["delivered_at"])
    )


def by_bot(user: Json) -> bool:
    """Return whether no person acts under an account of GitHub's API."""
    return is_bot(text(user.get("type")), text(user.get("login")))


def text(value: object) -> str:
    """Return a string that can be stored and printed; JSON may contain lone surrogates or null."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def text_file(answer: object) -> str:
    """Return the text of a file in a response; UnreadableFileError if it is no file, too large or not UTF-8."""
    # GitHub lists a directory instead of a file.
    if not isinstance(answer, Mapping):
        raise UnreadableFileError("not a file but a directory", digest=_digest(b"directory"))
    sha, kind = text(answer.get("sha")), text(answer.get("type"))
    if kind != "file":
        what = kind[:20] or "entry without a type"
        raise UnreadableFileError(f"not a file but a {what}", digest=_digest(sha.encode()))
    content = _content(answer)
    # GitHub omits the content of large files but states their size.
    size = max(int(answer.get("size") or 0), len(content))
    if size > MAX_FILE:
        problem = f"larger than {MAX_FILE:,} bytes"
        raise UnreadableFileError(problem, digest=_digest(sha.encode() or content), glimpse=_glimpse(content))
    try:
        # Editors on Windows begin a file with a byte order mark, which YAML would read as text.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 text" + (" but UTF-16" if content.startswith(_UTF_16) else "")
        raise UnreadableFileError(problem, line=line, digest=_digest(content), glimpse=_glimpse(content)) from error


def _content(answer: Mapping[str, object]) -> bytes:
    """Return the decoded bytes; empty if GitHub omits them because the file is large."""
    try:
        return base64.b64decode(text(answer.get("content")))
    except binascii.Error as error:
        raise UnreadableFileError("not decodable", digest=_digest(text(answer.get("sha")).encode())) from error


def _glimpse(content: bytes) -> str:
    """Return the readable part of a file, whatever its encoding."""
    encoding = "utf-16" if content.startswith(_UTF_16) else "latin-1"
    return content[:_GLIMPSE].decode(encoding, "replace").replace("\x00", "")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]
