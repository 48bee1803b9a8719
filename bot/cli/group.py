"""The command line: commands with one subject share a module, which is imported only when one of them is called."""

import errno
import importlib
import sys
from typing import Any, NoReturn

import click

from bot.errors import RetryableError, UserError
from bot.observability.tracing_switch import keep_text_private

EXIT_CODES = """\b
Exit codes:
  0    done
  1    internal error
  2    invalid input: stderr states in one line what to fix
  130  interrupted with Ctrl-C; the same command continues from there
"""

COMMANDS = {
    "init": ("local.config", "Write .github/triage.yml from what the repository has, and try 20 fixes."),
    "run": ("local.run", "Triage one issue and print the report."),
    "locate": ("local.locate", "Rank the files and functions that an issue is about."),
    "ask": ("local.ask", "Answer questions about a repository."),
    "index": ("local.locate", "Index a commit in advance."),
    "backtest": ("backtest.command", "Measure triage on past fixes."),
    "classify": ("local.plain", "Classify the issues of a file, one per line."),
    "graph": ("local.plain", "Print the graph as Mermaid."),
    "serve": ("server.serve", "Run the GitHub App: receive deliveries, triage, comment."),
    "worker": ("server.serve", "Run jobs that servers stored; start as many workers as needed."),
    "app": ("server.serve", "Register the GitHub App."),
    "migrate": ("server.serve", "Create or update the tables in DATABASE_URL's database."),
    "backup": ("server.serve", "Copy the data directory while the server runs."),
    "action": ("server.action", "Triage the event of a GitHub Actions workflow."),
    "backfill": ("server.backfill", "Triage issues that were opened before the App was installed."),
    "export": ("server.stored", "Print all stored data of one repository."),
    "forget": ("server.stored", "Delete all stored data of one repository."),
    "stats": ("server.stored", "Compare the server's reports with the merged fixes."),
    "jobs": ("server.jobs", "List failed jobs, and retry them."),
    "replay": ("server.jobs", "Show which jobs a saved delivery leads to."),
    "schema": ("local.plain", "Print the JSON Schema of `run --format json`."),
    "mcp": ("local.mcp", "Serve the engine to coding agents over MCP."),
    "config": ("local.config", "Check a repository's .github/triage.yml."),
    "doctor": ("server.doctor", "Check the installation, and say how to fix what fails."),
    "completion": ("local.plain", "Print the script that completes commands in a shell."),
}
"""The module and the summary of each command, in the order in which a new user needs them."""
_BROKEN_DISK = (errno.EROFS, errno.EIO)


class LazyGroup(click.Group):
    """A group that imports a command only when it is called, so that ``--help`` starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """List the command names in the order in which a new user needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"bot.cli.{COMMANDS[cmd_name][0]}")
        commands = (value for value in vars(module).values() if isinstance(value, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(_nearest(args[0]) or error.message, ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; Ctrl-C ends it with 130, which click would end with 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("stopped", err=True)
            ctx.exit(130)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; print a UserError as one line and exit with 2."""
        # This must run before any command imports LangSmith's client.
        keep_text_private()
        try:
            return super().main(*args, **{**kwargs, "standalone_mode": True})
        except UserError as error:
            _fail(str(error))
        except (RetryableError, OSError) as error:
            if _is_full(error):
                _fail("the disk is full: free space, or set TRIAGE_DATA_DIR to another disk")
            if isinstance(error, OSError) and error.errno not in _BROKEN_DISK:
                raise
            _fail(f"{error}; it may work later, or with TRIAGE_DATA_DIR on another disk")


def _fail(message: str) -> NoReturn:
    click.echo(f"triage: {message}", err=True)
    sys.exit(2)


def _is_full(error: Exception) -> bool:
    return "disk is full" in str(error) or (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT))


def _nearest(name: str) -> str | None:
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, 1)
    return f"No such command '{name}'. Did you mean '{close[0]}'?" if close else None


@click.group(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tracehound", prog_name="triage")
def cli() -> None:
    """Triage bugs: where a bug most likely lives, why, and what a program checked.

    Works on a local git repository without a key, a network or a service.

    \b
    triage run --repo . --text "KeyError in parse() on empty input"
    triage run --repo ~/src/app --issue issue.md --format json
    triage locate --repo . --rev HEAD --issue - --top 5 < issue.md
    """
