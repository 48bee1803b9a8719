"""The pages people look at: nothing of a repository without a login."""

from __future__ import annotations

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from bot.web import assets, github_login, login, queue, repositories, run, runs, welcome
from bot.web.door import Gate
from bot.web.site import Site

__all__ = ["Site", "routes"]


def routes(site: Site) -> list[BaseRoute]:
    """Every page: first what is open to all, then everything else, behind the login."""
    return [
        *assets.routes(),
        *login.routes(),
        *github_login.routes(site),
        *welcome.closed(),
        Mount("/", routes=_closed(), middleware=[Middleware(Gate, site.door)]),
    ]


def _closed() -> list[BaseRoute]:
    """Pages for those who are logged in; a new module adds its ``routes()`` here."""
    return [
        Route("/", home),
        *welcome.routes(),
        *runs.routes(),
        *run.routes(),
        *repositories.routes(),
        *queue.routes(),
    ]


async def home(_request: Request) -> Response:
    """Where one starts: with what happens."""
    return RedirectResponse("/runs", 303)
