"""The operator's configuration becomes things to ask; what may be asked in a run, a check, or one by one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.errors import BotError
from bot.operator_config import OperatorConfig
from bot.operator_config.model import ToolConfig
from nodes.brains.pace import Pace
from nodes.context import Outside, Patience
from nodes.evidence import Evidence
from nodes.sources import Inquiry, SourceError
from nodes.sources.connection import Server
from nodes.sources.harm import FALLBACK
from nodes.sources.mcp_tool import McpTool
from nodes.sources.providers import GitHubIssues, SearchProvider, SearxNG, Tavily
from nodes.sources.route import SourceInfo, route
from nodes.sources.web import NAME, WebSearch

FindIssues = Callable[[str, int], Awaitable[Sequence[Mapping[str, Any]]]]
"""GitHub's search of issues, with somebody's token; raises BotError."""
_RESULTS = 5


class Sources:
    """What this process may ask; tools and their pace are shared by all its runs."""

    def __init__(self, config: OperatorConfig) -> None:
        """Name everything; nothing is connected before it is asked."""
        self._config = config
        enabled = {name: tool for name, tool in config.tools.items() if tool.enabled}
        self.tools = {name: McpTool(_server(name, tool)) for name, tool in enabled.items()}
        """MCP tools by name, one called ``web_search`` among them."""
        self._providers = _providers(config)
        issues = config.web.github_issues
        self._issue_turn = Pace(issues.per_minute) if issues and issues.enabled else None

    def outside(self, find_issues: FindIssues | None = None) -> Outside:
        """What one run may ask; without a search of GitHub's issues that provider is left out."""
        own = {name: tool for name, tool in self.tools.items() if name != NAME}
        specialists = self._config.specialists
        patience = Patience(outside=specialists.timeout, code=specialists.code_timeout)
        return Outside(self.web(find_issues), own, patience)

    def web(self, find_issues: FindIssues | None = None) -> WebSearch | None:
        """The web search, or None where nothing is configured that could answer."""
        providers = list(self._providers)
        if self._issue_turn is not None and find_issues is not None:
            providers.insert(0, GitHubIssues(_Issues(find_issues), self._issue_turn))
        tool = self.tools.get(NAME)
        return WebSearch(providers, tool, self._config.web.keywords) if providers or tool else None

    async def check(self) -> list[SourceCheck]:
        """Whether each configured tool and provider can be reached, has the tool, and takes a question."""
        checks = [_tool_check(tool) for tool in self.tools.values()]
        checks += [_provider_check(provider) for provider in self._providers]
        return list(await asyncio.gather(*checks))

    async def answer(self, question: str, find_issues: FindIssues | None = None) -> Answered:
        """Put a question to the sources whose keywords it names; a harmful one gets the fixed sentence (seed 003)."""
        outside = self.outside(find_issues)
        sources = {**outside.tools, **({NAME: outside.web} if outside.web else {})}
        routed = route(question, map(SourceInfo.of, sources.values()))
        if routed.harmful:
            return Answered("fallback", said=FALLBACK)
        if not routed.sources:
            return Answered("direct")
        asked = [sources[name].ask(Inquiry(question), _RESULTS) for name in routed.sources]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        found: list[Evidence] = []
        faults: list[str] = []
        for name, answer in zip(routed.sources, answers, strict=True):
            if isinstance(answer, SourceError):
                faults.append(f"{name}: {answer}")
            elif isinstance(answer, BaseException):
                raise answer
            else:
                found += answer.evidence
                faults += [answer.said] if answer.said else []
        return Answered("sources", routed.sources, tuple(found), "; ".join(faults))


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """One source, and whether it works."""

    name: str
    ok: bool
    says: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a question: asked outside, meant for the repository itself, or not answered at all."""

    route: str
    """``sources``, ``direct`` (no source is for it: look into the repository) or ``fallback``."""
    sources: tuple[str, ...] = ()
    found: tuple[Evidence, ...] = ()
    said: str = ""
    """The fixed sentence of the fallback; else which sources gave nothing, and why."""


class _Issues:
    """The GitHub client as a source's search: its errors are answers that did not come."""

    def __init__(self, find: FindIssues) -> None:
        self._find = find

    async def search_issues(self, query: str, limit: int) -> Sequence[Mapping[str, Any]]:
        """Issues as GitHub's API describes them, best first."""
        try:
            return await self._find(query, limit)
        except BotError as error:
            raise SourceError(str(error)[:200]) from error


def _server(name: str, tool: ToolConfig) -> Server:
    return Server(
        name=name,
        kind=tool.kind_for(name),
        description=tool.description,
        keywords=tool.keywords,
        url=tool.url or "",
        headers=tool.headers,
        command=tool.command or (),
        env=tool.env,
        cwd=tool.cwd,
        tool=tool.tool,
        argument=tool.argument,
        arguments=tool.arguments,
        timeout=tool.timeout,
        max_bytes=tool.max_bytes,
    )


def _providers(config: OperatorConfig) -> tuple[SearchProvider, ...]:
    found: list[SearchProvider] = []
    if (searxng := config.web.searxng) is not None and searxng.enabled:
        turn = Pace(searxng.per_minute)
        found.append(SearxNG(searxng.url, turn, searxng.headers, searxng.timeout, searxng.max_bytes))
    if (tavily := config.web.tavily) is not None and tavily.enabled:
        turn = Pace(tavily.per_minute)
        found.append(Tavily(tavily.api_key, turn, tavily.url, tavily.timeout, tavily.max_bytes))
    return tuple(found)


async def _tool_check(tool: McpTool) -> SourceCheck:
    try:
        return SourceCheck(tool.name, ok=True, says=await tool.check())
    except SourceError as error:
        return SourceCheck(tool.name, ok=False, says=str(error))


async def _provider_check(provider: SearchProvider) -> SourceCheck:
    try:
        results = await provider.search(Inquiry("software bug"), 1)
    except SourceError as error:
        return SourceCheck(provider.name, ok=False, says=str(error))
    return SourceCheck(provider.name, ok=True, says=f"answers ({len(results)} results to a test question)")
