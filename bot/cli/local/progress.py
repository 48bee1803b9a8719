"""Show progress on standard error: a rewritten line on a terminal; in a pipe only with ``verbose``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

_WIDTH = 78
_EVERY = 0.1
"""Seconds between two rewrites."""


class Progress:
    """One line of progress, shown during the work."""

    def __init__(self, *, verbose: bool = False) -> None:
        self._verbose = verbose
        self._enabled = sys.stderr.isatty() and not verbose
        self._shown = 0.0
        self._dirty = False

    def phase(self, name: str, done: int, total: int) -> None:
        """Show the engine's progress."""
        now = time.monotonic()
        if now - self._shown >= _EVERY or done == total:
            self._shown = now
            self._write(f"{name} {done}/{total}" if total else name)

    def node(self, node: str, message: str) -> None:
        """Show the graph's progress."""
        if self._verbose:
            sys.stderr.write(f"{node}: {message}\n")
        self._write(f"{node}: {message}")

    def clear(self) -> None:
        """Erase the line, so that later output starts on a clean one."""
        if self._dirty:
            sys.stderr.write("\r" + " " * _WIDTH + "\r")
            sys.stderr.flush()
            self._dirty = False

    def _write(self, text: str) -> None:
        if self._enabled:
            sys.stderr.write("\r" + text[:_WIDTH].ljust(_WIDTH))
            sys.stderr.flush()
            self._dirty = True


@contextmanager
def resumable(progress: Progress) -> Iterator[Progress]:
    """Erase the progress after some work; after Ctrl-C, say that the command resumes, and exit."""
    try:
        yield progress
    except KeyboardInterrupt:
        progress.clear()
        click.echo("stopped; the same command continues from here", err=True)
        sys.exit(130)
    finally:
        progress.clear()
