"""Cut a conversation to a model's window, so that the server does not cut it at an unknown place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from nodes.brains.calls.tokens import estimate
from nodes.brains.fence import squeeze

Role = TypeVar("Role", bound=str)
SMALLEST = 700
"""Tokens for a prompt below which no useful question fits."""
_FENCE = re.compile(r"^<<<DATA \S{1,40} ([0-9a-f]{16})$")
_PER_MESSAGE = 5


def counted(messages: Sequence[tuple[str, str]]) -> int:
    """Estimate the tokens of a conversation."""
    return sum(_PER_MESSAGE + estimate(text) for _, text in messages)


def fit_window(messages: Sequence[tuple[Role, str]], tokens: int) -> list[tuple[Role, str]]:
    """Return the conversation with its longest fenced texts shortened until the estimate is at most ``tokens``.

    Only text between fence markers is shortened: the markers stay whole, so no data leaves its fence. The rules are
    outside the fences and stay whole; if they alone are too long, the result is longer than requested.
    """
    fitted = list(messages)
    # A bound for the time: a dozen cuts suffice for the few fenced texts of a prompt.
    for _ in range(12):
        excess = counted(fitted) - tokens
        if excess <= 0:
            break
        longest = max(_fenced(fitted), default=None)
        if longest is None or longest[0] < 40:
            break
        size, at, first, last = longest
        role, text = fitted[at]
        lines = text.split("\n")
        # At most half of a text at a time, so that several long texts are shortened evenly.
        inside = squeeze("\n".join(lines[first:last]), max(20, size - min(excess, size // 2)))
        fitted[at] = (role, "\n".join([*lines[:first], inside, *lines[last:]]))
    return fitted


def _fenced(messages: Sequence[tuple[str, str]]) -> list[tuple[int, int, int, int]]:
    """Return each fenced text: its tokens, its message, its first line, and the line of its closing marker."""
    found = []
    for at, (_, text) in enumerate(messages):
        lines, first, token = text.split("\n"), 0, ""
        for number, line in enumerate(lines):
            opening = None if token else _FENCE.match(line)
            if opening:
                first, token = number + 1, opening[1]
            elif token and line == f"DATA {token}>>>":
                found.append((estimate("\n".join(lines[first:number])), at, first, number))
                token = ""
    return found
