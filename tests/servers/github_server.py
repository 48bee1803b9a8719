"""A simulated GitHub: real HTTP on a free port of 127.0.0.1, with login, permissions and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.servers.deliveries import SECRET
from tests.servers.git_http import serve_git
from tests.servers.github_pages import CLIENT_ID, CLIENT_SECRET, serve_page
from tests.servers.github_world import APP_ID, BOT, FLAGS, GRANTED, INSTALLATION, SLUG, Json, Repo, World, person
from tests.servers.openapi import violation


@cache
def private_key() -> str:
    """Return the App's key, generated once per test run."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain).decode()


@cache
def public_key() -> rsa.RSAPublicKey:
    """Return its public part; loading a key checks its primes, which takes longer than the rest of a request."""
    key = serialization.load_pem_private_key(private_key().encode(), None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key.public_key()


@dataclass(frozen=True)
class Call:
    """A received request."""

    method: str
    path: str
    query: dict[str, list[str]]
    body: Any
    authorization: str


@dataclass(frozen=True)
class Fault:
    """A fault that replaces or follows the execution of a request."""

    status: int | None = None
    """The status of the response; None closes the connection instead."""
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "fault"
    content: bytes | None = None
    """The body, instead of a JSON object with the message; set its type in the headers."""
    after: bool = False
    """Execute the request first."""
    delay: float = 0.0
    """Seconds of delay before the response."""


LOST_ANSWER = Fault(status=502, after=True)
RESET = Fault()
LIMITED = Fault(status=403, headers={"Retry-After": "7"}, message="You have exceeded a secondary rate limit.")


@dataclass
class GitHubServer:
    """The server's address, its data, the received requests and the planned faults."""

    url: str
    world: World
    calls: list[Call] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    """Calls that GitHub's API description does not allow."""
    fault: Callable[[Call], Fault | None] = lambda _call: None
    free: list[Call] = field(default_factory=list)
    """Calls that were answered with 304, which does not count against the rate limit."""

    def fail(self, method: str, path: str, *faults: Fault) -> None:
        """Let the next calls whose path contains ``path`` fail, with one fault each."""
        waiting = list(faults)

        def fault(call: Call) -> Fault | None:
            return waiting.pop(0) if waiting and call.method == method and path in call.path else None

        self.fault = fault

    def asked(self, method: str, path: str = "") -> list[Call]:
        """Return the calls of a method whose path contains ``path``."""
        return [call for call in self.calls if call.method == method and path in call.path]


@contextmanager
def serve_github() -> Iterator[GitHubServer]:
    """Run a server during a test; at its end every request must have been one that GitHub supports."""
    httpd = _Server(("127.0.0.1", 0), _Handler)
    httpd.daemon_threads = True
    url = f"http://127.0.0.1:{httpd.server_port}"
    server = GitHubServer(url, World(url=url))
    httpd.github = server  # type: ignore[attr-defined]
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()
    assert not server.violations, server.violations


class RefusalError(Exception):
    """A response that is not successful."""

    def __init__(self, status: int, message: str = "Not Found", headers: dict[str, str] | None = None) -> None:
        self.status, self.message, self.headers = status, message, headers or {}


Answer = tuple[int, Any]
Route = Callable[["Asked"], Answer]


@dataclass
class Asked:
    """A call with the information in its path and token."""

    world: World
    call: Call
    blanks: dict[str, str]
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of the response."""

    def token(self, permission: str, level: str = "read") -> Json:
        """Return the token, which must have the permission."""
        held = self.world.tokens.get(self.call.authorization.partition(" ")[2])
        if held is None:
            raise RefusalError(401, "Bad credentials")
        if level not in (held["permissions"].get(permission), "read") or permission not in held["permissions"]:
            raise RefusalError(403, "Resource not accessible by integration")
        return held

    def repo(self, permission: str, level: str = "read") -> Repo:
        """Return the repository, which must be the token's and in a state that allows the call."""
        if "id" in self.blanks:
            repo = self.world.repos.get(int(self.blanks["id"]))
        else:
            name = f"{self.blanks['owner']}/{self.blanks['repo']}"
            repo = self.world.named(name)
            if repo is None and name in self.world.renamed:
                there = self.call.path.replace(f"/repos/{name}", f"/repositories/{self.world.renamed[name]}", 1)
                raise RefusalError(301, "Moved Permanently", {"Location": self.world.url + there})
        if not self.call.authorization:
            if repo is None or not repo.public or level != "read":
                raise RefusalError(404)
            return repo
        held = self.token(permission, level)
        if repo is None or repo.id not in held["repositories"]:
            raise RefusalError(404)
        if level == "write" and repo.archived:
            raise RefusalError(403, "Repository was archived so is read-only.")
        return repo

    def issue(self, permission: str = "issues", level: str = "read") -> tuple[Repo, Json]:
        """Return the issue, unless it was moved or deleted."""
        repo, number = self.repo(permission, level), int(self.blanks["number"])
        moved = self.world.moved.get((repo.id, number))
        if moved:
            raise RefusalError(301, "Moved Permanently", {"Location": self.world.url + moved})
        if number not in repo.issues:
            raise RefusalError(404)
        if level == "write" and repo.issues[number]["locked"] and self.call.path.endswith(("comments", "reactions")):
            raise RefusalError(403, "Unable to create comment because issue is locked.")
        return repo, repo.issues[number]

    def page(self, items: list[Any]) -> list[Any]:
        """Return one page of a list."""
        size = min(int(self.call.query.get("per_page", ["30"])[0]), self.world.most_a_page)
        page = int(self.call.query.get("page", ["1"])[0])
        if len(items) > page * size:
            self.headers["Link"] = f'<{self.world.url}{self.call.path}?page={page + 1}>; rel="next"'
        return items[(page - 1) * size : page * size]


def create_token(asked: Asked) -> Answer:
    _check_app(asked)
    world, body = asked.world, asked.call.body
    if world.suspended:
        raise RefusalError(403, "This installation has been suspended")
    installation = int(asked.blanks["installation"])
    if installation not in {INSTALLATION, *(repo.installation for repo in world.repos.values())}:
        raise RefusalError(404)
    by_name = [repo.id for repo in world.repos.values() if repo.name in body.get("repositories", ())]
    ids = [*body.get("repository_ids", ()), *by_name]
    if not ids or any(number not in world.repos or world.repos[number].installation != installation for number in ids):
        raise RefusalError(422, "There is at least one repository that does not exist or is not accessible.")
    granted = world.granted or GRANTED
    if not body["permissions"].items() <= granted.items() | {(name, "read") for name in granted}:
        raise RefusalError(422, "The permissions requested are not granted to this installation.")
    token = f"ghs_{secrets.token_hex(18)}"
    world.tokens[token] = {"repositories": ids, "permissions": body["permissions"]}
    ends = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() + 3600))
    return 201, {"token": token, "expires_at": ends, "permissions": body["permissions"]}


