"""The GitHub pages for creating an App from a manifest and for the login."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
from collections.abc import Callable
from html import escape
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlencode

from tests.servers.github_world import GRANTED, Json, World

CLIENT_ID, CLIENT_SECRET = "Iv1.client", "the client's secret"
_NEW = re.compile(r"/(?:organizations/(?P<owner>[^/]+)/)?settings/apps/new")
_MAKE = "/settings/apps/manifest"
_KNOWN = {
    "name", "url", "description", "public", "hook_attributes", "redirect_url", "callback_urls", "setup_url",
    "setup_on_update", "request_oauth_on_install", "default_permissions", "default_events",
}  # fmt: skip

Page = Callable[[World, SplitResult, dict[str, str]], tuple[int, str, dict[str, str]]]


def serve_page(handler: BaseHTTPRequestHandler, world: World, split: SplitResult) -> bool:
    """Answer the request if it is for one of these pages."""
    answer = _page_of(handler.command, split.path)
    if answer is None:
        return False
    form = handler.rfile.read(int(handler.headers.get("Content-Length") or 0)).decode()
    status, content, headers = answer(
        world, split, {name: values[0] for name, values in parse_qs(form, keep_blank_values=True).items()}
    )
    page = f"<!doctype html><html lang=en><title>GitHub</title><link rel=icon href=data:,>{content}"
    body = (content if "Content-Type" in headers else page).encode()
    handler.send_response(status)
    for name, value in {"Content-Type": "text/html; charset=utf-8", **headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
    return True


def _page_of(method: str, path: str) -> Page | None:
    if method == "POST" and _NEW.fullmatch(path):
        return _confirm
    return _PAGES.get((method, path))


def _confirm(world: World, split: SplitResult, form: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    """Answer the form in which a person confirms the App's name."""
    manifest = json.loads(form["manifest"])
    fault = manifest_fault(manifest)
    if fault:
        return 422, f"<h1>Invalid GitHub App configuration</h1><p>{escape(fault)}</p>", {}
    found = _NEW.fullmatch(split.path)
    fields = {
        "manifest": form["manifest"],
        "state": parse_qs(split.query).get("state", [""])[0],
        "owner": (found and found["owner"]) or "",
    }
    hidden = "".join(f'<input type=hidden name={name} value="{escape(value)}">' for name, value in fields.items())
    name = f'<label>GitHub App name <input name=name value="{escape(manifest.get("name", ""))}"></label>'
    return 200, f"<form method=post action={_MAKE}>{hidden}{name}<button>Create GitHub App</button></form>", {}


def _make(world: World, _split: SplitResult, form: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    """Create the App; its secrets are returned for the code."""
    manifest = json.loads(form["manifest"]) | {"name": form["name"], "owner": form["owner"]}
    code = secrets.token_hex(20)
    world.manifests[code] = manifest
    world.registered.append(manifest)
    back = urlencode({"code": code, "state": form["state"]})
    return 302, "", {"Location": f"{manifest['redirect_url']}?{back}"}


def _authorize(world: World, split: SplitResult, _form: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    """Redirect a person who has authorised the App before at once."""
    query = {name: values[0] for name, values in parse_qs(split.query).items()}
    if query["client_id"] != CLIENT_ID or query["code_challenge_method"] != "S256":
        return 404, "<h1>404</h1>", {}
    code = secrets.token_hex(10)
    answer = {"code": code, "state": query["state"]}
    if world.signed_in:
        world.authorized[code] = {"login": world.signed_in, **query}
    else:
        answer = {"error": "access_denied", "state": query["state"]}
    return 302, "", {"Location": f"{query['redirect_uri']}?{urlencode(answer)}"}


def _exchange(world: World, _split: SplitResult, form: dict[str, str]) -> tuple[int, str, dict[str, str]]:
    """Exchange a code once, for the browser that began the login and the App that requested it."""
    kind = {"Content-Type": "application/json"}
    found = world.authorized.pop(form["code"], None)
    digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
    if (form["client_id"], form["client_secret"]) != (CLIENT_ID, CLIENT_SECRET):
        return 200, json.dumps({"error": "incorrect_client_credentials"}), kind
    if found is None:
        return 200, json.dumps({"error": "bad_verification_code"}), kind
    if found["code_challenge"] != digest or found["redirect_uri"] != form["redirect_uri"]:
        return 200, json.dumps({"error": "bad_verification_code"}), kind
    token = f"ghu_{secrets.token_hex(18)}"
    world.people[token] = found["login"]
    return 200, json.dumps({"access_token": token, "token_type": "bearer", "scope": ""}), kind


_PAGES: dict[tuple[str, str], Page] = {
    ("POST", _MAKE): _make,
    ("GET", "/login/oauth/authorize"): _authorize,
    ("POST", "/login/oauth/access_token"): _exchange,
}


def manifest_fault(manifest: Json) -> str:
    """Return what GitHub would refuse in a manifest; empty if nothing."""
    if set(manifest) - _KNOWN:
        return f"unknown: {sorted(set(manifest) - _KNOWN)}"
    addresses: list[Any] = [manifest.get("url"), manifest.get("redirect_url"), *manifest.get("callback_urls", ())]
    addresses.append(manifest.get("hook_attributes", {}).get("url"))
    if not all(isinstance(address, str) and address.startswith(("http://", "https://")) for address in addresses):
        return f"an address is none: {addresses}"
    if manifest["default_permissions"] != GRANTED:
        return f"permissions: {manifest['default_permissions']}"
    return ""
