"""The page after registration: next steps once the App exists."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.server.registration import FILE, WEBHOOK, installation_address, is_local
from bot.server.web.auth.sessions import must_operate
from bot.server.web.faults import fault
from bot.server.web.render import render
from bot.server.web.site import site_of


def routes() -> list[Route]:
    """Return the routes that require a login."""
    return [Route("/welcome", welcome)]


def closed() -> list[Route]:
    """Return the routes of the first start. They answer 410 now that an App exists."""
    return [Route("/setup", _over, methods=["GET", "POST"]), Route("/setup/{rest:path}", _over)]


async def welcome(request: Request) -> Response:
    """Show where to install the App and where its secrets are stored."""
    must_operate(request)
    settings = site_of(request).settings
    slug, file = settings.github_app_slug or "", settings.triage_data_dir / FILE
    server_address = site_of(request).address(request)
    install = installation_address(settings.github_server_url, slug) if slug else settings.github_server_url
    shown: dict[str, Any] = {
        "slug": slug,
        "install": install,
        "webhook": server_address + WEBHOOK,
        "local": is_local(server_address),
    }
    return render(request, "welcome.html", kept=file if file.exists() else None, **shown)


async def _over(request: Request) -> Response:
    return fault(request, 410)
