"""Convert an MCP tool's answer to results: structured content, text, JSON in text, links and embedded files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nodes.sources import SourceError
from nodes.sources.results import Result, clean, results_in

if TYPE_CHECKING:
    import mcp_types


def results_of(answer: mcp_types.CallToolResult) -> list[Result]:
    """Return the results in an answer, in the tool's order.

    Raises:
        SourceError: the tool reports a failure.
    """
    texts = [content.text for content in answer.content if content.type == "text"]
    if answer.is_error:
        raise SourceError(f"the tool failed: {clean(' '.join(texts))[:200] or 'it does not say why'}")
    if answer.structured_content:
        return results_in(answer.structured_content)
    links = [
        Result(content.description or content.name, title=content.title or content.name, url=str(content.uri))
        for content in answer.content
        if content.type == "resource_link"
    ]
    inside = [
        Result(content.resource.text, url=str(content.resource.uri))
        for content in answer.content
        if content.type == "resource" and hasattr(content.resource, "text")
    ]
    return [*(result for text in texts for result in _decoded(text)), *links, *inside]


def _decoded(text: str) -> list[Result]:
    """Decode a text that may contain JSON, as many servers send it."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [Result(text)]
    return results_in(value) if isinstance(value, dict | list) else [Result(text)]
