"""Build the web application: its routes and its lifespan."""

import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.observability.metrics import metrics_route
from bot.server.api.routes import api_routes
from bot.server.connections.bodies import Turns
from bot.server.registration import LOGIN_CALLBACK, WEBHOOK
from bot.server.web import render
from bot.server.web.auth import login
from bot.server.web.pages import overview, run, runs
from bot.server.web.security import Shield, has_bearer_token
from bot.server.web.site import Site, build_authenticator
from bot.server.webhook.endpoint import Webhook
from bot.settings.environment import Settings
from bot.settings.server import ServerSettings
from bot.store.databases.database import StoreError
from bot.store.tables import Store

_RUN = "/runs/{owner}/{name}/{issue:int}/{run:int}"
_CLOSED = (
    Route("/", overview.home),
    Route("/jobs/{job:int}/replay", overview.replay, methods=["POST"]),
    Route("/runs", runs.listed),
    Route("/runs/rows", runs.changed),
    Route("/runs/{owner}/{name}/{issue:int}", run.newest),
    Route(_RUN, run.shown),
    Route(f"{_RUN}/command", run.accept, methods=["POST"]),
    Route(f"{_RUN}/progress", run.changed),
    Route("/repositories", overview.repositories),
    Route("/repositories/{owner}/{name}", overview.repository),
)
"""The pages behind the login."""


class Work(Protocol):
    """The worker's interface to the web application."""

    async def not_ready(self) -> str:
        """Return why stored jobs are not processed; empty if they are; StoreError if the store does not respond."""

    async def start(self) -> None:
        """Start processing stored jobs."""

    def wake(self) -> None:
        """Signal that a job was stored."""

    async def stop(self) -> None:
        """Stop without losing a stored job."""


def build_app(settings: ServerSettings, store: Store, worker: Work) -> ASGIApp:
    """Build the application; its lifespan starts and stops the worker."""
    webhook = Webhook(settings.secrets, store.inbox.accept, worker.wake, server=settings.settings.server)
    pages = Turns(Shield(build_pages(settings.settings, store, worker), settings.settings.triage_public_url))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        """Route deliveries around the routing table and middleware, since most of them are only acknowledged."""
        takes = webhook if scope.get("path") == WEBHOOK else pages
        await takes(scope, receive, send)

    return app


def build_pages(settings: Settings, store: Store, worker: Work) -> Starlette:
    """Build every page and endpoint except the webhook."""

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
    at_github = [Route("/login/github", login.begin_github_login), Route(LOGIN_CALLBACK, login.complete_github_login)]
    routes: list[BaseRoute] = [
        Route("/healthz", render.healthz),
        Route("/readyz", readyz),
        metrics_route(settings, store),
        api_routes(settings, store, worker.wake),
        Route(render.ASSETS, render.serve_asset),
        Route("/login", login.show),
        Route("/login", login.log_in, methods=["POST"]),
        Route("/logout", login.log_out, methods=["POST"]),
        *(at_github if site.authenticator.accounts else ()),
        Route("/setup", _over, methods=["GET", "POST"]),
        Route("/setup/{rest:path}", _over),
        # Last: one gate covers every remaining path, so a new page is behind the login by default.
        Mount("/", routes=_CLOSED, middleware=[Middleware(login.RequireLogin, site.authenticator)]),
    ]
    handlers = dict.fromkeys(render.FAILURES, render.answer_failure)
    pages = Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)
    pages.state.site = site
    return pages


async def _over(request: Request) -> Response:
    """Answer that the pages of the first start are closed, now that an App exists."""
    return render.fault(request, 410)
