"""Web pages for people. Pages about a repository require a login."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.routing import BaseRoute, Mount

from bot.server.web import render
from bot.server.web.auth import login
from bot.server.web.auth.authentication import RequireLogin
from bot.server.web.pages import home, queue, repositories, run, runs, welcome
from bot.server.web.site import Site

__all__ = ["Site", "routes"]


def routes(site: Site) -> list[BaseRoute]:
    """List every route: the public ones first, then all others behind the login."""
    return [
        *render.routes(),
        *login.routes(),
        *login.github_routes(site),
        *welcome.closed(),
        # One gate covers every other path, so a new page is behind the login by default.
        Mount("/", routes=_closed(), middleware=[Middleware(RequireLogin, site.authenticator)]),
    ]


def _closed() -> list[BaseRoute]:
    """List the pages that require a login. A new module adds its ``routes()`` here."""
    return [
        *home.routes(),
        *welcome.routes(),
        *runs.routes(),
        *run.routes(),
        *repositories.routes(),
        *queue.routes(),
    ]
