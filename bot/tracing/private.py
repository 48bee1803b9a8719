"""LangSmith's client, which sends text only where the operator allows it, and never a secret."""

from __future__ import annotations

from typing import Any

from bot.tracing.switch import langsmith_is_on
from nodes.trust.secrets import mask


def begin_langsmith(*, text: bool) -> Any:
    """The client that every trace of this process goes through; None where LangSmith is off."""
    if not langsmith_is_on():
        return None
    from langsmith.run_trees import get_cached_client  # noqa: PLC0415  only where it is on

    if text:
        return get_cached_client(anonymizer=_masked)
    return get_cached_client(hide_inputs=True, hide_outputs=True, anonymizer=_without_messages)


def _without_messages(data: Any) -> Any:
    """An error's type alone: its message and traceback quote what was read."""
    if isinstance(data, dict) and "error" in data:
        return {**data, "error": str(data["error"]).partition("(")[0][:100]}
    return data


def _masked(data: Any) -> Any:
    """The same with whatever looks like a secret masked."""
    if isinstance(data, str):
        return mask(data)
    if isinstance(data, dict):
        return {name: _masked(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_masked(value) for value in data]
    return data