def get_app(asked: Asked) -> Answer:
    _check_app(asked)
    held = {"permissions": GRANTED, "events": ["issues", "issue_comment", "repository"], **asked.world.registration}
    return 200, {"id": APP_ID, "slug": SLUG, "permissions": held["permissions"], "events": held["events"]}


def get_hook(asked: Asked) -> Answer:
    _check_app(asked)
    hook = {"url": "https://triage.example.org/webhooks/github", "content_type": "json", "insecure_ssl": "0"}
    return 200, asked.world.registration.get("hook", hook)


def get_installation_by_id(asked: Asked) -> Answer:
    _check_app(asked)
    world, number = asked.world, int(asked.blanks["installation"])
    if number not in {repo.installation for repo in world.repos.values()}:
        raise RefusalError(404)
    since = "2026-01-01T00:00:00Z" if world.suspended else None
    return 200, {"id": number, "suspended_at": since, "permissions": world.granted or GRANTED}


def get_installation(asked: Asked) -> Answer:
    _check_app(asked)
    repo = asked.world.named(f"{asked.blanks['owner']}/{asked.blanks['repo']}")
    if repo is None:
        raise RefusalError(404)
    return 200, {"id": repo.installation, "suspended_at": None, "permissions": GRANTED}


def convert_manifest(asked: Asked) -> Answer:
    manifest = asked.world.manifests.pop(asked.blanks["code"], None)
    if manifest is None:
        raise RefusalError(404)
    return 201, {
        "id": APP_ID,
        "slug": SLUG,
        "name": manifest["name"],
        "pem": private_key(),
        "webhook_secret": SECRET,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "html_url": f"{asked.world.url}/apps/{SLUG}",
    }


