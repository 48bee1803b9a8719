"""Web search: each provider with a server of its own, joined results, and faulty providers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.brains.calls.budget import Pace
from nodes.sources.protocol import Dependency, Inquiry, SourceError
from nodes.sources.web import GitHubIssues, SearxNGSource, TavilySource, Turn, WebSearch, build_issue_query, words
from tests.sources.bad_server import bad_http
from tests.sources.search_server import serve_search

ASKED = Inquiry("scan hangs: open quote")
LEXING = Dependency("lexing", "pypa/lexing")
PAGE = {"title": "Known", "url": "https://example.org/known", "content": "scan hangs on an open quote"}
INSIDE = {"title": "Inside", "url": "http://10.0.0.1/", "content": "scan hangs"}


def turn() -> Turn:
    return Pace(6_000).wait


async def test_searxng_gets_a_plain_query_and_returns_json() -> None:
    with serve_search(PAGE, INSIDE) as server:
        searxng = SearxNGSource(server.url, turn(), {"Authorization": "Bearer mine"})
        found = await WebSearch([searxng]).ask(Inquiry('scan "hangs" !bang (open) -quote', LEXING), 5)
    assert [(item.kind, item.locator.url) for item in found.evidence] == [("web", "https://example.org/known")]
    assert server.asked == [
        {
            "path": "/search",
            "q": "lexing scan hangs bang open quote",
            "format": "json",
            "safesearch": "1",
            "authorization": "Bearer mine",
        }
    ]


async def test_tavily_gets_its_key() -> None:
    with serve_search(PAGE) as server:
        found = await WebSearch([TavilySource("tvly-key", turn(), server.url)]).ask(ASKED, 3)
    assert [item.quote for item in found.evidence] == ["Known\nscan hangs on an open quote"]
    assert (server.asked[0]["authorization"], server.asked[0]["max_results"]) == ("Bearer tvly-key", 3)
    assert "tvly-key" not in repr(TavilySource("tvly-key", turn()))


class Issues:
    """GitHub's search with scripted results."""

    def __init__(self, *found: dict[str, Any]) -> None:
        self.found, self.asked = found, list[str]()

    async def search_issues(self, query: str, limit: int) -> Sequence[dict[str, Any]]:
        self.asked.append(query)
        return self.found[:limit]


async def test_the_dependency_s_issues_are_searched_and_nobody_else_s() -> None:
    url = "https://github.com/pypa/lexing/issues/7"
    issues = Issues({"title": "scan hangs", "body": "on an open quote", "html_url": url}, {"html_url": 3}, {})
    web = WebSearch([GitHubIssues(issues.search_issues, turn())])
    found = await web.ask(Inquiry("scan hangs repo:evil/evil is:pr", LEXING), 5)
    assert [item.locator.url for item in found.evidence] == [url]
    assert issues.asked == ["scan hangs repo evil/evil is pr repo:pypa/lexing is:issue"]
    assert (await web.ask(ASKED, 5)).evidence == ()
    assert len(issues.asked) == 1


@pytest.mark.parametrize(
    ("dependency", "query"),
    [
        (LEXING, "scan hangs open quote repo:pypa/lexing is:issue"),
        (Dependency("@babel/parser"), "scan hangs open quote babel/parser is:issue"),
    ],
)
def test_issue_queries(dependency: Dependency, query: str) -> None:
    assert build_issue_query(ASKED.text, dependency) == query


@given(text=st.text(max_size=600))
def test_queries_contain_only_words(text: str) -> None:
    query = build_issue_query(text, LEXING)
    plain = query.removesuffix(" repo:pypa/lexing is:issue")
    assert len(query) <= 256
    assert ":" not in plain
    assert not any(word.startswith("-") or word in ("OR", "AND", "NOT") for word in plain.split())
    assert len(words(text)) <= 200


async def test_shared_results_are_listed_once_and_the_best_of_each_provider_first() -> None:
    other = {**PAGE, "url": "https://example.org/other", "content": "scan hangs elsewhere"}
    with serve_search(PAGE, other) as one, serve_search(other, PAGE) as two:
        web = WebSearch([SearxNGSource(one.url, turn()), TavilySource("key", turn(), two.url)])
        found = await web.ask(ASKED, 5)
    assert [item.locator.url for item in found.evidence] == ["https://example.org/known", "https://example.org/other"]


async def test_a_failing_provider_only_loses_its_results() -> None:
    with serve_search(PAGE) as server, bad_http() as (bad, _):
        web = WebSearch([SearxNGSource(f"{bad}/refuses", turn()), TavilySource("key", turn(), server.url)])
        found = await web.ask(ASKED, 5)
    assert len(found.evidence) == 1
    assert found.message == "searxng: it answered 500"


@pytest.mark.tried("search and tool servers that fail, stall or lie")
@pytest.mark.parametrize(
    ("path", "seconds", "says"),
    [
        pytest.param("redirects", 30.0, "redirects are not followed", id="redirects"),
        pytest.param("garbage", 30.0, "not JSON", id="garbage"),
        pytest.param("secret", 30.0, "no list of results", id="no-results"),
        pytest.param("refuses", 30.0, "it answered 500", id="refuses"),
        pytest.param("packed", 30.0, "compressed response", id="packed"),
        pytest.param("endless", 30.0, "more than 100,000 bytes", id="endless"),
        pytest.param("silent", 0.5, "no answer within 0.5 s", id="silent"),
        pytest.param("drips", 0.5, "no answer within 0.5 s", id="drips"),
    ],
)
async def test_a_hostile_provider_only_loses_its_results(path: str, seconds: float, says: str) -> None:
    with bad_http() as (url, requests):
        provider = SearxNGSource(f"{url}/{path}", turn(), {"Authorization": "Bearer x"}, seconds, 100_000)
        with pytest.raises(SourceError, match=says):
            await WebSearch([provider]).ask(ASKED, 5)
    assert path == "secret" or not [line for line in requests if " /secret" in line]


async def test_an_absent_server_is_reported() -> None:
    with pytest.raises(SourceError, match="cannot be reached"):
        await WebSearch([SearxNGSource("http://127.0.0.1:1", turn())]).ask(ASKED, 5)
