"""Put the run's questions to whoever sits at the terminal."""

from __future__ import annotations

import asyncio
import sys

import click

from bot.cli.progress import Progress
from nodes.state import Answer, HumanExchange

MAX_ANSWER = 2_000


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
        said = await asyncio.to_thread(sys.stdin.readline)
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
    if said.isdigit() and 1 <= int(said) <= len(exchange.options):
        return exchange.options[int(said) - 1]
    return said
