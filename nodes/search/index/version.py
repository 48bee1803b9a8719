"""Identifies the parsers, so that records of another version are never read, whichever part changed."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# ``parsers/p*.py`` are parsing, pool and protocol: what is parsed, and how the results are encoded.
PARTS = (
    *("git/__init__.py", "git/objects.py", "index/*.py", "languages/*.py", "languages/*.toml"),
    *("parsers/p*.py", "paths/roles.py", "tokens.py", "types.py"),
)
"""Source files that determine the content of a record."""
WHEELS = ("tree_sitter", "pystemmer")
"""Prefixes of the distributions whose versions also determine it."""


@cache
def parser_version() -> str:
    """Return a digest of the parsers' own source and of the versions of the installed grammars."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    # A digest of the source instead of a number: no edit can leave old records in use.
    for file in sorted(file for part in PARTS for file in root.glob(part)):
        digest.update(file.read_bytes())
    for wheel in sorted(_installed()):
        digest.update(wheel.encode())
    return digest.hexdigest()[:12]


def _installed() -> list[str]:
    """Return names such as ``tree_sitter_go-0.25.0.dist-info``: reading each wheel's own version would import it."""
    spec = find_spec("tree_sitter")
    if spec is None or spec.origin is None:
        return []
    site = Path(spec.origin).parents[1]
    return [path.name for path in site.glob("*.dist-info") if path.name.lower().startswith(WHEELS)]
