"""Reads the system's certificates once per process: no test uses TLS, and otherwise every client reads them anew."""

from __future__ import annotations

import functools
import ssl

import certifi


def read_once() -> None:
    """Share contexts of TLS among the clients of this process and of those that it forks."""
    ssl.create_default_context = functools.cache(ssl.create_default_context)
    for given in ({}, {"cafile": certifi.where()}):  # as the GitHub client asks, and as httpx does
        ssl.create_default_context(**given)
