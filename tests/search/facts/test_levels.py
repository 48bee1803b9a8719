"""What a report may state, by the files of its strong facts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodes.search.facts import Fact
from nodes.search.facts.finding import with_facts
from nodes.search.facts.levels import ConfidenceInputs, confidence_inputs, statement
from nodes.search.ranking.rank import CEILING

FILES = ("a.py", "b.py", "c.py", "d.py", "e.py", "f.py")


def _fact(path: str, kind: str = "defined_once", *, strong: bool = True) -> Fact:
    return Fact(kind, "x", "x", path, 1, "x", "f", strong=strong)  # type: ignore[arg-type]


OPTION = replace(_fact("f.py", "read_here"), words="--strict-zones")
REFUSES = replace(_fact("a.py", "built_here"), refuses=True)
IN_TITLE = replace(_fact("a.py", "named_here"), in_title=True)
TYPE = replace(_fact("a.py", strong=False), text="class Zone:", in_title=True)
USES = replace(_fact("a.py", "used_here", strong=False), line=2)
WEAK = replace(_fact("a.py", "quoted_here"), unclaimed=True)
GONE = replace(
    _fact("a.py", "raised_here", strong=False),
    unclaimed=True,
    says="It passes; line 2 of 1.2 is no longer in this file.",
)
MAY_HAVE_MOVED = replace(_fact("a.py", "raised_here", strong=False), unclaimed=True)
BY_LIBRARY = replace(_fact("a.py", "raised_here"), by_library=True)


@pytest.mark.parametrize(
    ("facts", "confidence", "level", "headline"),
    [
        pytest.param([_fact("a.py")], 0.3, "claimed", "a.py", id="on-the-first-file-alone"),
        pytest.param([_fact("a.py"), _fact("b.py")], 0.9, "stated", "a.py", id="on-two-files"),
        pytest.param([_fact("a.py"), _fact("z.py")], 0.9, "claimed", "a.py", id="on-one-that-is-not-ranked"),
        pytest.param(
            [_fact("a.py", "raised_here"), _fact("b.py")], 0.9, "claimed", "a.py", id="a-lesser-one-elsewhere"
        ),
        pytest.param([_fact("a.py"), _fact("b.py", "raised_here")], 0.9, "stated", "b.py", id="a-firmer-one-elsewhere"),
        pytest.param([_fact("b.py")], 0.9, "stated", "b.py", id="elsewhere"),
        pytest.param(
            [_fact("a.py"), _fact("b.py", "default_here")], 0.9, "claimed", "a.py", id="an-option-declared-elsewhere"
        ),
        pytest.param([MAY_HAVE_MOVED, _fact("a.py")], 0.9, "stated", "a.py", id="led-by-a-line-that-may-have-moved"),
        pytest.param([_fact("b.py", "default_here")], 0.9, "ranked", None, id="only-an-option-declared-elsewhere"),
        pytest.param([_fact("a.py", "default_here")], 0.9, "claimed", "a.py", id="an-option-declared-here"),
        pytest.param([_fact("f.py")], 0.9, "ranked", None, id="beyond-the-first-five"),
        pytest.param(
            [_fact("a.py", "quoted_here"), _fact("f.py", "linked_here")], 0.9, "stated", "f.py", id="a-link-anywhere"
        ),
        pytest.param([_fact("f.py", "raised_here", strong=False)], 0.9, "stated", "f.py", id="a-frame-anywhere"),
        pytest.param([_fact("f.py", "built_here")], 0.9, "stated", "f.py", id="a-message-anywhere"),
        pytest.param([OPTION], 0.5, "stated", "f.py", id="an-option-anywhere"),
        pytest.param([replace(OPTION, words="strict")], 0.5, "none", None, id="a-name-elsewhere"),
        pytest.param([replace(_fact("b.py"), line=None)], 0.9, "ranked", None, id="a-file-without-a-line-elsewhere"),
        pytest.param([_fact("a.py", strong=False)], 0.9, "claimed", "a.py", id="weak-and-sure"),
        pytest.param(
            [_fact("a.py", "documented_here", strong=False)], 0.9, "ranked", None, id="a-kind-that-supports-nothing"
        ),
        pytest.param([_fact("a.py", strong=False), _fact("b.py")], 0.9, "stated", "b.py", id="weak-and-another-strong"),
        pytest.param([_fact("a.py", strong=False)], 0.5, "none", None, id="weak-and-unsure"),
        pytest.param(
            [_fact("a.py", strong=False), _fact("b.py", "raised_here", strong=False)],
            0.8,
            "stated",
            "b.py",
            id="weak-and-a-trace-that-ends-elsewhere",
        ),
        pytest.param(
            [_fact("a.py", strong=False), *(_fact(path, "raised_here", strong=False) for path in ("a.py", "b.py"))],
            0.9,
            "claimed",
            "a.py",
            id="weak-and-one-of-two-traces",
        ),
        pytest.param([REFUSES], 0.79, "stated", "a.py", id="a-refusal-is-shown-and-not-claimed"),
        pytest.param([REFUSES], 0.9, "stated", "a.py", id="a-refusal-and-sure"),
        pytest.param([REFUSES, _fact("a.py", strong=False)], 0.9, "stated", "a.py", id="a-refusal-and-a-weak-name"),
        pytest.param([WEAK], 0.79, "stated", "a.py", id="what-supports-no-claim"),
        pytest.param([WEAK], 0.8, "claimed", "a.py", id="what-supports-no-claim-and-sure"),
        pytest.param([replace(WEAK, refuses=True)], 0.9, "stated", "a.py", id="in-a-function-without-a-body"),
        pytest.param([WEAK, _fact("b.py")], 0.9, "stated", "a.py", id="what-supports-no-claim-and-another-file"),
        pytest.param([WEAK, replace(MAY_HAVE_MOVED, strong=True)], 0.9, "stated", "a.py", id="and-a-frame"),
        pytest.param([_fact("a.py", "quoted_here")], 0.3, "claimed", "a.py", id="an-expression"),
        pytest.param([replace(_fact("a.py", "quoted_here"), words='"x"')], 0.3, "stated", "a.py", id="a-bare-string"),
        pytest.param([IN_TITLE], 0.9, "stated", "a.py", id="the-name-of-a-file-in-the-title"),
        pytest.param([replace(IN_TITLE, kind="defined_once")], 0.69, "stated", "a.py", id="a-name-in-the-title"),
        pytest.param([replace(IN_TITLE, kind="defined_once")], 0.7, "claimed", "a.py", id="and-the-search-is-sure"),
        pytest.param([TYPE], 0.9, "ranked", None, id="a-type-of-the-title"),
        pytest.param(
            [TYPE, replace(IN_TITLE, symbol=None)], 0.9, "stated", "a.py", id="a-type-of-the-title-and-its-file"
        ),
        pytest.param([TYPE, USES], 0.9, "claimed", "a.py", id="a-type-of-the-title-and-a-use-in-it"),
        pytest.param([TYPE, USES], 0.7, "none", None, id="a-use-alone-makes-no-claim"),
        pytest.param([GONE, _fact("a.py", "built_here")], 0.9, "stated", "a.py", id="a-line-that-is-gone"),
        pytest.param([IN_TITLE, _fact("b.py")], 0.9, "stated", "b.py", id="a-name-in-the-title-and-another-file"),
        pytest.param([IN_TITLE, _fact("a.py")], 0.3, "claimed", "a.py", id="a-name-in-the-title-and-a-line"),
        pytest.param([BY_LIBRARY], 0.7, "stated", "a.py", id="a-library-raised-it-and-unsure"),
        pytest.param([BY_LIBRARY], 0.9, "claimed", "a.py", id="a-library-raised-it"),
        pytest.param([BY_LIBRARY, _fact("b.py")], 0.9, "stated", "a.py", id="a-library-raised-it-and-another-file"),
        pytest.param([BY_LIBRARY, _fact("a.py")], 0.3, "claimed", "a.py", id="a-library-raised-it-and-a-name"),
        pytest.param([REFUSES, _fact("a.py")], 0.3, "claimed", "a.py", id="a-refusal-and-a-name"),
        pytest.param([REFUSES, _fact("b.py")], 0.9, "stated", "a.py", id="a-refusal-and-a-name-elsewhere"),
        pytest.param(
            [_fact("a.py", "built_here", strong=False), _fact("z.py", "built_here", strong=False)],
            0.79,
            "none",
            None,
            id="the-same-words-in-two-files",
        ),
        pytest.param(
            [replace(_fact("a.py", "named_change"), line=None), IN_TITLE],
            0.75,
            "claimed",
            "a.py",
            id="a-name-in-the-title-and-a-change-of-its-file",
        ),
        pytest.param([], 0.5, "none", None, id="none"),
    ],
)
def test_the_level_of_a_statement(facts: list[Fact], confidence: float, level: str, headline: str | None):
    found = statement(facts, FILES, confidence)
    assert (found.level, found.headline.path if found.headline else None) == (level, headline)


def test_the_headline_is_of_the_first_kind_and_a_change_comes_after_lines():
    facts = [_fact("z.py", "named_change"), _fact("a.py", "built_here"), _fact("a.py", "raised_here")]
    assert [fact.kind for fact in statement(facts, FILES, 0.5).stated] == ["raised_here", "built_here", "named_change"]


def test_a_use_of_another_name_leads_before_the_definition_that_the_title_names():
    assert statement([TYPE, replace(IN_TITLE, symbol=None), USES], FILES, 0.9).headline == USES
    assert statement([TYPE, replace(IN_TITLE, symbol=None, line=None), USES], FILES, 0.5).headline == USES
    raised = _fact("a.py", "raised_here")
    assert statement([raised, replace(USES, follows=("a.py", 1))], FILES, 0.9).headline == raised


def test_a_linked_line_leads_before_a_use_in_the_function_that_the_title_names():
    title = replace(_fact("a.py"), symbol="Zone.load", text="def load(self):", line=9, in_title=True)
    linked, inside = _fact("a.py", "linked_here"), replace(USES, symbol="Zone.load", line=12, follows=("a.py", 9))
    assert statement([title, inside], FILES, 0.9).headline == inside
    assert statement([title, inside, linked], FILES, 0.9).headline == linked


def test_a_use_in_the_type_of_the_title_does_not_lead_before_its_function():
    function = replace(_fact("a.py", strong=False), line=9, text="def load():", in_title=True)
    in_type, in_function = replace(USES, follows=("a.py", 1)), replace(USES, follows=("a.py", 9))
    assert statement([TYPE, function, in_type], FILES, 0.9).headline == function
    assert statement([TYPE, function, in_type, in_function], FILES, 0.9).headline == in_function


def test_an_expression_of_one_line_leads_before_one_of_two():
    two = replace(_fact("a.py", "quoted_here"), count=2, line=3)
    one = replace(two, count=1, line=9)
    assert statement([two, one], FILES, 0.9).headline == one


def test_a_short_pasted_line_leads_only_where_nothing_else_does():
    pasted = replace(_fact("a.py", "pasted_here"), count=1)
    named = replace(_fact("a.py", "named_here"), in_title=True)
    assert statement([pasted, named], FILES, 0.9).headline == named
    assert statement([pasted], FILES, 0.9).headline == pasted
    several = replace(pasted, count=2)
    assert statement([several, named], FILES, 0.9).headline == several
    long = replace(pasted, text="    if zone.packed and offset < zone.initial_offset:")
    assert statement([long, named], FILES, 0.9).headline == long


def test_what_prints_every_crash_leads_only_where_nothing_else_does():
    named = replace(_fact("b.py", "named_here"), unclaimed=True)
    assert [statement(facts, FILES, 0.5).headline for facts in ([REFUSES, named], [REFUSES])] == [named, REFUSES]


def test_a_fact_in_the_function_that_the_title_names_leads():
    title = replace(_fact("a.py"), symbol="Zone.load", text="def load(self):", line=9, in_title=True)
    built = replace(_fact("a.py", "built_here"), symbol="Zone.save", line=20)
    inside = replace(_fact("a.py", "quoted_here"), symbol="Zone.load", line=12)
    assert statement([title, built, inside], FILES, 0.9).stated == (inside, built, title)
    marked = replace(title, in_title=False)
    assert statement([marked, built, inside], FILES, 0.9).stated == (built, inside, marked)


def test_of_two_equal_facts_the_one_in_a_function_that_the_report_names_leads():
    named = replace(_fact("a.py"), symbol="Zone.load", text="def load(self):")
    other, inside = (replace(_fact("a.py", "quoted_here"), symbol=f"Zone.{name}") for name in ("save", "load"))
    assert statement([named, other, inside], FILES, 0.9).headline == inside


def test_a_frame_that_may_have_moved_comes_after_what_the_code_says():
    moved, built, read = (_fact("a.py", kind) for kind in ("raised_here", "built_here", "read_here"))
    moved = replace(moved, strong=False)
    changed = _fact("a.py", "named_change")
    assert statement([moved, built, read, changed], FILES, 0.9).stated == (built, read, moved, changed)


def test_a_frame_whose_line_is_gone_comes_after_the_function_that_the_title_names():
    says = "It passes through `load`; the line that the trace prints is not in this file at this commit."
    gone = replace(_fact("a.py", "raised_here"), strong=False, says=says)
    title = replace(_fact("b.py"), symbol="Zone.load", text="def load(self):", in_title=True)
    assert statement([gone, title], FILES, 0.5).stated == (title, gone)
    since = replace(gone, change="0" * 40, says="`E` passes through `load`; line 3 of 1.2 is no longer in this file.")
    quoted = replace(_fact("a.py", "quoted_here"), symbol="other")
    assert statement([quoted, since], FILES, 0.5).headline == since
    assert statement([quoted, gone], FILES, 0.5).headline == quoted


def test_a_line_with_the_error_of_a_tool_precedes_the_definition_of_a_name_in_it():
    line = replace(_fact("b.py", "named_here"), unclaimed=True)
    assert statement([_fact("a.py"), line], FILES, 0.9).headline == line
    assert statement([_fact("a.py"), line], FILES, 0.9).level == "stated"
    assert statement([_fact("a.py"), same := replace(line, path="a.py")], FILES, 0.9).headline == same
    assert statement([_fact("a.py", "pasted_here"), line], FILES, 0.9).level == "claimed"


def test_the_line_of_a_trace_precedes_the_declaration_of_an_option():
    line = replace(_fact("b.py", "raised_here", strong=False), exact=True)
    option = _fact("a.py", "default_here")
    assert statement([option, line], FILES, 0.9).headline == line
    assert statement([option, line], FILES, 0.9).level == "stated"
    assert statement([option, replace(line, exact=False)], FILES, 0.9).headline == option


def test_of_several_lines_one_is_stated_in_the_first_file_or_where_the_report_names_it():
    one = replace(_fact("b.py", "quoted_here"), count=2)
    assert statement([one], FILES, 0.5).headline is None
    assert statement([one], ("b.py",), 0.5).headline == one
    assert statement([chosen := replace(one, chosen=True)], FILES, 0.5).headline == chosen


def test_a_file_that_the_title_may_mean_leads_only_if_the_search_is_sure():
    echo = replace(IN_TITLE, line=None, symbol=None)
    assert [statement([echo], FILES, one).headline for one in (0.69, 0.7)] == [None, echo]


def test_another_line_with_the_call_of_a_named_line_follows_the_lines_that_the_report_shows():
    other = replace(WEAK, line=5, follows=("a.py", 1))
    pasted = replace(_fact("a.py", "pasted_here"), text="return the_pond.depth_of(the_water)")
    assert statement([other, pasted], FILES, 0.9).stated == (pasted, other)


def test_the_bits_for_confidence():
    assert confidence_inputs([], FILES) == ConfidenceInputs()
    two = [_fact("a.py"), replace(_fact("a.py", "built_here"), line=2)]
    assert confidence_inputs([*two, _fact("b.py")], FILES) == ConfidenceInputs(True, True, True)
    assert confidence_inputs([*two, _fact("z.py")], FILES) == ConfidenceInputs(True, True, False)
    thrown = replace(_fact("a.py", "raised_here"), refuses=True)
    assert confidence_inputs([thrown], FILES) == ConfidenceInputs(unclaimed=True)
    assert confidence_inputs([thrown, *two], FILES) == ConfidenceInputs(True, True, False)
    assert confidence_inputs([_fact("a.py"), _fact("a.py", "built_here")], FILES) == ConfidenceInputs(
        True
    )  # two spellings of one line
    assert confidence_inputs([_fact("a.py", strong=False)], FILES) == ConfidenceInputs()


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([], id="none"),
        pytest.param([_fact("a.py"), _fact("b.py", "raised_here")], id="on-two-files"),
        pytest.param([_fact("b.py")], id="elsewhere"),
        pytest.param([_fact("a.py")], id="on-the-first-file"),
    ],
)
def test_the_confidence_keeps_the_order_and_stays_below_the_ceiling(facts: list[Fact]):
    ranked = [0.0, 0.2, 0.5, 0.85, 1.0]
    found = [with_facts(one, FILES, facts) for one in ranked]
    assert found == sorted(found)
    assert found[0] == 0
    assert found[-1] <= CEILING


def test_a_strong_fact_on_the_first_file_alone_raises_the_confidence_and_a_name_in_the_title_does_not():
    nothing = with_facts(0.7, FILES, [])
    assert with_facts(0.7, FILES, [_fact("a.py")]) > nothing
    assert with_facts(0.7, FILES, [IN_TITLE]) <= nothing
    assert with_facts(0.7, (), [_fact("a.py")]) == 0


def test_the_error_of_a_tool_leads_before_the_line_that_unwraps_its_result():
    unwraps = replace(_fact("a.rs", "raised_here"), says="`main` unwraps `build()`; the error says that it failed.")
    unwraps = replace(unwraps, unclaimed=True, line=32)
    printed = replace(_fact("b.c", "named_here"), says="The report has “error: bad type” for this line.", line=140)
    assert statement([unwraps, printed], FILES, 0.5).headline == printed
    other = replace(printed, says="The report has “warning: bad type” for this line.")
    assert statement([unwraps, other], FILES, 0.5).headline == unwraps
