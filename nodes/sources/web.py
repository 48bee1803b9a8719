"""The web search: queries all providers in parallel and joins their results; a failure only costs its own results."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

from nodes.evidence import Evidence
from nodes.sources import Found, Inquiry, SourceError, SourcePort
from nodes.sources.providers import SearchProvider
from nodes.sources.results import as_evidence, is_public

NAME = "web_search"


class WebSearch:
    """Queries the providers, and an MCP tool of the same name if one is configured."""

    def __init__(
        self, providers: Sequence[SearchProvider], tool: SourcePort | None = None, keywords: Sequence[str] = ()
    ) -> None:
        self._providers = tuple(providers)
        self._tool = tool
        self._keywords = tuple(keywords)

    @property
    def name(self) -> str:
        """The name of the node."""
        return NAME

    @property
    def description(self) -> str:
        """The operator's description, if there is one."""
        return self._tool.description if self._tool else ""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Words in an issue that make rules search the web."""
        return (*self._keywords, *(self._tool.keywords if self._tool else ()))

    async def ask(self, inquiry: Inquiry, limit: int) -> Found:
        """Return the providers' results in turns, best first, each with a public address or an ``mcp:`` locator.

        Raises:
            SourceError: no provider answered.
        """
        asked = [self._of_provider(provider, inquiry, limit) for provider in self._providers]
        if self._tool is not None:
            asked.append(self._of_tool(self._tool, inquiry, limit))
        answers = await asyncio.gather(*asked)
        message = "; ".join(answer.message for answer in answers if answer.message)
        if answers and all(answer.message for answer in answers):
            raise SourceError(message)
        return Found(_in_turns([answer.evidence for answer in answers])[:limit], message)

    async def _of_provider(self, provider: SearchProvider, inquiry: Inquiry, limit: int) -> Found:
        try:
            results = await provider.search(inquiry, limit)
        except SourceError as error:
            return Found(message=f"{provider.name}: {error}")
        named = [result for result in results if is_public(result.url)]
        return Found(as_evidence(named, "web", provider.name, limit))

    async def _of_tool(self, tool: SourcePort, inquiry: Inquiry, limit: int) -> Found:
        try:
            return await tool.ask(inquiry, limit)
        except SourceError as error:
            return Found(message=f"{tool.name}: {error}")


def _in_turns(found: Sequence[Sequence[Evidence]]) -> tuple[Evidence, ...]:
    """Return the best of each, then the second of each, and so on; a page that several found appears once."""
    pages: dict[str, Evidence] = {}
    for row in itertools.zip_longest(*found):
        for item in row:
            if item is not None:
                pages.setdefault(item.locator.url or item.key, item)
    return tuple(pages.values())
