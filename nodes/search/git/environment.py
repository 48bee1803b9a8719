"""Options and environment variables with which git reads and has no side effects."""

from __future__ import annotations

import os

SAFE = (
    # The configuration of a repository may name commands that git runs. ``safe.directory`` permits other owners.
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"),
    # Limits git's memory for packs and deltas, whatever the repository's own configuration sets.
    *("-c", "core.packedGitWindowSize=32m", "-c", "core.packedGitLimit=256m", "-c", "core.deltaBaseCacheLimit=32m"),
)
QUIET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # No user or system settings and no replacement objects: the content always matches the object id.
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    # Before 2.45, git fetches missing objects despite GIT_NO_LAZY_FETCH, with a command that the repository may set.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def environment() -> dict[str, str]:
    """Return the process environment without git's variables, plus those that prevent side effects."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return others | QUIET
