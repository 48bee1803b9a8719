"""Checkpoints that survive upgrades: only known types are stored, and older schemas are migrated on load."""

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from nodes.state.models import CURRENT_SCHEMA_VERSION

Values = dict[str, Any]
Migration = Callable[[Values], Values]
_STATE = """AgentFinding Answer BugTriageState CriticVerdict HumanExchange Marks Metrics Progress RetryReason Timing
    TraceEntry Usage"""
_STORED = {
    "nodes.state.models": _STATE,
    "nodes.state": _STATE,  # as earlier releases stored it
    "nodes.judgements": "CauseSentence Investigation Submission SubmittedPlace",
    "nodes.report": """CitationAudit Evaluation OutsideSource RelatedIssue Suspect SuspectChange Ticket
        TriageReport""",
}
"""The types that a checkpoint may contain, by module."""
_DEFLATED = "deflated "
"""The prefix of the type of a compressed value. Values written by earlier releases have no prefix."""
_LONG = 256
"""The size in bytes from which compression pays."""


class NewerSchemaError(RuntimeError):
    """The checkpoint was written by a newer release."""


class SqliteCheckpoints(AsyncSqliteSaver):
    """SQLite checkpoints, migrated when they are loaded."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Load a checkpoint in the current schema."""
        # Migration happens while loading: `update_state` would erase the interrupt of a run that waits for an answer.
        return migrated(await super().aget_tuple(config))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete a run's checkpoints. The saver fails if the file has no tables yet, so create them first."""
        await self.setup()
        await super().adelete_thread(thread_id)


class _Compact(JsonPlusSerializer):
    """Compresses long values: each step stores the state again, and each trace entry stores the trace again."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        kind, data = super().dumps_typed(obj)
        return (f"{_DEFLATED}{kind}", zlib.compress(data)) if len(data) >= _LONG else (kind, data)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        kind, held = data
        if not kind.startswith(_DEFLATED):
            return super().loads_typed(data)
        return super().loads_typed((kind.removeprefix(_DEFLATED), zlib.decompress(held)))


def migrate(values: Values) -> Values:
    """Migrate a checkpoint's values to the current schema; raises ``NewerSchemaError`` if a newer release wrote it."""
    version = values.get("schema_version", 0) if values else CURRENT_SCHEMA_VERSION
    if version > CURRENT_SCHEMA_VERSION:
        raise NewerSchemaError(
            f"this run was saved by a newer release (state schema {version}, known up to {CURRENT_SCHEMA_VERSION}): "
            "upgrade, or remove the checkpoints to start over"
        )
    while version < CURRENT_SCHEMA_VERSION:
        values = {**_MIGRATIONS[version](values), "schema_version": version + 1}
        version += 1
    return values


def migrated(found: CheckpointTuple | None) -> CheckpointTuple | None:
    """Return a loaded checkpoint with its values in the current schema."""
    # LangGraph's input checkpoint has the initial state under __start__, and no fields of ours yet.
    if found is None or "__start__" in found.checkpoint["channel_values"]:
        return found
    values = migrate(found.checkpoint["channel_values"])
    return found._replace(checkpoint={**found.checkpoint, "channel_values": values})


def serializer() -> JsonPlusSerializer:
    """Return a serializer that rebuilds our own types and no others."""
    allowed = [(module, name) for module, names in _STORED.items() for name in names.split()]
    return _Compact(allowed_msgpack_modules=allowed)


def _from_0(values: Values) -> Values:
    """Migrate from the time before schema versions, when instructions were a single string."""
    instructions = values.get("redirect_instructions", ())
    return {**values, "redirect_instructions": (instructions,) if isinstance(instructions, str) else instructions}


_MIGRATIONS: Mapping[int, Migration] = {0: _from_0}
"""Maps a schema version to the function that migrates it to the next version."""
