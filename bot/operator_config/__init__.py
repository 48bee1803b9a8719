"""The operator's file, TRIAGE_CONFIG: the only place that can name tools, commands and addresses."""

from bot.operator_config.model import OperatorConfig
from bot.operator_config.read import load_operator_config, read_operator_config

__all__ = ["OperatorConfig", "load_operator_config", "read_operator_config"]
