"""The configuration of a target repository, ``.github/triage.yml``; it can only narrow what the operator allows."""

from bot.repo_config.find import PATH, FoundConfig, find_config
from bot.repo_config.model import CommandRole, Mode, RepositoryConfig
from bot.repo_config.read import ConfigError, ConfigFault, read_config

__all__ = [
    "PATH",
    "CommandRole",
    "ConfigError",
    "ConfigFault",
    "FoundConfig",
    "Mode",
    "RepositoryConfig",
    "find_config",
    "read_config",
]
