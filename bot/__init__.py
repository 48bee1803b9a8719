"""Tracehound. ``from bot import triage`` triages an issue from Python; docs/python.md describes the stable names."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from bot.cli.library import triage
    from bot.errors import UserError
    from bot.report.document import Result

# LangGraph imports httpx, and httpx its own command line with rich and pygments, unless that cannot be imported.
sys.modules.setdefault("httpx._main", cast("ModuleType", None))

__all__ = ["Result", "UserError", "triage"]
_HOME = {"Result": "bot.report.document", "UserError": "bot.errors", "triage": "bot.cli.library"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing a run takes a second, and `triage --help` needs none."""
    if name not in _HOME:
        raise AttributeError(f"module 'bot' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names before they are imported too."""
    return sorted({*globals(), *__all__})
