"""Measure the disk usage of mirrors, and delete the least recently used ones."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path


def size_of(directory: Path) -> int:
    """Return the bytes of the files below a directory; files that vanish during the walk count as zero."""
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
        # git deletes files and folders while this walk reads them.
        except OSError:
            continue
    return total


def free_bytes(directory: Path) -> int:
    """Return the free bytes on the disk of a directory."""
    return shutil.disk_usage(directory).free


def evict(root: Path, budget: int, *, in_use: Callable[[str], bool], free: int = 0) -> list[str]:
    """Remove the least recently used folders below a root until the rest fits; returns their names.

    Args:
        root: the folder that contains them.
        budget: bytes that all of them may take.
        in_use: returns whether the folder of a name must stay.
        free: bytes that must be free on the disk.
    """
    folders = sorted((folder for folder in root.iterdir() if folder.is_dir()), key=lambda f: f.stat().st_mtime)
    sizes = {folder: size_of(folder) for folder in folders}
    total, removed = sum(sizes.values()), []
    # Too little free space lowers the budget: mirrors can be fetched again, and the store's data cannot.
    budget = min(budget, total - max(0, free - free_bytes(root)))
    for folder in folders:
        if total <= budget:
            break
        if not in_use(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
            total -= sizes[folder]
            removed.append(folder.name)
    return removed


def unused(root: Path, before: float, *, known: Callable[[str], bool], in_use: Callable[[str], bool]) -> list[str]:
    """Remove folders that were not used since a time or are not ``known``, unless in use; returns their names."""
    removed = []
    for folder in [folder for folder in root.iterdir() if folder.is_dir()]:
        if not in_use(folder.name) and (folder.stat().st_mtime < before or not known(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder.name)
    return removed


def delete_temporary_files(mirror: Path) -> None:
    """Delete the temporary files of a killed git process; no other process works in a mirror."""
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/pack/*.lock", "objects/*/tmp_obj_*"):
        for left in mirror.glob(pattern):
            left.unlink(missing_ok=True)
