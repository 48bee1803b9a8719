"""Put the run's questions to whoever sits at the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading

import click

from bot.cli.progress import Progress
from nodes.state import Answer, HumanExchange

MAX_ANSWER = 1_000


class Questions:
    """Asks on standard error, so that standard output holds the report alone."""

    def __init__(self, progress: Progress, *, interactive: bool) -> None:
        self._progress = progress
        self._interactive = interactive
        self._asked = 0

    async def ask(self, exchange: HumanExchange) -> Answer:
        """One answer; without a person, or without an answer, the question is withdrawn and stays in the report."""
        if not self._interactive:
            return Answer()
        self._progress.clear()
        self._asked += 1
        self._show(exchange)
        try:
            said = await _line()
        except asyncio.CancelledError:
            click.echo(err=True)  # what is said next starts on a line of its own
            raise
        text = _chosen(said.strip(), exchange)
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


def _chosen(said: str, exchange: HumanExchange) -> str:
    if said.isdecimal() and 1 <= int(said) <= len(exchange.options):
        return exchange.options[int(said) - 1]
    return said


async def _line() -> str:
    """One line of standard input, waited for in a thread that nothing waits for: Ctrl-C must not need an Enter."""
    loop = asyncio.get_running_loop()
    line: asyncio.Future[bytes] = loop.create_future()

    def settle(said: bytes) -> None:
        if not line.done():
            line.set_result(said)

    def read() -> None:
        said = _read_line(sys.stdin.fileno())
        with contextlib.suppress(RuntimeError):  # the run was stopped and its loop is closed
            loop.call_soon_threadsafe(settle, said)

    threading.Thread(target=read, daemon=True).start()
    return (await line).decode(errors="replace")


def _read_line(descriptor: int) -> bytes:
    """Byte by byte and past Python's buffer, whose lock a thread that still waits would hold while Python ends."""
    line = bytearray()
    while (byte := os.read(descriptor, 1)) and byte != b"\n":
        line += byte
    return bytes(line)
