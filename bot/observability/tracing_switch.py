"""Detect LangSmith, and hide text from it; only the standard library is imported, as every command does this."""

import os

_SWITCHES = ("LANGSMITH_TRACING", "LANGSMITH_TRACING_V2", "LANGCHAIN_TRACING", "LANGCHAIN_TRACING_V2")
_HIDE = ("LANGSMITH_HIDE_INPUTS", "LANGSMITH_HIDE_OUTPUTS")
_YES = ("1", "true")


def langsmith_is_on() -> bool:
    """Return whether the environment configures LangChain to send traces to LangSmith."""
    return any(os.environ.get(name, "").strip().lower() in _YES for name in _SWITCHES)


def keep_text_private() -> None:
    """Configure LangSmith's client to send neither inputs nor outputs. Call this before anything imports the client."""
    if langsmith_is_on() and os.environ.get("TRIAGE_TRACE_TEXT", "").strip().lower() not in _YES:
        os.environ.update(dict.fromkeys(_HIDE, "true"))
