"""What a model may cite: lines that a call showed, quoted again from the commit, and nothing else."""

from __future__ import annotations

import pytest

from nodes.agents.code.tools import CodeTools
from nodes.brains.fence import estimate
from nodes.context.brain import FileCard
from nodes.evidence import MAX_QUOTE
from nodes.search.types import ToolAnswer, ToolCall
from nodes.trust.citations import still_matches
from tests.support.fakes import SHA, FakeCode


def tools_of(code: FakeCode | None = None, known: tuple[str, ...] = ()) -> CodeTools:
    return CodeTools(code or FakeCode(), known, lambda _node, _message: None)


@pytest.mark.parametrize(
    ("reference", "lines"),
    [
        pytest.param("E1:2-3", (2, 3), id="lines-of-an-answer"),
        pytest.param(" [E1:2] ", (2, 2), id="one-line-in-brackets"),
        pytest.param("E1", (1, 1), id="the-number-alone"),
        pytest.param("E1:1-9999", (1, 4), id="as-far-as-shown"),
        pytest.param("src/lexer.py:2", (2, 2), id="a-path"),
        pytest.param("lexer.py:2-3", (2, 3), id="the-end-of-a-path"),
        pytest.param("E1:9", None, id="a-line-that-was-not-shown"),
        pytest.param("E9:1", None, id="an-unknown-number"),
        pytest.param("src/reader.py:1", None, id="a-file-that-was-not-shown"),
        pytest.param("../../etc/passwd:1", None, id="outside"),
        pytest.param("src/lexer.py:99", None, id="behind-the-end"),
        pytest.param("E1:2; rm -rf /", None, id="no-reference"),
        pytest.param("", None, id="empty"),
    ],
)
async def test_only_shown_lines_are_cited(reference: str, lines: tuple[int, int] | None) -> None:
    tools = tools_of()
    await tools.use(ToolCall("read", path="src/lexer.py"), 500)
    found = await tools.cite(reference)
    assert (found is None) == (lines is None)
    if found is not None and lines is not None:
        where = found.evidence.locator
        assert (where.path, where.start_line, where.end_line, where.sha) == ("src/lexer.py", *lines, SHA)
        assert found.evidence.quote == "\n".join(FakeCode().files["src/lexer.py"][lines[0] - 1 : lines[1]])


async def test_a_citation_may_cross_several_answers_and_says_if_it_is_cut() -> None:
    tools = tools_of(FakeCode(files={"src/a.py": [f"value{n} = call({n})" for n in range(1, 61)]}))
    await tools.use(ToolCall("grep", "call(7)"), 500)
    await tools.use(ToolCall("read", path="src/a.py", start_line=8, end_line=60), 2_000)
    for reference in ("E1:7-20", "src/a.py:7-20"):
        found = await tools.cite(reference)
        assert found is not None
        assert (found.evidence.locator.start_line, found.evidence.locator.end_line) == (7, 20)
    assert tools.shortened == []
    assert await tools.cite("E2:10-50") is not None
    assert tools.shortened == ["Of the cited lines up to 50 of `src/a.py`, those up to 33 count."]


@pytest.mark.parametrize("path", [".github/workflows/ci.yml", "Makefile", ".gitignore", "app/[id]/(main)/page.tsx"])
async def test_a_path_of_any_form_is_cited(path: str) -> None:
    tools = tools_of(FakeCode(files={path: ["one", "two"]}))
    await tools.use(ToolCall("read", path=path), 500)
    found = await tools.cite(f"[{path}:2]." if path[0] != "." else f"{path}:2.")
    assert found is not None
    assert (found.evidence.locator.path, found.evidence.quote) == (path, "two")


async def test_what_is_quoted_is_the_commits_text_and_not_what_was_shown() -> None:
    code = FakeCode()
    tools = tools_of(code)
    await tools.use(ToolCall("read", path="src/lexer.py"), 500)
    code.files["src/lexer.py"][1] = "changed"
    found = await tools.cite("E1:2")
    assert found is not None
    assert found.evidence.quote == "changed"


async def test_cited_evidence_is_numbered_after_what_is_known() -> None:
    first = tools_of()
    await first.use(ToolCall("read", path="src/lexer.py"), 500)
    known = await first.cite("E1:2")
    assert known is not None
    tools = tools_of(known=("other", known.evidence.key))
    shown = await tools.use(ToolCall("read", path="src/lexer.py"), 500)
    assert shown.splitlines()[2] == "E3 src/lexer.py"
    cited = [await tools.cite(reference) for reference in ("E3:3", "E3:2", "E3:3")]
    assert [one.id for one in cited if one] == ["E3", "E2", "E3"]
    assert [one.id for one in tools.gathered] == ["E3"]