def get_user(asked: Asked) -> Answer:
    return 200, person(_person(asked))


def list_installations(asked: Asked) -> Answer:
    seen = asked.world.may_read.get(_person(asked), set())
    return 200, {"total_count": bool(seen), "installations": asked.page([{"id": INSTALLATION}] if seen else [])}


def list_visible(asked: Asked) -> Answer:
    seen = sorted(asked.world.may_read.get(_person(asked), set()))
    if int(asked.blanks["installation"]) != INSTALLATION or not seen:
        raise RefusalError(404)
    listed = [{"id": number, "permissions": _flags(asked.world.repos.get(number), _person(asked))} for number in seen]
    return 200, {"total_count": len(seen), "repositories": asked.page(listed)}


def _flags(repo: Repo | None, login: str) -> dict[str, bool]:
    """Return a person's permission flags in a repository."""
    highest = repo.permissions.get(login, "pull") if repo else "pull"
    return {flag: FLAGS.index(flag) >= FLAGS.index(highest) for flag in FLAGS}


def _person(asked: Asked) -> str:
    login = asked.world.people.get(asked.call.authorization.partition(" ")[2])
    if login is None:
        raise RefusalError(401, "Bad credentials")
    return login


def list_deliveries(asked: Asked) -> Answer:
    _check_app(asked)
    return 200, asked.page(asked.world.deliveries)


def redeliver(asked: Asked) -> Answer:
    _check_app(asked)
    asked.world.redelivered.append(int(asked.blanks["delivery"]))
    return 202, {}


def get_repo(asked: Asked) -> Answer:
    repo = asked.repo("metadata")
    return 200, {
        "id": repo.id,
        "name": repo.name,
        "full_name": repo.full_name,
        "default_branch": repo.default_branch,
        "clone_url": f"{asked.world.url}/{repo.full_name}.git",
    }


def list_commits(asked: Asked) -> Answer:
    repo = asked.repo("contents")
    sha = repo.tip()
    if not sha:
        raise RefusalError(409, "Git Repository is empty.")
    return 200, [{"sha": sha, "commit": {"message": "The newest"}}]


def get_file(asked: Asked) -> Answer:
    repo = asked.repo("contents")
    commit = asked.call.query.get("ref", [""])[0]
    content = (repo.proposed.get(commit, {}) if commit else repo.files).get(asked.blanks["path"])
    if content is None:
        raise RefusalError(404)
    if isinstance(content, dict):  # as GitHub describes what is not a file
        return 200, [content] if content["type"] == "dir" else content
    raw = content if isinstance(content, bytes) else content.encode()
    whole = len(raw) <= 1_000_000  # GitHub omits the content above a megabyte
    encoded = base64.encodebytes(raw).decode() if whole else ""
    encoding = "base64" if whole else "none"
    sha = hashlib.sha1(raw).hexdigest()
    return 200, {"type": "file", "encoding": encoding, "size": len(raw), "content": encoded, "sha": sha}


def list_labels(asked: Asked) -> Answer:
    return 200, asked.page([{"name": name} for name in sorted(asked.repo("metadata").labels)])


def get_permission(asked: Asked) -> Answer:
    highest = asked.repo("metadata").permissions.get(asked.blanks["user"], "pull")
    flags = _flags(asked.repo("metadata"), asked.blanks["user"])
    role = {"admin": "admin", "maintain": "write", "push": "write"}.get(highest, "read")
    user = {**person(asked.blanks["user"]), "permissions": flags}
    return 200, {"permission": role, "role_name": highest, "user": user}


