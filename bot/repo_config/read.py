"""The text of a ``.github/triage.yml`` in, a configuration out, or every fault with its line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import get_args

from bot.repo_config.model import CommandName, LabelName, Labels, Limits, RepositoryConfig
from bot.yaml_file import ConfigError, ConfigFault, compose, read_yaml, values_of

__all__ = ["ConfigError", "ConfigFault", "read_config", "wants_comments"]

_SWITCHED_OFF = re.compile(
    r"""^[ \t{]{0,9}["']?(?:enabled["']?[ \t]{0,9}:[ \t]{0,9}["']?(?:false|no|off|n|0)\b"""
    r"""|mode["']?[ \t]{0,9}:[ \t]{0,9}["']?(?:dry[-_ ]?run|label|off|none|silent)\b)""",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that is a wish for silence, in a text that is not YAML."""
_KNOWN = {
    "": tuple(RepositoryConfig.model_fields),
    "labels": tuple(Labels.model_fields),
    "labels.map": get_args(LabelName),
    "limits": tuple(Limits.model_fields),
    "commands": get_args(CommandName),
}


def read_config(text: str) -> RepositoryConfig:
    """Read a file's text; an empty one means the defaults.

    Raises:
        ConfigError: it names each fault with its line.
    """
    return read_yaml(text, RepositoryConfig, _known)


def wants_comments(text: str) -> bool:
    """May one comment tell of a faulty file? Not where the file, as far as it can be read, switches comments off."""
    text = text.replace("\x00", "")  # UTF-16 without a mark reads as UTF-8 with these in between
    try:
        root = compose(text)
        values = values_of(root, []) if root is not None else {}
    except ConfigError:
        return not _SWITCHED_OFF.search(text)
    if not isinstance(values, dict):
        return not _SWITCHED_OFF.search(text)
    return values.get("mode", "comment") == "comment" and values.get("enabled", True) is True


def _known(path: Sequence[str]) -> Sequence[str]:
    return _KNOWN.get(".".join(path), ())
