"""LangSmith's client. It sends text only if the operator allows it, and never a secret."""

from __future__ import annotations

from typing import Any

from bot.tracing.switch import langsmith_is_on
from nodes.trust.secrets import mask


def start_langsmith(*, text: bool) -> Any:
    """Create the client that sends every trace of this process; None if LangSmith is off."""
    if not langsmith_is_on():
        return None
    from langsmith.run_trees import get_cached_client  # noqa: PLC0415  only needed if it is on

    if text:
        return get_cached_client(anonymizer=_masked)
    return get_cached_client(hide_inputs=True, hide_outputs=True, anonymizer=_without_messages)


def _without_messages(data: Any) -> Any:
    """Reduce an error to its type, because its message and traceback quote the run's input."""
    if isinstance(data, dict) and "error" in data:
        return {**data, "error": str(data["error"]).partition("(")[0][:100]}
    return data


def _masked(data: Any) -> Any:
    """Mask everything that looks like a secret, in nested values too."""
    if isinstance(data, str):
        return mask(data)
    if isinstance(data, dict):
        return {name: _masked(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_masked(value) for value in data]
    return data
