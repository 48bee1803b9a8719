"""Paths inside a repository, as people write them."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

LONGEST = 300


def path_inside(written: str) -> str | None:
    """Return a path below the root of a repository without a slash at its end; None if it is no such path."""
    path = written.strip().removeprefix("./").rstrip("/")
    parts = path.split("/")
    outside = not path or len(path) > LONGEST or "\\" in path or not path.isprintable()
    return None if outside or any(part in ("", ".", "..") for part in parts) else path


def is_below(path: str, folder: str) -> bool:
    """Return whether a file is the path or below it."""
    return path == folder or path.startswith(f"{folder}/")


def _checked(written: str) -> str:
    path = path_inside(written)
    if path is None:
        raise ValueError("must be the path of a folder or file of the repository, such as `src/parser`")
    return path


PathInside = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_checked)]
