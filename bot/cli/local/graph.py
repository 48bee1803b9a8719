"""``triage graph``: print the compiled graph as a diagram."""

from __future__ import annotations

import click


@click.command("graph")
def command() -> None:
    """Print the compiled graph as Mermaid, for a viewer that renders it, such as a GitHub comment."""
    from nodes.graph import build_graph

    drawn = build_graph().get_graph().draw_mermaid()
    # LangGraph derives the edges of a deferred node from its own trial run; such an edge is not part of the graph.
    left_out = ("__error_handler__", "supervisor -.-> join")
    click.echo("\n".join(line for line in drawn.splitlines() if not any(part in line for part in left_out)))