@pytest.mark.parametrize("tokens", [60, 150, 400, 1_000])
async def test_an_answer_fits_its_tokens_and_says_what_is_missing(tokens: int) -> None:
    tools = tools_of(FakeCode(files={"src/a.py": [f"value{n} = call(argument, other)" for n in range(300)]}))
    text = await tools.use(ToolCall("read", path="src/a.py"), tokens)
    assert estimate(text) <= tokens + 40
    assert "more lines do not fit" in text or "ask for less" in text
    assert await tools.cite("src/a.py:300") is None


@pytest.mark.parametrize(("lines", "is_whole"), [(110, True), (150, False)])
async def test_a_few_last_lines_are_shown_although_they_do_not_fit(lines: int, is_whole: bool) -> None:
    tools = tools_of(FakeCode(files={"src/a.py": [f"value{n:03} = call(argument, other)" for n in range(lines)]}))
    room = 100 * (estimate("100: value100 = call(argument, other)") + 2)
    text = await tools.use(ToolCall("read", path="src/a.py"), room)
    assert (await tools.cite(f"src/a.py:{lines}") is not None) is is_whole
    assert ("more lines do not fit" in text) is not is_whole


async def test_a_repeated_call_is_answered_once() -> None:
    tools = tools_of()
    call = ToolCall("grep", "advance")
    first, second = [await tools.use(call, 500) for _ in range(2)]
    assert "advance()" in first
    assert second == "The same call was answered before: 1 matches in 1 files."
    assert tools.lines == ["grep advance → 1 matches in 1 files."]


async def test_secrets_are_masked_and_long_lines_cut() -> None:
    token = "ghp_" + "a1B2" * 9
    tools = tools_of(FakeCode(files={"src/a.py": [f"key = '{token}'", "y" * 5_000]}))
    text = await tools.use(ToolCall("read", path="src/a.py"), 2_000)
    assert token not in text
    assert max(map(len, text.splitlines())) < 300
    assert all(token not in line for line in tools.lines)
    assert await tools.cite("E1:2") is None  # too long to be quoted
    assert MAX_QUOTE < 5_000


class Changes(FakeCode):
    async def use_tool(self, call: ToolCall) -> ToolAnswer:
        return ToolAnswer("1 commits changed the file.", changes=(("b" * 40, "2026-01-02", "Change the lexer"),))


async def test_a_commit_is_cited_by_its_number_or_its_id() -> None:
    tools = tools_of(Changes())
    assert "E1 bbbbbbbbbbbb 2026-01-02 Change the lexer" in await tools.use(ToolCall("log", path="src/lexer.py"), 500)
    for reference in ("E1", "b" * 12):
        found = await tools.cite(reference)
        assert found is not None
        assert (found.evidence.kind, found.evidence.quote) == ("commit", "Change the lexer")
        assert found.evidence.locator.sha == "b" * 40


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(ToolCall("grep", "no_such_name"), id="no-matches"),
        pytest.param(ToolCall("tree", path="src"), id="a-folder"),
        pytest.param(ToolCall("read", path='gh"ost.py'), id="no-file"),
    ],
)
async def test_an_answer_without_lines_is_citable_and_asked_again(call: ToolCall) -> None:
    code = FakeCode()
    tools = tools_of(code)
    assert (await tools.use(call, 500)).startswith(f"E1 {call.tool}")
    found = await tools.cite("E1")
    assert found is not None
    assert found.evidence.kind == "lookup"
    assert await still_matches(found.evidence, code, "")
    # What the commit answers now decides, not what was said to be shown.
    code.files = {"src/new.py": ["no_such_name"], 'gh"ost.py': ["x"]}
    assert not await still_matches(found.evidence, code, "")
    forged = found.evidence.model_copy(update={"quote": "rm [1, 2]\n0 matches"})
    assert not await still_matches(forged, code, "")


async def test_the_files_of_the_search_are_citable_by_the_lines_that_are_shown() -> None:
    code = FakeCode()
    tools = tools_of(code)
    cards = [FileCard(code._sketch(path), ("`scan` is defined only here.",)) for path in code.files]
    text = tools.list_files(cards)
    assert "E1 src/lexer.py\n  checked: `scan` is defined only here.\n  1: def scan(text): (to 4)" in text
    assert (await tools.cite("E1:1")) is not None
    assert (await tools.cite("E1:3")) is None
    assert tools.paths == {"src/lexer.py", "src/reader.py"}
