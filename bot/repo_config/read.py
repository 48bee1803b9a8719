"""Parse the text of a ``.github/triage.yml`` into a configuration, or report every fault with its line."""

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
"""Matches a line that turns comments off, in a text that is not valid YAML."""
_KNOWN = {
    "": tuple(RepositoryConfig.model_fields),
    "labels": tuple(Labels.model_fields),
    "labels.map": get_args(LabelName),
    "limits": tuple(Limits.model_fields),
    "commands": get_args(CommandName),
}


def read_config(text: str) -> RepositoryConfig:
    """Parse a file's text; an empty file means the defaults.

    Raises:
        ConfigError: the text is invalid; the error names each fault with its line.
    """
    return read_yaml(text, RepositoryConfig, _known)


def wants_comments(text: str) -> bool:
    """Return whether a comment may report a faulty file: not if its readable part turns comments off."""
    text = text.replace("\x00", "")  # UTF-16 without a byte order mark reads as UTF-8 with interspersed null bytes
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
