"""``triage graph``: the compiled graph as a drawing."""

from __future__ import annotations

import click


@click.command("graph")
def command() -> None:
    """Print the compiled graph as Mermaid: paste it where Mermaid is drawn, a GitHub comment for instance."""
    from nodes.graph import build_graph  # noqa: PLC0415  takes a second

    drawn = build_graph().get_graph().draw_mermaid()
    # LangGraph draws an edge to a deferred node from wherever its own trial run came from.
    left_out = ("__error_handler__", "supervisor -.-> join")
    click.echo("\n".join(line for line in drawn.splitlines() if not any(part in line for part in left_out)))
