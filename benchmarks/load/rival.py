"""A reference server for an event without a listener: gidgethub on aiohttp verifies and parses the event."""

from __future__ import annotations

import sys

from aiohttp import web
from gidgethub import routing, sansio

router = routing.Router()


async def receive(request: web.Request) -> web.Response:
    """Handle a delivery as in gidgethub's documentation."""
    body = await request.read()
    event = sansio.Event.from_http(request.headers, body, secret=sys.argv[2])
    await router.dispatch(event)
    return web.Response(status=200)


app = web.Application(client_max_size=25 * 1024**2)
app.router.add_post("/webhooks/github", receive)
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None, access_log=None)
