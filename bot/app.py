"""The web application: its routes, and what lives as long as it does."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.api.routes import api_routes
from bot.bearer import bears
from bot.connections.turns import Turns
from bot.handlers import Handlers
from bot.handlers.people import Policy
from bot.metrics.page import metrics_route
from bot.server_settings import ServerSettings
from bot.settings import Settings
from bot.store.database import StoreError
from bot.store.tables import Store
from bot.web import Site
from bot.web import routes as page_routes
from bot.web.faults import handlers
from bot.web.security import Shield
from bot.webhook import Webhook

PATH = "/webhooks/github"

logger = logging.getLogger(__name__)


class Work(Protocol):
    """The worker, as the web application sees it."""

    async def not_ready(self) -> str:
        """Why stored jobs are not worked on; empty if they are.

        Raises:
            StoreError: the store does not answer.
        """

    async def start(self) -> None:
        """Begin."""

    def wake(self) -> None:
        """Something was stored."""

    async def stop(self) -> None:
        """Come to an end, losing nothing."""


def build_app(settings: ServerSettings, store: Store, worker: Work) -> ASGIApp:
    """Build the application; the worker runs while it does."""
    webhook = Webhook(
        settings.secrets,
        Handlers(Policy(app_id=settings.app_id, bots=settings.settings.bots)),
        store.inbox.accept,
        worker.wake,
        server=settings.settings.server,
    )
    pages = Turns(Shield(build_pages(settings.settings, store, worker), settings.settings.triage_public_url))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """Deliveries go past routes and middleware: most of them are only acknowledged."""
        takes = webhook if scope.get("path") == PATH else pages
        await takes(scope, receive, send)

    return app


async def _readiness(store: Store, worker: Work) -> tuple[str, dict[str, int]]:
    """What is wrong, if anything, and the jobs by state."""
    try:
        return await worker.not_ready(), await store.jobs.counts()
    except StoreError as error:
        return f"the store does not answer: {error}", {}


def build_pages(settings: Settings, store: Store, worker: Work) -> Starlette:
    """Everything but the webhook."""

    async def healthz(_request: Request) -> Response:
        """The process answers."""
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        """Whether deliveries are stored and worked on; the operator also learns why not."""
        told = bears(request, settings.triage_admin_token)
        fault, counts = await _readiness(store, worker)
        details = {"faults": [fault] if fault else [], "jobs": counts} if told else {}
        return JSONResponse({"ready": not fault, **details}, 503 if fault else 200)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await worker.start()
        try:
            yield
        finally:
            await worker.stop()

    site = Site.of(settings, store)
    routes: list[BaseRoute] = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        metrics_route(settings, store),
        api_routes(settings, store, worker.wake),
        *page_routes(site),  # the last: they take every path that is left
    ]
    pages = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers())
    pages.state.site = site
    return pages
