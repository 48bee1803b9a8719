"""``triage mcp``: serve the engine to coding agents."""

from __future__ import annotations

from pathlib import Path

import click

from bot.errors import UserError


@click.command("mcp")
@click.option(
    "--repo",
    "repositories",
    metavar="[NAME=]PATH",
    multiple=True,
    default=(".",),
    show_default="the current folder",
    help="A git repository; its name is that of its folder unless given. May be repeated.",
)
@click.option("--issues", type=click.Path(), help="Earlier issues, to find duplicates: as in `triage run --issues`.")
@click.option("--http", "port", type=click.IntRange(1, 65_535), help="Serve http://127.0.0.1:PORT/mcp, not stdio.")
def command(*, repositories: tuple[str, ...], issues: str | None, port: int | None) -> None:
    """Serve the engine to coding agents over MCP: read-only, on the repositories named here and no others.

    \b
    triage mcp --repo ~/src/app
    triage mcp --repo app=~/src/app --repo lib=~/src/lib --http 8765

    The tools are triage_issue, locate, facts, suspect_changes, who_knows, brief and, with --issues, duplicates.
    docs/mcp.md says how to add the server to an agent. It needs the extra `tools`.
    """
    from bot.cli.mcp_tools import RepositoryTools, build_server
    from bot.release import released

    try:
        server = build_server(RepositoryTools(_named(repositories), issues), released())
    except ImportError as error:
        raise UserError("the package mcp is missing: install the extra `tools`") from error
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)


def _named(repositories: tuple[str, ...]) -> dict[str, str]:
    """Return the path of each repository by its name.

    Raises:
        UserError: a folder does not exist, or two have one name.
    """
    found: dict[str, str] = {}
    for given in repositories:
        name, _, path = given.rpartition("=")
        folder = Path(path).expanduser().resolve()
        name = name or folder.name
        if not folder.is_dir():
            raise UserError(f"--repo {given}: there is no such folder")
        if name in found:
            raise UserError(f"--repo {given}: {name} names two repositories; write NAME=PATH")
        found[name] = str(folder)
    return found
