"""``triage completion``: print the script for shell completion of commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(*, shell: str) -> None:
    """Print the shell completion script for `triage`.

    \b
    bash: triage completion bash > ~/.local/share/bash-completion/completions/triage
    zsh:  triage completion zsh > a file _triage in a folder of $fpath
    fish: triage completion fish > ~/.config/fish/completions/triage.fish
    """
    from bot.cli import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"unknown shell: {shell}")
    click.echo(kind(cli, {}, "triage", "_TRIAGE_COMPLETE").source())
