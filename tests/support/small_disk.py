"""A small file system of its own, which can be filled to the last byte; only root can mount one."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int = 4_000, options: str = "") -> Iterator[Path]:
    """Mount an empty file system at a new folder; skip the test where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=700{options}", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root can mount a small file system, and not on every machine")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextlib.contextmanager
def filled(disk: Path, free: int = 0) -> Iterator[None]:
    """Leave this many bytes of a file system, rounded to pages."""
    fill = disk / "fill"
    with contextlib.suppress(OSError), fill.open("wb", buffering=0) as file:
        while file.write(bytes(4_096)) == 4_096:
            pass
    os.truncate(fill, max(fill.stat().st_size - free, 0))
    try:
        yield
    finally:
        fill.unlink()


def make_read_only(disk: Path, *, read_only: bool = True) -> None:
    """Let nobody write to a mounted file system, or everyone again; files that are open for writing prevent it."""
    subprocess.run(["mount", "-o", f"remount,{'ro' if read_only else 'rw'}", str(disk)], check=True)
