"""Build the outside sources from the operator's configuration, for runs, checks and single questions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bot.errors import BotError, MissingPermissionError
from bot.runs.logs import LogReader
from bot.settings.operator import OperatorConfig, ToolConfig
from nodes.brains.calls.budget import Pace
from nodes.context.brain import OpenPull
from nodes.context.ports import ExternalSources
from nodes.evidence import Evidence, EvidenceKind
from nodes.sources import FALLBACK, Inquiry, SourceError, route
from nodes.sources.connection import Server
from nodes.sources.mcp_tool import McpTool
from nodes.sources.web import NAME, FindIssues, GitHubIssues, SearchProvider, SearxNG, Tavily, WebSearch

if TYPE_CHECKING:
    from bot.github.repository import RepositoryClient

"""GitHub's issue search, bound to a token; raises BotError."""
_RESULTS = 5
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
        self.tools = {name: McpTool(_server(name, tool)) for name, tool in config.tools.items()}
        """MCP tools by name, including one called ``web_search`` if configured."""
        self.logs = LogReader(config.logs, server_url)
        """Reads logs that are attached to issues."""
        self._providers = _providers(config)
        self._issue_turn = Pace(SEARCHES_A_MINUTE).wait if config.web.github_issues else None

    def outside(self, find_issues: FindIssues | None = None) -> ExternalSources:
        """Return the sources of one run; without ``find_issues`` the GitHub issues provider is left out."""
        # The tool with this name answers for the web search, so it is not offered a second time.
        own = {name: tool for name, tool in self.tools.items() if name != NAME}
        return ExternalSources(self.web(find_issues), own)

    def web(self, find_issues: FindIssues | None = None) -> WebSearch | None:
        """Return the web search; None if no provider is configured."""
        providers = list(self._providers)
        if self._issue_turn is not None and find_issues is not None:
            providers.insert(0, GitHubIssues(_as_source(find_issues), self._issue_turn))
        tool = self.tools.get(NAME)
        return WebSearch(providers, tool, self._config.web.keywords) if providers or tool else None

    async def check(self) -> list[SourceCheck]:
        """Check that each configured tool and provider is reachable, has the tool and accepts a query."""
        return list(await asyncio.gather(*map(_checked, (*self.tools.values(), *self._providers))))

    async def answer(self, question: str, find_issues: FindIssues | None = None) -> RoutedAnswer:
        """Query the sources whose keywords are in a question; a harmful one receives the fixed sentence."""
        outside = self.outside(find_issues)
        sources = {**outside.tools, **({NAME: outside.web} if outside.web else {})}
        routed = route(question, [source.info for source in sources.values()])
        if routed is None:
            return RoutedAnswer("fallback", message=FALLBACK)
        if not routed:
            return RoutedAnswer("direct")
        queries = [sources[name].ask(Inquiry(question), _RESULTS) for name in routed]
        # One failed source must not discard the answers of the others.
        answers = await asyncio.gather(*queries, return_exceptions=True)
        found: list[Evidence] = []
        faults: list[str] = []
        for name, answer in zip(routed, answers, strict=True):
            if isinstance(answer, SourceError):
                faults.append(f"{name}: {answer}")
            elif isinstance(answer, BaseException):
                # A bug, which must not look like a source that failed.
                raise answer
            else:
                found += answer.evidence
                faults += [answer.message] if answer.message else []
        return RoutedAnswer("sources", routed, tuple(found), "; ".join(faults))


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """The result of checking one source."""

    name: str
    ok: bool
    says: str


@dataclass(frozen=True, slots=True)
class RoutedAnswer:
    """The result of a question: answered by sources, routed to the repository, or refused."""

    route: str
    """``sources``, ``direct`` (no source fits: search the repository) or ``fallback``."""
    sources: tuple[str, ...] = ()
    found: tuple[Evidence, ...] = ()
    message: str = ""
    """The fixed sentence of the fallback; otherwise the sources that failed, with the reasons."""


def _as_source(find: FindIssues) -> FindIssues:
    """Adapt the GitHub client's search to a source; its errors become SourceError."""

    async def search(query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        try:
            return await find(query, limit)
        except BotError as error:
            raise SourceError(str(error)[:200]) from error

    return search


def _server(name: str, tool: ToolConfig) -> Server:
    return Server(
        name=name,
        kind=_KINDS.get(name, "document"),
        description=tool.description,
        keywords=tool.keywords,
        url=tool.url or "",
        headers=tool.headers,
        command=tool.command or (),
        env=tool.env,
        tool=tool.tool,
        arguments=tool.arguments,
    )


def _providers(config: OperatorConfig) -> tuple[SearchProvider, ...]:
    found: list[SearchProvider] = []
    if (searxng := config.web.searxng) is not None:
        found.append(SearxNG(searxng.url, Pace(SEARCHES_A_MINUTE).wait))
    if (tavily := config.web.tavily) is not None:
        found.append(Tavily(tavily.api_key, Pace(SEARCHES_A_MINUTE).wait))
    return tuple(found)


async def _checked(source: McpTool | SearchProvider) -> SourceCheck:
    try:
        if isinstance(source, McpTool):
            return SourceCheck(source.info.name, ok=True, says=await source.check())
        results = await source.search(Inquiry("software bug"), 1)
        return SourceCheck(source.name, ok=True, says=f"answers ({len(results)} results to a test question)")
    except SourceError as error:
        name = source.info.name if isinstance(source, McpTool) else source.name
        return SourceCheck(name, ok=False, says=str(error))


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
