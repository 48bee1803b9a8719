"""The JSON Schemas of all documents that people and programs read or write, each with an `$id`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bot.report.document import result_schema
from bot.settings.operator import operator_schema
from bot.settings.repository import config_schema

SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "triage-result.json": result_schema,
    "triage.yml.json": config_schema,
    "operator.yml.json": operator_schema,
}
"""Schemas by the name under which the server and the documentation publish them."""
