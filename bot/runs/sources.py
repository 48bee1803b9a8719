"""Build the outside sources from the operator's configuration."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.errors import BotError, MissingPermissionError
from bot.runs.logs import LogReader
from bot.settings.operator import OperatorConfig
from nodes.brains.calls.budget import Pace
from nodes.context.brain import OpenPull
from nodes.context.ports import ExternalSources
from nodes.evidence import EvidenceKind
from nodes.sources.connection import Server
from nodes.sources.mcp_tool import McpTool
from nodes.sources.protocol import Inquiry, SourceError
from nodes.sources.web import NAME, FindIssues, GitHubIssues, SearchProvider, SearxNGSource, TavilySource, WebSearch

if TYPE_CHECKING:
    from bot.github.repository import RepositoryClient

SEARCHES_A_MINUTE = 25.0
"""Searches of one provider; GitHub allows 30."""
_KINDS: dict[str, EvidenceKind] = {"database_query": "database", "web_search": "web"}
"""The kind of a tool's results, by its name; those of others are documents."""
_LOGGED = set[str]()
"""Installations without the permission for pull requests: the default, so this process logs it once for each."""
logger = logging.getLogger(__name__)
LISTED, READ = 50, 8
"""Number of open pull requests that are listed, and of those whose files are read; each costs a request."""


class Sources:
    """The outside sources of this process; all its runs share the tools and their rate limiters."""

    def __init__(self, config: OperatorConfig, server_url: str = "https://github.com") -> None:
        """Create the sources without connecting; a source connects at its first query."""
        self._config = config
        self.tools = {
            name: McpTool(Server(name=name, kind=_KINDS.get(name, "document"), **tool.model_dump(exclude_none=True)))
            for name, tool in config.tools.items()
        }
        """MCP tools by name, including one called ``web_search`` if configured."""
        self.logs = LogReader(config.logs, server_url)
        """Reads logs that are attached to issues."""
        searxng, tavily = config.web.searxng, config.web.tavily
        self._providers: list[SearchProvider] = []
        if searxng is not None:
            self._providers.append(SearxNGSource(searxng.url, Pace(SEARCHES_A_MINUTE).wait))
        if tavily is not None:
            self._providers.append(TavilySource(tavily.api_key, Pace(SEARCHES_A_MINUTE).wait))
        self._issue_turn = Pace(SEARCHES_A_MINUTE).wait if config.web.github_issues else None

    def outside(self, find_issues: FindIssues | None = None) -> ExternalSources:
        """Return the sources of one run; without ``find_issues`` the GitHub issues provider is left out."""
        # The tool with this name answers for the web search, so it is not offered a second time.
        own = {name: tool for name, tool in self.tools.items() if name != NAME}
        providers = self._providers
        if self._issue_turn is not None and find_issues is not None:
            providers = [GitHubIssues(_as_source(find_issues), self._issue_turn), *providers]
        tool = self.tools.get(NAME)
        web = WebSearch(providers, tool, self._config.web.keywords) if providers or tool else None
        return ExternalSources(web, own)

    async def check(self) -> list[tuple[bool, str, str]]:
        """Return whether each configured tool and provider is reachable and answers; its name; and what is wrong."""
        return list(await asyncio.gather(*map(_checked, (*self.tools.values(), *self._providers))))


def _as_source(find: FindIssues) -> FindIssues:
    """Adapt the GitHub client's search to a source; its errors become SourceError."""

    async def search(query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        try:
            return await find(query, limit)
        except BotError as error:
            raise SourceError(str(error)[:200]) from error

    return search


async def _checked(source: McpTool | SearchProvider) -> tuple[bool, str, str]:
    name = source.info.name if isinstance(source, McpTool) else source.name
    try:
        if isinstance(source, McpTool):
            return True, name, await source.check()
        results = await source.search(Inquiry("software bug"), 1)
    except SourceError as error:
        return False, name, str(error)
    return True, name, f"answers ({len(results)} results to a test question)"


@dataclass(frozen=True, slots=True)
class OpenPulls:
    """Reads the most recently changed open pull requests of one repository."""

    github: RepositoryClient
    installation: str = ""
    """The installation, of which a missing permission is logged once."""

    async def __call__(self, paths: Sequence[str]) -> tuple[OpenPull, ...]:
        """Return open pull requests, the first ones with their files if paths are wanted; none if GitHub refuses."""
        try:
            listed = await self.github.open_pulls(LISTED)
            files = [await self.github.pull_files(pull.number) for pull in listed[: READ if paths else 0]]
        # The permission is optional, and a report is complete without them; `triage doctor` explains what it adds.
        except BotError as error:
            if self.installation not in _LOGGED or not isinstance(error, MissingPermissionError):
                logger.info("pull requests not read: %s", error, extra={"action": "pulls.unread"})
            if isinstance(error, MissingPermissionError):
                _LOGGED.add(self.installation)
            return ()
        read = [replace(one, paths=names) for one, names in zip(listed, files, strict=False)]
        return (*read, *listed[len(read) :])
