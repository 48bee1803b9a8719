"""Limits on the resources that an unauthenticated caller may use on the server."""

from bot.server.connections.bodies import Bodies, NoRoomError
from bot.server.connections.protocol import limited_protocol
from bot.server.connections.registry import Connections, Refusals, connection_limit

__all__ = ["Bodies", "Connections", "NoRoomError", "Refusals", "connection_limit", "limited_protocol"]
