"""Run a command, and at the end kill every process that it started, independent of session and parent.

``python reaper.py DESCRIPTOR PROGRAM ARGUMENT…``: the descriptor is a pipe that the caller holds open. When the pipe
ends, because the caller closed it or died, every descendant is killed. Only the standard library is imported.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from contextlib import suppress

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: a descendant whose parent ends becomes our child, even after setsid (prctl(2), Linux)."""
_INTERVAL = 0.05
_MAX_SECONDS = 10.0
"""Seconds to keep killing processes that continue to fork."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends; does nothing if the system does not support it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(of: int) -> list[int]:
    """Return the ids of all processes below one; empty on a system without /proc."""
    parents = dict(filter(None, map(_with_parent, _processes())))
    found, below = [], [of]
    while below:
        below = [pid for pid, parent in parents.items() if parent in below]
        found += below
    return found


def end_all() -> None:
    """Kill and reap until no descendant is left."""
    deadline = time.monotonic() + _MAX_SECONDS
    while time.monotonic() < deadline:
        # Repeated, because a process may fork between the listing and its kill.
        for pid in descendants(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not reap():
            return
        time.sleep(0.01)


def reap() -> bool:
    """Collect the children that ended; return whether any child remains."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def main() -> None:
    """Run the command until it and all its descendants have ended, or until the caller closes the pipe."""
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)  # noqa: FBT003 - the standard library's signature
    adopt_orphans()
    os.posix_spawnp(command[0], command, os.environ)
    # Drop our copies of the standard streams, so their end is seen when the command's own processes close them.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    while reap():
        if select.select([lifeline], [], [], _INTERVAL)[0]:
            end_all()
            return


def _processes() -> list[str]:
    with suppress(OSError):
        return [name for name in os.listdir("/proc") if name.isdigit()]
    return []


def _with_parent(process: str) -> tuple[int, int] | None:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name of a process is in parentheses and may itself contain spaces and parentheses.
            return int(process), int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


if __name__ == "__main__":
    main()
