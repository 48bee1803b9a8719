"""How much disk mirrors take, and which of them go first."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def size_of(directory: Path) -> int:
    """Bytes of the files below a directory; what vanishes meanwhile counts nothing."""
    total = 0
    stack = [os.fspath(directory)]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def free_bytes(directory: Path) -> int:
    """Bytes that are free on the disk of a directory."""
    return shutil.disk_usage(directory).free


def evict(root: Path, budget: int, *, in_use: Callable[[str], bool], free: int = 0) -> list[str]:
    """Remove the least recently used folders below a root until the rest fits; returns their names.

    Args:
        root: the folder of folders.
        budget: bytes that all of them may take.
        in_use: says of a name whether its folder stays.
        free: bytes that are to be free on the disk.
    """
    folders = sorted((folder for folder in root.iterdir() if folder.is_dir()), key=lambda f: f.stat().st_mtime)
    sizes = {folder: size_of(folder) for folder in folders}
    total, gone = sum(sizes.values()), []
    budget = min(budget, total - max(0, free - free_bytes(root)))
    for folder in folders:
        if total <= budget:
            break
        if not in_use(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            total -= sizes[folder]
            gone.append(folder.name)
    return gone


def unused(root: Path, before: float, *, known: Callable[[str], bool], in_use: Callable[[str], bool]) -> list[str]:
    """Remove the folders below a root that nobody used since a time, or that nobody knows; returns their names."""
    gone = []
    for folder in [folder for folder in root.iterdir() if folder.is_dir()]:
        if not in_use(folder.name) and (folder.stat().st_mtime < before or not known(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
            gone.append(folder.name)
    return gone


def clear_leavings(mirror: Path) -> None:
    """Take away what a killed git left behind; nobody else works in a mirror."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock", "objects/*/tmp_obj_*"):
        for left in mirror.glob(pattern):
            left.unlink(missing_ok=True)
