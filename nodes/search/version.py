"""What parsed a file: records of another parser are never read, whichever of its parts changed."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PARTS = (
    "changes.py", "chunks.py", "columns.py", "git.py", "helper_task.py", "languages/*.py", "loading.py", "parsing.py",
    "postings.py", "progress.py", "records.py", "role_names.py", "roles.py", "tokens.py", "trees.py", "types.py",
)  # fmt: skip
"""Sources that decide what a record says."""
WHEELS = ("tree_sitter", "pystemmer")
"""Distributions whose version decides it too."""


@cache
def parser_version() -> str:
    """Name the parsers: a digest of their own source and of the versions of the grammars that are installed."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted(file for part in PARTS for file in here.glob(part)):
        digest.update(file.read_bytes())
    for wheel in sorted(_installed()):
        digest.update(wheel.encode())
    return digest.hexdigest()[:12]


def _installed() -> list[str]:
    """Names such as ``tree_sitter_go-0.25.0.dist-info``: to ask each wheel for its version would mean importing it."""
    spec = find_spec("tree_sitter")
    if spec is None or spec.origin is None:
        return []
    site = Path(spec.origin).parents[1]
    return [path.name for path in site.glob("*.dist-info") if path.name.lower().startswith(WHEELS)]
