"""Reads the system's certificates once per process: no test uses TLS, and otherwise every client would read them."""

from __future__ import annotations

import functools
import ssl

import certifi


def read_once() -> None:
    """Share contexts of TLS among the clients of this process and of those that it forks."""
    ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]
    ssl.create_default_context()  # as the GitHub client asks
    ssl.create_default_context(cafile=certifi.where())  # as httpx asks
