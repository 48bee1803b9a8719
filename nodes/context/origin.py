"""The issue of a run as commits and pull requests refer to it, and the open pull requests of its repository."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class IssueOrigin:
    """The issue of a run, as commits and pull requests refer to it."""

    number: int
    project: str
    """owner/name."""
    opened: int
    """Seconds since 1970."""
    reopened: bool = False
    """Whether a person reopened the issue; then a commit whose message says that it fixes the issue did not suffice."""

    @classmethod
    def of(cls, number: int, project: str, created_at: str, *, reopened: bool) -> IssueOrigin | None:
        """Return the origin of an issue; None if GitHub's timestamp of its creation cannot be read."""
        try:
            opened = int(datetime.fromisoformat(created_at).timestamp())
        except ValueError:
            return None
        return cls(number, project, opened, reopened)


@dataclass(frozen=True, slots=True)
class OpenPull:
    """An open pull request."""

    number: int
    title: str
    body: str
    paths: tuple[str, ...] = ()
    """The files that it changes, if they were read."""


PullReader = Callable[[Sequence[str]], Awaitable[tuple[OpenPull, ...]]]
"""Reads the open pull requests, with files if paths are given; none if GitHub refuses them."""
