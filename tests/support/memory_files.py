"""Keeps the temporary files of tests in memory: thousands of small files cost less there, and nothing waits for a disk.

A test creates a folder or two, a repository and a database. On a disk that takes a tenth of all processor time.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

FOLDER = Path("/dev/shm")
NEEDED = 4 << 30
"""Bytes that must be free: several times what a run of all tests has at once."""


def use_memory() -> None:
    """Use a file system in memory, unless somebody chose a folder, it is too small, or it executes no files."""
    if not {"TMPDIR", "PYTEST_DEBUG_TEMPROOT"} & set(os.environ) and _is_usable(FOLDER):
        os.environ["TMPDIR"] = str(FOLDER)  # for the processes that tests start
        tempfile.tempdir = None


def _is_usable(folder: Path) -> bool:
    try:
        found = os.statvfs(folder)
        memory = re.search(r"^MemAvailable: +(\d+) kB$", Path("/proc/meminfo").read_text(), re.MULTILINE)
    except OSError:
        return False
    free = min(found.f_bavail * found.f_frsize, int(memory[1]) * 1024 if memory else 0)
    return free >= NEEDED and not found.f_flag & os.ST_NOEXEC and os.access(folder, os.W_OK)
