"""Which places a report shows, and which it only lists."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodes.agents.writing.places import FactBasis
from nodes.agents.writing.statement import function_of, is_thin, state_facts, with_pointer, without_facts
from nodes.issue.asked import questions
from nodes.report import Suspect, TriageReport
from nodes.search.facts import Fact
from nodes.search.types import Query, Survey
from tests.support.cases import case
from tests.support.fakes import FILES, FakeCode

FIRST, SECOND = FILES
MESSAGE = Fact(
    "built_here", "This line builds the message.", "open quote", FIRST, 1, FILES[FIRST][0], "scan", strong=True
)
TESTED = Fact("tested_here", "A test uses it.", "scan", SECOND, 1, FILES[SECOND][0], "read")
ELSEWHERE = replace(MESSAGE, path=SECOND, text=FILES[SECOND][0], symbol="read")
PAGE = Fact("documented_here", "`scan` is documented under “Scanning”.", "scan", "docs/scan.md", 1, "# Scanning")
DEFINED = replace(MESSAGE, kind="defined_once", says="The only definition of `read` is here.", words="read")


async def survey_of(code: FakeCode, *facts: Fact) -> Survey:
    return replace(await code.survey(Query("scan hangs", "")), facts=facts)


@pytest.mark.parametrize(
    ("facts", "statement", "shown"),
    [
        pytest.param((MESSAGE, TESTED), "claim", [True, False], id="a-fact-that-leads-and-one-that-does-not"),
        pytest.param((MESSAGE, ELSEWHERE), "facts", [True, True], id="two-places"),
        pytest.param((ELSEWHERE,), "facts", [False, True], id="only-on-the-second-file"),
        pytest.param((TESTED,), "first_place", [False, False], id="none-that-leads"),
    ],
)
async def test_a_place_is_shown_with_its_facts_or_only_listed(facts, statement, shown) -> None:
    code = FakeCode()
    report = await state_facts(TriageReport(), await survey_of(code, *facts), code, ordered=True)
    assert report.statement == statement
    assert [one.path for one in report.suspects] == [FIRST, SECOND]
    assert [bool(one.facts) for one in report.suspects] == shown


async def test_a_report_with_weak_facts_about_lines_does_not_deny_them() -> None:
    code = FakeCode()
    unsure = replace(await survey_of(code, TESTED), confidence=0.3)
    report = await state_facts(TriageReport(), unsure, code, ordered=True)
    assert report.verdict == "No checked fact decides on one place in the code."
    bare = await state_facts(TriageReport(), replace(unsure, facts=()), code, ordered=True)
    assert bare.verdict == "No checked fact ties this report to a line of the code."


async def test_a_line_that_the_report_names_is_stated_wherever_the_search_ranks_its_file() -> None:
    code = FakeCode()
    raised = replace(
        MESSAGE, kind="raised_here", says="It fails here.", path=SECOND, text=FILES[SECOND][0], strong=False
    )
    survey = await survey_of(code, raised)
    survey = replace(survey, leads=survey.leads[:1], ranked=0.9)
    report = await state_facts(TriageReport(), survey, code, ordered=True)
    assert (report.statement, report.verdict, report.root_cause) == ("facts", raised.says, None)
    assert [(one.path, one.facts) for one in report.suspects] == [(FIRST, ()), (SECOND, (0,))]
    assert FILES[SECOND][0] in report.suspects[1].quote


async def test_without_the_leading_fact_nothing_is_claimed() -> None:
    code = FakeCode()
    report = await state_facts(TriageReport(), await survey_of(code, MESSAGE, ELSEWHERE), code, ordered=True)
    assert (report.statement, report.verdict) == ("facts", MESSAGE.says)
    assert without_facts(report, {1}).verdict == MESSAGE.says


@pytest.mark.parametrize(
    ("chosen", "written_by", "claims"),
    [
        pytest.param(FIRST, "rules", True, id="the-same-first-file"),
        pytest.param(SECOND, "rules", False, id="another-file"),
        pytest.param(FIRST, "m", False, id="a-model-writes-its-own-cause"),
    ],
)
async def test_rules_claim_by_facts_where_a_model_chose_the_searchs_first_file(
    chosen: str, written_by: str, claims: bool
) -> None:
    code = FakeCode()
    place = Suspect(path=chosen, start_line=1, end_line=1, symbol="scan")
    drafted = TriageReport(written_by=written_by, suspects=(place,))
    report = await state_facts(drafted, await survey_of(code, MESSAGE), code, ordered=False)
    assert bool(report.root_cause) == claims
    assert report.suspects[0].path == chosen


PASTED = replace(
    MESSAGE, kind="pasted_here", says="A line is pasted.", symbol="compared", count=1, line=2, text=FILES[FIRST][1]
)
SPREAD = replace(
    DEFINED, kind="read_here", says="It is used on 12 lines.", path=FIRST, text=FILES[FIRST][0], symbol=None
)


async def survey_with_first(code: FakeCode, symbol: str, *facts: Fact) -> Survey:
    """Return a survey whose search found this function in the first file."""
    survey = await survey_of(code, *facts)
    first, *others = survey.leads
    return replace(survey, leads=(replace(first, symbol=symbol), *others))


async def test_a_single_pasted_line_names_its_function_only_if_it_leads() -> None:
    code = FakeCode()
    beside = await state_facts(TriageReport(), await survey_of(code, PASTED, SPREAD), code, ordered=True)
    assert (beside.statement, beside.verdict, function_of(beside)) == ("claim", SPREAD.says, None)
    survey = await survey_with_first(code, "compared", PASTED)
    alone = await state_facts(TriageReport(), survey, code, ordered=True)
    assert (alone.statement, alone.verdict, function_of(alone)) == ("claim", PASTED.says, "compared")


@pytest.mark.parametrize(
    ("kind", "function"), [("pasted_here", None), ("defined_once", None), ("raised_here", "compared")]
)
async def test_a_claim_names_a_function_that_the_search_did_not_find_only_for_some_kinds(kind, function) -> None:
    code = FakeCode()
    survey = await survey_with_first(code, "scan", replace(PASTED, kind=kind, count=None))
    report = await state_facts(TriageReport(), survey, code, ordered=True)
    assert (report.statement, function_of(report)) == ("claim", function)
    assert report.suspects[0].symbol == (function or "scan")
    assert ("in `compared`" in (report.root_cause or "")) == (function is not None)
    assert FILES[FIRST][1] in report.suspects[0].quote


NAMED = replace(DEFINED, kind="named_here", says="The title has the words.", path=FIRST, symbol="compared")


async def test_words_of_the_title_name_no_function() -> None:
    code = FakeCode()
    report = await state_facts(TriageReport(), await survey_of(code, NAMED), code, ordered=True)
    assert (report.statement, report.verdict, function_of(report)) == ("claim", NAMED.says, None)
    assert "compared" not in (report.root_cause or "")


@pytest.mark.parametrize(
    ("lead", "count", "placed"), [(SPREAD, 1, True), (SPREAD, 12, False), (replace(NAMED, in_title=True), 1, False)]
)
async def test_a_line_that_is_one_of_many_is_not_the_place(lead: Fact, count: int, placed: bool) -> None:
    code = FakeCode()
    fact = replace(lead, count=count, line=2, text=FILES[FIRST][1])
    report = await state_facts(TriageReport(), await survey_of(code, fact), code, ordered=True)
    searched = await state_facts(TriageReport(), await survey_of(code), code, ordered=True)
    assert (report.suspects[0].quote != searched.suspects[0].quote) == placed


@pytest.mark.parametrize("kind", ["feature", "question", "docs"])
async def test_an_issue_other_than_a_bug_lists_files_and_shows_no_line(kind) -> None:
    code = FakeCode()
    plain = await with_pointer(TriageReport(kind=kind), await survey_of(code), code)
    assert [(one.path, one.facts) for one in plain.suspects] == [(FIRST, ()), (SECOND, ())]
    assert (plain.statement, plain.headline, plain.root_cause) == ("ranked", None, None)
    assert plain.confidence == code.confidence


async def test_a_request_names_the_place_of_its_change_if_facts_are_on_one_file() -> None:
    code = FakeCode()
    report = await with_pointer(TriageReport(kind="feature"), await survey_of(code, DEFINED), code)
    assert (report.statement, report.verdict, report.how_to_confirm) == ("claim", DEFINED.says, "")
    assert "The change probably belongs in" in (report.root_cause or "")
    both = await with_pointer(TriageReport(kind="feature"), await survey_of(code, MESSAGE, ELSEWHERE), code)
    assert (both.statement, both.root_cause) == ("ranked", None)


async def test_a_question_leads_with_the_page_that_answers_it() -> None:
    code = FakeCode()
    found = await with_pointer(TriageReport(kind="question"), await survey_of(code, PAGE, MESSAGE), code)
    assert (found.facts, found.headline, found.verdict) == ((PAGE,), 0, PAGE.says)


async def test_the_fact_that_answers_the_question_leads() -> None:
    code = FakeCode()
    facts = await survey_of(code, PAGE, DEFINED)
    where = await with_pointer(TriageReport(kind="question"), facts, code, questions("Where is `read` defined", ""))
    assert (where.facts, where.verdict) == ((DEFINED,), DEFINED.says)
    other = await with_pointer(TriageReport(kind="question"), facts, code, questions("Where is `write` defined?", ""))
    assert other.facts == (PAGE,)


async def test_an_excluded_version_leads_unless_a_fact_answers_the_question() -> None:
    code = FakeCode()
    excluded = replace(MESSAGE, kind="named_here", says="The report names `zig` 0.13, which this line does not allow.")
    facts = await survey_of(code, PAGE, DEFINED, excluded)
    asked = questions("Where is `read` defined?", "")
    found = [await with_pointer(TriageReport(kind="question"), facts, code, given) for given in ((), asked)]
    assert [report.facts for report in found] == [(excluded,), (DEFINED,)]


def test_a_ground_without_facts_states_nothing() -> None:
    assert FactBasis.of(Survey(), ()).statement == "nothing"


@pytest.mark.parametrize(
    ("body", "thin"),
    [
        ("It stops.", True),
        ("It stops.\n\nError at line 40: cp -r /srv/zones/* /", False),
        ("GET /zones で一覧が空です", False),
    ],
)
def test_an_issue_with_a_command_that_failed_or_a_request_is_not_thin(body: str, thin: bool) -> None:
    assert is_thin(case("Fails", body)) is thin
