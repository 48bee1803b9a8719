"""Ask the questions of a run on the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading

import click

from bot.cli.local.repository import Progress
from nodes.state import Answer, HumanExchange

MAX_ANSWER = 1_000
"""Characters of an answer; the rest is cut off."""


class Questions:
    """Ask on standard error, so that standard output contains only the report."""

    def __init__(self, progress: Progress, *, interactive: bool) -> None:
        self._progress = progress
        self._interactive = interactive
        self._asked = 0

    async def ask(self, exchange: HumanExchange) -> Answer:
        """Return one answer; if not interactive or not answered, the question is withdrawn and stays in the report."""
        if not self._interactive:
            return Answer()
        self._progress.clear()
        self._asked += 1
        self._show(exchange)
        try:
            typed = await _line()
        except asyncio.CancelledError:
            click.echo(err=True)  # end the prompt's line before any later output
            raise
        text = _chosen(typed.strip(), exchange)
        return Answer(text=text[:MAX_ANSWER] or None, answered_by="you" if text else None)

    def _show(self, exchange: HumanExchange) -> None:
        click.secho(f"\nQuestion {self._asked}: {exchange.question}", bold=True, err=True)
        if exchange.context:
            click.echo(f"  {exchange.context}", err=True)
        if exchange.reason:
            click.echo(f"  Why: {exchange.reason}", err=True)
        for number, option in enumerate(exchange.options, 1):
            click.echo(f"  {number}) {option}", err=True)
        click.echo("Answer (a number, your own words, or Enter to skip): ", nl=False, err=True)


def _chosen(typed: str, exchange: HumanExchange) -> str:
    if typed.isdecimal() and 1 <= int(typed) <= len(exchange.options):
        return exchange.options[int(typed) - 1]
    return typed


async def _line() -> str:
    """Read a line of standard input in a daemon thread, which is never joined, so that Ctrl-C works without Enter."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def settle(typed: bytes) -> None:
        if not line.done():
            line.set_result(typed)

    def read() -> None:
        typed = _read_line(sys.stdin.fileno())
        with contextlib.suppress(RuntimeError):  # the run was stopped, and its event loop is closed
            loop.call_soon_threadsafe(settle, typed)

    threading.Thread(target=read, daemon=True).start()
    return (await line).decode(errors="replace")


def _read_line(descriptor: int) -> bytes:
    """Read a line byte by byte without Python's buffer: a waiting thread would hold its lock while Python exits."""
    line = bytearray()
    while (byte := os.read(descriptor, 1)) and byte != b"\n":
        line += byte
    return bytes(line)
