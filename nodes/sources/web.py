"""The web search: queries all providers in parallel and joins their results; one that fails adds none."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nodes.evidence import Evidence
from nodes.sources.meter import fetch_json
from nodes.sources.protocol import Dependency, Inquiry, SourceAnswer, SourceError, SourceInfo, SourcePort
from nodes.sources.results import Received, as_evidence, is_public

_QUERY = 200
"""Characters of a query; GitHub accepts 256 including the qualifiers."""
_OPERATORS = frozenset('"\\:()[]{}<>*?~^|&!')
NAME = "web_search"
Turn = Callable[[], Awaitable[None]]
"""Returns when a query may be sent."""
FindIssues = Callable[[str, int], Awaitable[Sequence[Mapping[str, Any]]]]
"""Searches issues on GitHub, with any available token: at most so many, as its API describes them, best first."""


@dataclass(frozen=True, slots=True)
class SearxNGSource:
    """A SearXNG instance (https://docs.searxng.org/dev/search_api.html)."""

    url: str
    turn: Turn
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 10.0
    max_bytes: int = 1_000_000
    name: str = "searxng"

    async def search(self, inquiry: Inquiry, limit: int) -> Sequence[Received]:
        """Return the results of the instance's engines, best first."""
        await self.turn()
        response = await fetch_json(
            "GET",
            f"{self.url}/search",
            params={"q": _query(inquiry), "format": "json", "safesearch": "1"},
            headers=self.headers,
            timeout=self.timeout,
            max_bytes=self.max_bytes,
        )
        return _results(response, limit)


@dataclass(frozen=True, slots=True)
class TavilySource:
    """Tavily's search (https://docs.tavily.com/documentation/api-reference/endpoint/search)."""

    # Not part of the repr, so that the key does not appear in logs.
    api_key: str = field(repr=False)
    turn: Turn
    url: str = "https://api.tavily.com"
    name: str = "tavily"

    async def search(self, inquiry: Inquiry, limit: int) -> Sequence[Received]:
        """Return Tavily's results."""
        await self.turn()
        response = await fetch_json(
            "POST",
            f"{self.url}/search",
            body={"query": _query(inquiry), "max_results": limit, "search_depth": "basic"},
            headers={"Authorization": f"Bearer {self.api_key}"},
            timeout=15.0,
            max_bytes=1_000_000,
        )
        return _results(response, limit)


@dataclass(frozen=True, slots=True)
class GitHubIssues:
    """Searches issues about the dependency that raised the error; without a dependency, it sends no query."""

    find: FindIssues
    turn: Turn
    name: str = "github_issues"

    async def search(self, inquiry: Inquiry, limit: int) -> Sequence[Received]:
        """Search the dependency's repository, or all of GitHub for its name if its own is unknown."""
        if inquiry.dependency is None:
            return []
        await self.turn()
        found = await self.find(build_issue_query(inquiry.text, inquiry.dependency), limit)
        return [_result(item, "body", url="html_url") for item in found[:limit]]


SearchProvider = SearxNGSource | TavilySource | GitHubIssues


class WebSearch:
    """Queries the providers, and an MCP tool of the same name if one is configured."""

    def __init__(
        self, providers: Sequence[SearchProvider], tool: SourcePort | None = None, keywords: Sequence[str] = ()
    ) -> None:
        self._providers = tuple(providers)
        self._tool = tool
        own = tool.info if tool is not None else SourceInfo(NAME)
        self.info = SourceInfo(NAME, own.description, (*keywords, *own.keywords))

    async def ask(self, inquiry: Inquiry, limit: int) -> SourceAnswer:
        """Return the providers' results in turns, best first, each with a public address or an ``mcp:`` locator."""
        asked = [_answer(provider, provider.name, inquiry, limit) for provider in self._providers]
        asked += [_answer(self._tool, self._tool.info.name, inquiry, limit)] if self._tool is not None else []
        answers = await asyncio.gather(*asked)
        message = "; ".join(response.message for response in answers if response.message)
        if answers and all(response.message for response in answers):
            raise SourceError(message)
        return SourceAnswer(_in_turns([response.evidence for response in answers])[:limit], message)


async def _answer(source: SearchProvider | SourcePort, name: str, inquiry: Inquiry, limit: int) -> SourceAnswer:
    try:
        if not isinstance(source, SearchProvider):
            return await source.ask(inquiry, limit)
        results = [result for result in await source.search(inquiry, limit) if is_public(result.url)]
        return SourceAnswer(as_evidence(results, "web", name, limit))
    except SourceError as error:
        return SourceAnswer(message=f"{name}: {error}")


def build_issue_query(text: str, dependency: Dependency) -> str:
    """Build a query for GitHub's search; the error's words are never interpreted as qualifiers."""
    if dependency.repository:
        return f"{words(text)[:_QUERY]} repo:{dependency.repository} is:issue"
    return f"{words(text)[: _QUERY - 60]} {words(dependency.name)[:60]} is:issue"


def words(text: str) -> str:
    """Reduce a text to plain words. Search operators are removed, because they could change the query's meaning."""
    plain = "".join(" " if c in _OPERATORS else c for c in text)
    stripped = [word.lstrip("-+@/#.,;'`") for word in plain.split()]
    return " ".join(word for word in stripped if word and word not in ("AND", "OR", "NOT"))[:_QUERY].strip()


def _query(inquiry: Inquiry) -> str:
    return words(f"{inquiry.dependency.name} {inquiry.text}" if inquiry.dependency else inquiry.text)


def _results(response: Any, limit: int) -> list[Received]:
    found = response.get("results") if isinstance(response, Mapping) else None
    if not isinstance(found, list):
        raise SourceError("its answer has no list of results")
    return [_result(item, "content") for item in found[:limit]]


def _result(item: Any, text: str, url: str = "url") -> Received:
    given = [item.get(name) if isinstance(item, Mapping) else "" for name in ("title", text, url)]
    title, body, address = (part if isinstance(part, str) else "" for part in given)
    return Received(body or title, title=title, url=address)


def _in_turns(found: Sequence[Sequence[Evidence]]) -> tuple[Evidence, ...]:
    """Return the best of each, then the second of each, and so on; a page that several found appears once."""
    pages: dict[str, Evidence] = {}
    for item in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*found))):
        pages.setdefault(item.locator.url or item.key, item)
    return tuple(pages.values())
