"""Runs a command and ends with it everything that it started, whatever session or parent that has by then.

``python reaper.py DESCRIPTOR PROGRAM ARGUMENT…``: the descriptor is a pipe that its caller holds open. When the pipe
ends, because the caller closed it or died, every descendant is killed. It imports the standard library alone.
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
_LOOK = 0.05
_MOST = 10.0
"""Seconds for killing what goes on forking."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends; nothing where the system cannot."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(of: int) -> list[int]:
    """The processes below one, by id; none where there is no /proc."""
    parents = dict(filter(None, map(_with_parent, _processes())))
    found, below = [], [of]
    while below:
        below = [pid for pid, parent in parents.items() if parent in below]
        found += below
    return found


def end_all() -> None:
    """Kill and reap until no descendant is left."""
    until = time.monotonic() + _MOST
    while time.monotonic() < until:
        for pid in descendants(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not reap():
            return
        time.sleep(0.01)


def reap() -> bool:
    """Collect the children that ended; returns whether any is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def main() -> None:
    """Run the command until it and everything it started has ended, or the caller has."""
    lifeline, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(lifeline, False)  # noqa: FBT003 - the standard library's signature
    adopt_orphans()
    os.posix_spawnp(command[0], command, os.environ)
    # What the command reads and writes is its own: an end of these streams must be seen by whoever waits for it.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    while reap():
        if select.select([lifeline], [], [], _LOOK)[0]:
            end_all()
            return


def _processes() -> list[str]:
    with suppress(OSError):
        return [name for name in os.listdir("/proc") if name.isdigit()]
    return []


def _with_parent(process: str) -> tuple[int, int] | None:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            return int(process), int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


if __name__ == "__main__":
    main()
