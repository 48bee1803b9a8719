"""Read the migration steps of ``schema.sql``."""

from __future__ import annotations

import re
from importlib import resources

_STEP = re.compile(r"^-- Step \d+: .*$", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n?", re.MULTILINE)
_TEXT = resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
STEPS = tuple(_COMMENT.sub("", step).strip().removesuffix(";") for step in _STEP.split(_TEXT)[1:])
"""A file's ``user_version`` is the number of steps applied."""