def list_issues(asked: Asked) -> Answer:
    repo = asked.repo("issues")
    state = asked.call.query.get("state", ["open"])[0]
    wanted = [number for number, issue in repo.issues.items() if state in ("all", issue["state"])]
    since = asked.call.query.get("since", [""])[0]
    found = [asked.world.issue(repo, number) for number in sorted(wanted, reverse=True)]
    return 200, asked.page([issue for issue in found if issue["updated_at"] >= since])


def get_issue(asked: Asked) -> Answer:
    repo, issue = asked.issue()
    return 200, asked.world.issue(repo, issue["number"])


def list_types(asked: Asked) -> Answer:
    types = asked.repo("metadata").types
    if types is None:
        raise RefusalError(404)
    return 200, [_type(name) for name in types]


def _type(name: str) -> Json:
    return {"id": 1, "node_id": "IT_1", "name": name, "description": None}


def update_issue(asked: Asked) -> Answer:
    """Change an issue's type, or note the suggestion of one."""
    repo, issue = asked.issue(level="write")
    kind = asked.call.body["type"]
    name = kind if isinstance(kind, str) else kind["value"]
    if name not in (repo.types or ()):
        raise RefusalError(422, "Validation Failed")
    if isinstance(kind, dict) and kind.get("suggest"):
        issue.setdefault("_suggested", []).append(kind)
    else:
        issue["type"] = _type(name)
    return 200, asked.world.issue(repo, issue["number"])


def list_pulls(asked: Asked) -> Answer:
    pulls = asked.repo("pull_requests").pulls
    return 200, asked.page([{"number": number, "title": one["title"], "body": None} for number, one in pulls.items()])


def list_pull_files(asked: Asked) -> Answer:
    pull = asked.repo("pull_requests").pulls[int(asked.blanks["number"])]
    return 200, asked.page([{"filename": name} for name in pull["files"]])


def search_issues(asked: Asked) -> Answer:
    """Search public issues by repository and by any of their words; any token may do so."""
    if not asked.call.authorization:
        raise RefusalError(401)
    words = asked.call.query["q"][0].split()
    named = [word.removeprefix("repo:") for word in words if word.startswith("repo:")]
    plain = [word.lower() for word in words if ":" not in word]
    found = [
        {**asked.world.issue(repo, number), "html_url": f"https://github.com/{repo.owner}/{repo.name}/issues/{number}"}
        for repo in asked.world.repos.values()
        if repo.public and (not named or f"{repo.owner}/{repo.name}" in named)
        for number, issue in repo.issues.items()
        if any(word in f"{issue['title']} {issue['body']}".lower() for word in plain)
    ]
    return 200, {"total_count": len(found), "incomplete_results": False, "items": asked.page(found)}


def list_comments(asked: Asked) -> Answer:
    repo, issue = asked.issue()
    since = asked.call.query.get("since", [""])[0]
    found = asked.world.on(repo, issue["number"])
    return 200, asked.page([one for one in found if one["updated_at"] >= since])


def create_comment(asked: Asked) -> Answer:
    repo, issue = asked.issue(level="write")
    body = asked.call.body["body"]
    if not body.strip() or len(body) > 65_536:
        raise RefusalError(422, "Validation Failed")
    author = asked.world.tokens[asked.call.authorization.partition(" ")[2]].get("author", BOT)
    return 201, asked.world.comment(repo, issue["number"], body, author)


def get_comment(asked: Asked) -> Answer:
    repo = asked.repo("issues")
    comment = asked.world.comments.get(int(asked.blanks["comment"]))
    if comment is None or comment["_repo"] != repo.id:
        raise RefusalError(404)
    return 200, comment


def edit_comment(asked: Asked) -> Answer:
    repo = asked.repo("issues", "write")
    comment = asked.world.comments.get(int(asked.blanks["comment"]))
    if comment is None or comment["_repo"] != repo.id:
        raise RefusalError(404)
    comment.update(body=asked.call.body["body"], updated_at=asked.world.now())
    return 200, comment


def react_to_issue(asked: Asked) -> Answer:
    _, issue = asked.issue(level="write")
    return _react(asked, ("issue", issue["number"], asked.call.body["content"]))


