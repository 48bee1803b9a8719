"""Run a server between its caller and its streams: bound what it sends, and at the end kill all that it started.

``python reaper.py BYTES NAMES PROGRAM ARGUMENT…``: the input goes to the program, which receives the variables NAMES of
our environment; what it writes goes out, up to BYTES. When the input ends, because the caller closed it or died, or the
program's output does, every descendant is killed, independent of session and parent. The reason for an earlier end
goes to standard error. Only the standard library is imported.
"""

import ctypes
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, cast

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER: a descendant whose parent ends becomes our child, even after setsid (prctl(2), Linux)."""
_GRACE = 0.5
"""Seconds for a server to exit after its input was closed."""
_CHUNK = 65_536
_MAX_SECONDS = 4.0
"""Seconds to keep killing processes that continue to fork."""


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends; does nothing if the system does not support it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def descendants(of: int) -> list[int]:
    """Return the ids of all processes below one; empty on a system without /proc."""
    processes = [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
    parents = dict(filter(None, map(_with_parent, processes)))
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
    """Relay until the input or the output ends, or the output is too long."""
    most, names, command = int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
    adopt_orphans()
    env = {name: os.environ[name] for name in names}
    try:
        server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, bufsize=0
        )
    except OSError as error:
        sys.exit(f"`{command[0]}` cannot be started: {error.strerror or type(error).__name__}")
    into, out = cast("IO[bytes]", server.stdin), cast("IO[bytes]", server.stdout)
    # The caller sends it to the whole group before it kills us; the end of the input has begun to end everything.
    signal.signal(signal.SIGTERM, lambda *_: None)
    # The input is read even while the server does not take it, so that its end is seen.
    given: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_write, args=(into, given), daemon=True).start()
    threading.Thread(target=_read, args=(given,), daemon=True).start()
    with suppress(OSError):
        while chunk := os.read(out.fileno(), _CHUNK):
            most -= len(chunk)
            if most < 0:
                sys.stderr.write(f"it sent more than {int(sys.argv[1]):,} bytes")
                break
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
    end_all()


def _read(given: queue.SimpleQueue[bytes]) -> None:
    """Take the input; at its end, let the server end by itself for a moment, then end everything."""
    while chunk := os.read(0, _CHUNK):
        given.put(chunk)
    given.put(b"")
    deadline = time.monotonic() + _GRACE
    while descendants(os.getpid()) and time.monotonic() < deadline:
        time.sleep(0.01)
    end_all()
    os._exit(0)


def _write(into: IO[bytes], given: queue.SimpleQueue[bytes]) -> None:
    with suppress(OSError), into:
        while chunk := given.get():
            while chunk:
                chunk = chunk[into.write(chunk) :]


def _with_parent(process: str) -> tuple[int, int] | None:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The name of a process is in parentheses and may itself contain spaces and parentheses.
            return int(process), int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None


if __name__ == "__main__":
    main()
