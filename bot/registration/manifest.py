"""What GitHub is asked to make: ``app.yml``, at the addresses of this server."""

from __future__ import annotations

import ipaddress
import json
import re
import secrets
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import yaml

from bot.errors import UserError

_ACCOUNT = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_LONGEST_NAME = 34
"""GitHub's own bound."""
CALLBACK = "/setup/callback"
WEBHOOK = "/webhooks/github"
LOGIN_CALLBACK = "/login/github/callback"


@dataclass(frozen=True, slots=True)
class Wish:
    """An App somebody wants."""

    here: str
    """Where their browser reaches the pages that they wish it on."""
    public_url: str
    """Where browsers will reach the server."""
    webhook_url: str
    """Where GitHub will send deliveries."""
    server_url: str = "https://github.com"
    owner: str = ""
    """The organisation it is to belong to; empty is the person's own account."""
    name: str = ""
    keep: bool = True
    """Whether its secrets stay in the data directory, rather than being shown once."""

    def check(self) -> None:
        """See to it that GitHub can be asked for this.

        Raises:
            UserError: it cannot; the message says what to mend.
        """
        for says, address in (("GitHub's address", self.server_url), ("the webhook's address", self.webhook_url)):
            if not is_address(address):
                raise UserError(f"{says} must look like https://github.example.org, not {address[:100]!r}")
        if self.owner and not _ACCOUNT.fullmatch(self.owner):
            raise UserError(f"{self.owner[:100]!r} is not the name of an organisation")
        if not 0 < len(self.name) <= _LONGEST_NAME:
            raise UserError(f"an App's name has 1 to {_LONGEST_NAME} characters")

    @property
    def unreachable(self) -> bool:
        """Whether GitHub would refuse the webhook's address, as one that only this machine or network knows."""
        return is_local(self.webhook_url) and not is_local(self.server_url)

    def manifest(self) -> str:
        """The manifest, as JSON; permissions and events are those of ``app.yml``."""
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
        """Where the manifest is sent, by the person's own browser."""
        account = f"organizations/{quote(self.owner, safe='')}/" if self.owner else ""
        return f"{self.server_url.rstrip('/')}/{account}settings/apps/new?state={quote(state, safe='')}"


def suggested_name() -> str:
    """A name nobody has; GitHub knows each but once."""
    return f"{registration()['name']}-{secrets.token_hex(3)}"


@cache
def registration() -> dict[str, Any]:
    """``app.yml``, which a checkout has at its top and an installation beside the code."""
    package = Path(__file__).parents[1]
    path = next(path for path in (package / "app.yml", package.parent / "app.yml") if path.exists())
    read: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read


def api_of(server_url: str) -> str:
    """Where the API of a GitHub is, by the address of its pages."""
    split = urlsplit(server_url.rstrip("/"))
    if split.hostname == "github.com" or (split.hostname or "").endswith(".ghe.com"):
        return f"{split.scheme}://api.{split.netloc}"
    return f"{server_url.rstrip('/')}/api/v3"


def installation_address(server_url: str, slug: str) -> str:
    """The page where the App is installed on repositories."""
    host = urlsplit(server_url).hostname or ""
    apps = "apps" if host == "github.com" or host.endswith(".ghe.com") else "github-apps"
    return f"{server_url.rstrip('/')}/{apps}/{quote(slug, safe='')}/installations/new"


def is_address(text: str) -> bool:
    """Whether it is an http or https address with a host, and no name or password in it."""
    if not text.isprintable() or any(mark in text for mark in " '\";,\\"):
        return False
    try:
        split = urlsplit(text)
        return (
            split.scheme in ("http", "https") and bool(split.hostname) and "@" not in split.netloc and split.port != 0
        )
    except ValueError:
        return False


def is_local(address: str) -> bool:
    """Whether nobody outside this machine or network can reach an address."""
    host = urlsplit(address).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".localhost", ".internal", ".test"))
