"""The web application: its routes, and what lives as long as it does."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from bot.handlers import Handlers
from bot.handlers.people import Policy
from bot.server_settings import ServerSettings
from bot.store.database import StoreError
from bot.store.sqlite import SqliteStore
from bot.webhook import Webhook

logger = logging.getLogger(__name__)


class Work(Protocol):
    """Whoever does what was stored."""

    @property
    def ready(self) -> bool:
        """Whether it takes jobs."""

    async def start(self) -> None:
        """Begin."""

    def wake(self) -> None:
        """Something was stored."""

    async def stop(self) -> None:
        """Come to an end, losing nothing."""


def build_app(settings: ServerSettings, store: SqliteStore, worker: Work) -> Starlette:
    """Build the application; the worker runs while it does."""
    webhook = Webhook(
        settings.secrets,
        Handlers(Policy(app_id=settings.app_id, bots=settings.settings.bots)),
        store.inbox.accept,
        worker.wake,
        server=settings.settings.server,
    )

    async def healthz(_request: Request) -> Response:
        """The process answers."""
        return PlainTextResponse("ok\n")

    async def readyz(_request: Request) -> Response:
        """Deliveries can be stored, and are worked on."""
        faults = [] if worker.ready else ["the worker is starting"]
        try:
            counts = await store.jobs.counts()
        except StoreError as error:
            counts, faults = {}, [*faults, f"the store does not answer: {error}"]
        return JSONResponse({"ready": not faults, "faults": faults, "jobs": counts}, 503 if faults else 200)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await worker.start()
        try:
            yield
        finally:
            await worker.stop()

    routes = [
        Route("/webhooks/github", webhook),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
    ]
    return Starlette(routes=routes, lifespan=lifespan)
