"""The text of a ``.github/triage.yml`` in, a configuration out, or every fault with its line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from bot.repo_config.model import CommandName, LabelName, Labels, Limits, RepositoryConfig
from bot.yaml_file import ConfigError, ConfigFault, compose, read_yaml, values_of

__all__ = ["ConfigError", "ConfigFault", "read_config", "wants_comments"]

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
    """Does a faulty file, as far as it can be read, let us comment? One that cannot be read at all does not."""
    try:
        root = compose(text)
        values = values_of(root, []) if root is not None else {}
    except ConfigError:
        return False
    return (
        isinstance(values, dict) and values.get("mode", "comment") == "comment" and values.get("enabled", True) is True
    )


def _known(path: Sequence[str]) -> Sequence[str]:
    return _KNOWN.get(".".join(path), ())