def react_to_comment(asked: Asked) -> Answer:
    asked.repo("issues", "write")
    comment = int(asked.blanks["comment"])
    if comment not in asked.world.comments:
        raise RefusalError(404)
    return _react(asked, ("comment", comment, asked.call.body["content"]))


def add_labels(asked: Asked) -> Answer:
    repo, issue = asked.issue(level="write")
    for name in asked.call.body["labels"]:
        repo.labels.add(name)  # GitHub creates a missing label
        if {"name": name} not in issue["labels"]:
            issue["labels"].append({"name": name})
    return 200, issue["labels"]


def remove_label(asked: Asked) -> Answer:
    _, issue = asked.issue(level="write")
    label = {"name": asked.blanks["label"]}
    if label not in issue["labels"]:
        raise RefusalError(404, "Label does not exist")
    issue["labels"].remove(label)
    return 200, issue["labels"]


def _react(asked: Asked, reaction: tuple[str, int, str]) -> Answer:
    if reaction in asked.world.reactions:
        return 200, {"content": reaction[2]}
    asked.world.reactions.append(reaction)
    return 201, {"content": reaction[2]}


def _check_app(asked: Asked) -> None:
    try:
        token = asked.call.authorization.partition(" ")[2]
        claims = jwt.decode(token, public_key(), algorithms=["RS256"])
    except jwt.InvalidTokenError as error:
        raise RefusalError(401, f"A JSON web token could not be decoded: {error}") from error
    if claims["iss"] != str(APP_ID):
        raise RefusalError(401, "Integration not found")


_REPO = "/repos/{owner}/{repo}"
_ROUTES: list[tuple[str, str, Route]] = [
    ("POST", "/app/installations/{installation}/access_tokens", create_token),
    ("GET", "/app/installations/{installation}", get_installation_by_id),
    ("GET", "/app", get_app),
    ("POST", "/app-manifests/{code}/conversions", convert_manifest),
    ("GET", "/user", get_user),
    ("GET", "/user/installations", list_installations),
    ("GET", "/user/installations/{installation}/repositories", list_visible),
    ("GET", "/app/hook/config", get_hook),
    ("GET", "/app/hook/deliveries", list_deliveries),
    ("POST", "/app/hook/deliveries/{delivery}/attempts", redeliver),
    ("GET", _REPO, get_repo),
    ("GET", _REPO + "/installation", get_installation),
    ("GET", _REPO + "/commits", list_commits),
    ("GET", _REPO + "/contents/{path}", get_file),
    ("GET", _REPO + "/labels", list_labels),
    ("GET", _REPO + "/collaborators/{user}/permission", get_permission),
    ("GET", _REPO + "/issues", list_issues),
    ("GET", _REPO + "/issues/{number}", get_issue),
    ("PATCH", _REPO + "/issues/{number}", update_issue),
    ("GET", _REPO + "/issue-types", list_types),
    ("GET", _REPO + "/pulls", list_pulls),
    ("GET", _REPO + "/pulls/{number}/files", list_pull_files),
    ("GET", "/search/issues", search_issues),
    ("GET", "/repositories/{id}/issues/{number}", get_issue),
    ("GET", "/repositories/{id}/contents/{path}", get_file),
    ("GET", _REPO + "/issues/{number}/comments", list_comments),
    ("POST", _REPO + "/issues/{number}/comments", create_comment),
    ("PATCH", _REPO + "/issues/comments/{comment}", edit_comment),
    ("GET", _REPO + "/issues/comments/{comment}", get_comment),
    ("POST", _REPO + "/issues/{number}/reactions", react_to_issue),
    ("POST", _REPO + "/issues/comments/{comment}/reactions", react_to_comment),
    ("POST", _REPO + "/issues/{number}/labels", add_labels),
    ("DELETE", _REPO + "/issues/{number}/labels/{label}", remove_label),
]


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", lambda m: f"(?P<{m[1]}>{'.+' if m[1] == 'path' else '[^/]+'})", template))


