"""Patterns of words from a TOML file: each entry is a list of strings, one pattern cut into lines."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def load_patterns(file: Path) -> dict[str, re.Pattern[str]]:
    """Return the patterns of a file by name."""
    return {name: re.compile("".join(lines)) for name, lines in tomllib.loads(file.read_text(encoding="utf-8")).items()}
