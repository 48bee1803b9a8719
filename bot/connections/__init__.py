"""Limits on the resources that an unauthenticated caller may hold at the server."""

from bot.connections.bodies import Bodies, NoRoomError
from bot.connections.protocol import limited_protocol
from bot.connections.registry import Connections, Refusals, connection_limit

__all__ = ["Bodies", "Connections", "NoRoomError", "Refusals", "connection_limit", "limited_protocol"]