_COMPILED = [(method, _pattern(template), route) for method, template, route in _ROUTES]
_GIT = re.compile(r"/([^/]+/[^/]+)\.git/(.+)")


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore disconnected clients, since tests kill them; show every other error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise the second part of a response waits for the acknowledgement of the first

    def _serve(self) -> None:
        github: GitHubServer = self.server.github  # type: ignore[attr-defined]
        split = urlsplit(self.path)
        if serve_page(self, github.world, split):
            return
        cloned = _GIT.fullmatch(split.path)
        if cloned:
            self._serve_git(github, cloned[1], cloned[2], split)
            return
        call = self._read(split.path, split.query)
        github.calls.append(call)
        fault = github.fault(call)
        if fault is None or fault.after:
            status, body, headers = self._answer(github, call)
        if fault is not None:
            time.sleep(fault.delay)
            if fault.status is None:
                self._cut()
                return
            said = {"message": fault.message} if fault.content is None else fault.content
            status, body, headers = fault.status, said, fault.headers
        elif call.method == "GET" and status == 200:
            status, body, headers = self._conditional(github, call, body, headers)
        try:
            self._send(status, body, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client's timeout was exceeded

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _serve  # noqa: N815

    def _read(self, path: str, query: str) -> Call:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length)
        if len(raw) < length:
            # Tests kill clients while they send. GitHub does not act on a part of a request either.
            raise ConnectionAbortedError(f"{self.command} {path}: {len(raw)} of {length} bytes")
        body = json.loads(raw) if raw else None
        return Call(self.command, path, parse_qs(query), body, self.headers.get("Authorization", ""))

    def _answer(self, github: GitHubServer, call: Call) -> tuple[int, Any, dict[str, str]]:
        # A client of a server that ended may still call its port, which is now ours; such a call is not the App's.
        ours = "tracehound" in self.headers.get("User-Agent", "")
        if ours and not call.path.startswith("/repositories/"):  # only requested because GitHub redirects there
            fault = violation(call.method, call.path, call.query, call.body)
            if fault:
                github.violations.append(fault)
        for method, pattern, route in _COMPILED:
            found = pattern.fullmatch(call.path)
            if found and method == call.method:
                blanks = {name: unquote(value) for name, value in found.groupdict().items()}
                asked = Asked(github.world, call, blanks)
                try:
                    status, body = route(asked)
                except RefusalError as refusal:
                    return refusal.status, {"message": refusal.message}, refusal.headers
                return status, body, asked.headers
        return 404, {"message": "Not Found"}, {}

    def _conditional(
        self, github: GitHubServer, call: Call, body: Any, headers: dict[str, str]
    ) -> tuple[int, Any, dict[str, str]]:
        """Handle ETags as GitHub does: one ETag is valid for one token."""
        said = f"{call.authorization}{json.dumps(body)}{headers}"
        etag = f'W/"{hashlib.sha256(said.encode()).hexdigest()}"'
        if self.headers.get("If-None-Match") == etag:
            github.free.append(call)
            return 304, b"", {"ETag": etag}
        return 200, body, {**headers, "ETag": etag}

    def _serve_git(self, github: GitHubServer, full_name: str, path: str, split: SplitResult) -> None:
        fault = github.fault(Call(self.command, split.path, parse_qs(split.query), None, ""))
        if fault is not None:
            self._fail_git(fault)
            return
        kind, _, credentials = self.headers.get("Authorization", "").partition(" ")
        token = base64.b64decode(credentials).decode().partition(":")[2] if kind == "Basic" else ""
        held, repo = github.world.tokens.get(token), github.world.named(full_name)
        if held is None or repo is None or repo.git is None or repo.id not in held["repositories"]:
            self._send(401, {"message": "Bad credentials"}, {"WWW-Authenticate": "Basic"})
            return
        serve_git(self, repo.git, path, split.query)

    def _fail_git(self, fault: Fault) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        time.sleep(fault.delay)
        if fault.status is None:
            self._cut()
        else:
            said = {"message": fault.message} if fault.content is None else fault.content
            self._send(fault.status, said, fault.headers)

    def _send(self, status: int, body: Any, headers: dict[str, str]) -> None:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response_only(status)
        for name, value in {"Content-Type": "application/json", "Date": self.date_time_string(), **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _cut(self) -> None:
        """Reset the connection in the middle of the response."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""
