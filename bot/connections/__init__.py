"""Limits on what any caller may hold open at the server before it has proved anything."""

from bot.connections.bodies import Bodies, NoRoomError
from bot.connections.protocol import limited_protocol
from bot.connections.registry import Connections, Refusals, connection_limit

__all__ = ["Bodies", "Connections", "NoRoomError", "Refusals", "connection_limit", "limited_protocol"]
