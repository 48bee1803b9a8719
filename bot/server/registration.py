"""Register the App: the manifest sent to GitHub, and the storage of the returned secrets."""

import ipaddress
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlsplit

import yaml

from bot.errors import UserError

_ACCOUNT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_LONGEST_NAME = 34
"""Characters; GitHub's limit."""
CALLBACK = "/setup/callback"
WEBHOOK = "/webhooks/github"
LOGIN_CALLBACK = "/login/github/callback"
FILE = "app.json"
NAMES = (
    "github_app_id",
    "github_private_key",
    "github_webhook_secret",
    "github_client_id",
    "github_client_secret",
    "github_server_url",
    "github_api_url",
    "triage_public_url",
    "triage_admin_token",
)
"""Settings read from the file if the environment does not set them; all others are ignored.

Only the App's settings are read, so a data directory from a checkout cannot set a model endpoint (docs/decisions.md).
"""


@dataclass(frozen=True, slots=True)
class RequestedApp:
    """The App that a person wants to register."""

    server_url: str
    api_url: str
    """Address of that server's API."""
    name: str
    here: str = ""
    """Address by which their browser reaches the setup pages."""
    public_url: str = ""
    """Address by which browsers will reach the server; empty before that of their browser is known."""
    webhook_url: str = ""
    """Address to which GitHub will send deliveries; empty for the usual one below the public address."""
    owner: str = ""
    """The organisation that will own the App; empty for the person's own account."""
    keep: bool = True
    """Whether its secrets are stored in the data directory instead of being shown once."""

    def filled(self, here: str, form: Mapping[str, str]) -> Self:
        """Return the App with the fields of a form, for a browser that reaches the pages at ``here``."""
        public = (self.public_url or here).rstrip("/")
        server = (form.get("server_url", "").strip() or self.server_url).rstrip("/")
        return replace(
            self,
            here=here,
            public_url=public,
            webhook_url=form.get("webhook_url", self.webhook_url).strip() or public + WEBHOOK,
            server_url=server,
            api_url=self.api_url if server == self.server_url else api_of(server),
            owner=form.get("owner", self.owner).strip(),
            name=form.get("name", "").strip() or self.name,
            keep=form.get("keep", "yes" if self.keep else "no") == "yes",
        )

    def fault(self) -> str:
        """Return why GitHub cannot be asked to register this App; empty if it can."""
        for name, address in (("GitHub's address", self.server_url), ("the webhook's address", self.webhook_url)):
            if not is_address(address):
                return f"{name} must look like https://github.example.org, not {address[:100]!r}"
        if self.owner and not _ACCOUNT.fullmatch(self.owner):
            return f"{self.owner[:100]!r} is not the name of an organisation"
        if not 0 < len(self.name) <= _LONGEST_NAME:
            return f"an App's name must have 1 to {_LONGEST_NAME} characters"
        return ""

    @property
    def unreachable(self) -> bool:
        """Whether GitHub would refuse the webhook's address because only this machine or network can reach it."""
        return is_local(self.webhook_url) and not is_local(self.server_url)

    def manifest(self) -> str:
        """Return the manifest as JSON. Permissions and events are those of ``app.yml``."""
        wanted = registration()
        return json.dumps(
            {
                "name": self.name,
                "url": wanted["url"],
                "description": wanted["description"],
                "public": False,
                "hook_attributes": {"url": self.webhook_url, "active": True},
                "redirect_url": self.here + CALLBACK,
                "callback_urls": [self.public_url + LOGIN_CALLBACK],
                "default_permissions": wanted["default_permissions"],
                "default_events": wanted["default_events"],
            }
        )

    def address(self, state: str) -> str:
        """Return the address to which the person's browser sends the manifest."""
        account = f"organizations/{quote(self.owner, safe='')}/" if self.owner else ""
        return f"{self.server_url.rstrip('/')}/{account}settings/apps/new?state={quote(state, safe='')}"


@cache
def registration() -> dict[str, Any]:
    """Return ``app.yml``, which is at the top of a checkout and next to the code in an installation."""
    package = Path(__file__).parents[1]
    path = next(path for path in (package / "app.yml", package.parent / "app.yml") if path.exists())
    read: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


def api_of(server_url: str) -> str:
    """Return the API address of a GitHub server, given the address of its pages."""
    split = urlsplit(server_url.rstrip("/"))
    if _is_hosted(server_url):
        return f"{split.scheme}://api.{split.netloc}"
    return f"{server_url.rstrip('/')}/api/v3"


def installation_address(server_url: str, slug: str) -> str:
    """Return the address of the page that installs the App on repositories."""
    apps = "apps" if _is_hosted(server_url) else "github-apps"
    return f"{server_url.rstrip('/')}/{apps}/{quote(slug, safe='')}/installations/new"


def _is_hosted(server_url: str) -> bool:
    """Return whether GitHub itself runs the server."""
    host = urlsplit(server_url).hostname or ""
    return host == "github.com" or host.endswith(".ghe.com")


def is_address(text: str) -> bool:
    """Return whether the text is an http or https address with a host and without a user name or password."""
    if not text.isprintable() or any(mark in text for mark in " '\";,\\"):
        return False
    try:
        split = urlsplit(text)
        is_plain = "@" not in split.netloc and split.port != 0
        return is_plain and split.scheme in ("http", "https") and bool(split.hostname)
    except ValueError:
        return False


def is_local(address: str) -> bool:
    """Return whether an address can only be reached from this machine or network."""
    host = urlsplit(address).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".test"))


def store_registration(directory: Path, app: Mapping[str, str]) -> Path:
    """Write the App's settings atomically and durably; return the file. UserError if it exists or is not writable."""
    path, draft = directory / FILE, directory / f".{FILE}.new"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # A draft may remain after a crash. O_EXCL then creates the file with mode 600 from the start.
        draft.unlink(missing_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(dict(app), file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, path)  # unlike a rename, a link fails if the file exists
        draft.unlink()
    except FileExistsError as error:
        raise UserError(f"an App exists already, in {path}: remove that file to use another") from error
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}; set TRIAGE_DATA_DIR") from error
    return path


def read_registration(directory: Path) -> dict[str, str]:
    """Read the stored App, empty if there is none; raise UserError if the file cannot be read."""
    path = directory / FILE
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read ({type(error).__name__}): fix it, or remove it") from error
    if not isinstance(read, dict):
        raise UserError(f"{path} is not a JSON object: fix it, or remove it")
    return {name: str(value) for name, value in read.items() if name in NAMES and value}
