"""Build the web application: its routes and its lifespan."""

import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.observability.metrics import metrics_route
from bot.server.api.routes import api_routes
from bot.server.connections.bodies import Turns
from bot.server.web import render
from bot.server.web.auth import login
from bot.server.web.pages import home, repositories, run, runs
from bot.server.web.security import Shield, has_bearer_token
from bot.server.web.site import Site, build_authenticator
from bot.server.webhook.endpoint import Webhook
from bot.settings import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.database import StoreError
from bot.store.tables import Store

PATH = "/webhooks/github"


class Work(Protocol):
    """The worker's interface to the web application."""

    async def not_ready(self) -> str:
        """Return why stored jobs are not processed; empty if they are.

        Raises:
            StoreError: the store does not respond.
        """

    async def start(self) -> None:
        """Start processing stored jobs."""

    def wake(self) -> None:
        """Signal that a job was stored."""

    async def stop(self) -> None:
        """Stop without losing a stored job."""


def build_app(settings: ServerSettings, store: Store, worker: Work) -> ASGIApp:
    """Build the application; its lifespan starts and stops the worker."""
    webhook = Webhook(
        settings.secrets,
        store.inbox.accept,
        worker.wake,
        server=settings.settings.server,
    )
    pages = Turns(Shield(build_pages(settings.settings, store, worker), settings.settings.triage_public_url))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """Route deliveries around the routing table and middleware, since most of them are only acknowledged."""
        takes = webhook if scope.get("path") == PATH else pages
        await takes(scope, receive, send)

    return app


def build_pages(settings: Settings, store: Store, worker: Work) -> Starlette:
    """Build every page and endpoint except the webhook."""

    async def healthz(_request: Request) -> Response:
        """Report that the process responds."""
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        """Report whether deliveries are stored and processed; the operator's token also shows the faults."""
        is_operator = has_bearer_token(request, settings.triage_admin_token)
        try:
            fault, counts = await worker.not_ready(), await store.jobs.counts()
        except StoreError as error:
            fault, counts = f"the store does not answer: {error}", {}
        details = {"faults": [fault] if fault else [], "jobs": counts} if is_operator else {}
        return JSONResponse({"ready": not fault, **details}, 503 if fault else 200)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await worker.start()
        try:
            yield
        finally:
            await worker.stop()

    site = Site(settings, store, build_authenticator(settings, store.ended_sessions), worker.wake)
    routes: list[BaseRoute] = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        metrics_route(settings, store),
        api_routes(settings, store, worker.wake),
        *_page_routes(site),  # last: they match every remaining path
    ]
    pages = Starlette(routes=routes, lifespan=lifespan, exception_handlers=render.handlers())
    pages.state.site = site
    return pages


def _page_routes(site: Site) -> list[BaseRoute]:
    """List the routes of pages: the public ones first, then all others behind the login."""
    # One gate covers every other path, so a new page is behind the login by default.
    closed = [*home.routes(), *runs.routes(), *repositories.routes(), *run.routes()]
    return [
        *render.routes(),
        *login.routes(site),
        *home.closed(),
        Mount("/", routes=closed, middleware=[Middleware(login.RequireLogin, site.authenticator)]),
    ]
