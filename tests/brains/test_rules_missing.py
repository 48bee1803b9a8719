"""The rules for missing information, by the repository's own forms."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nodes.brains.rules.missing import Need, form_of, missing_from, open_needs, own_words
from nodes.context.brain import Case
from nodes.search.issue.forms import FormField, IssueForm
from tests.support.cases import case


def needs(one: Case) -> tuple[Need, ...]:
    """Return what an issue lacks."""
    return open_needs(one, own_words(one))


BUG = IssueForm(
    ".github/ISSUE_TEMPLATE/bug.yml",
    "Bug report",
    (
        FormField("Which version?", required=True),
        FormField("Database", required=True),
        FormField("Steps to reproduce", required=True, preset="1. open\n2. close"),
        FormField("Anything else?"),
    ),
)
WISH = IssueForm(".github/ISSUE_TEMPLATE/wish.yml", "Feature request", (FormField("What you want", required=True),))
TEMPLATE = IssueForm(
    "ISSUE_TEMPLATE.md",
    "ISSUE_TEMPLATE",
    (FormField("Describe the bug", preset="A clear description of what you expected."), FormField("Environment")),
)
STEPS = "The steps, or the shortest code that shows it"
CODE = "\n```\nrun()\n```\n"


def filled(**answers: str) -> str:
    """Return a body as GitHub renders it from the form."""
    named = {
        "Which version?": "1.2.3",
        "Database": "Postgres",
        "Steps to reproduce": f"I expected rows.{CODE}",
        "Anything else?": "_No response_",
    }
    named |= {name.replace("_", " "): answer for name, answer in answers.items()}
    return "\n\n".join(f"### {name}\n\n{answer}" for name, answer in named.items())


def missing(body: str, *forms: IssueForm) -> tuple[str, ...]:
    return missing_from(replace(case("Rows are gone", body), forms=forms), "bug")


def test_a_completed_form_lacks_no_information() -> None:
    assert missing(filled(), BUG, WISH) == ()


def test_no_is_an_answer_to_a_question() -> None:
    assert missing(filled(**{"Which_version?": "No"}), BUG, WISH) == ()
    assert missing(filled(**{"Which_version?": "n/a"}), BUG, WISH) == (
        "“Which version?”, which the issue form asks for",
    )
    assert missing(filled(Database="N/A"), BUG, WISH) == ()


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("_No response_", id="no-response"),
        pytest.param("", id="empty"),
        pytest.param("none", id="says-nothing"),
        pytest.param("...", id="dots"),
    ],
)
def test_a_required_field_without_an_answer_is_missing(answer: str) -> None:
    assert missing(filled(Database=answer), BUG, WISH) == ("“Database”, which the issue form asks for",)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(f"## On the sender\n\n- Send it\n\n## On the receiver\n\n- Open it{CODE}", id="of-another-level"),
        pytest.param(f"On each side:\n\n### Server\n\n- Send it, I expected rows{CODE}", id="of-the-same-level"),
        pytest.param(f"#### 1\n\nI expected rows{CODE}", id="deeper"),
    ],
)
def test_a_heading_in_an_answer_belongs_to_it(answer: str) -> None:
    assert missing(filled(Steps_to_reproduce=answer, Database="## Server\n\nPostgres, I expected rows"), BUG) == ()


def test_a_field_that_the_form_did_not_have_yet_is_not_missing() -> None:
    body = filled().replace("### Database\n\nPostgres", "### System\n\nLinux")
    assert missing(body, BUG) == ()


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("Zeilen fehlen", "Die Zeilen sind weg, es gab einen Fehler und der Export ist leer.", id="german"),
        pytest.param("Lignes perdues", "Les lignes ne sont pas dans le fichier, une erreur est affichée.", id="french"),
        pytest.param("Строки пропали", "После экспорта строки пропали, программа падает.", id="russian"),
        pytest.param("导出后行丢失", "导出之后文件是空的，程序崩溃。", id="chinese"),
        pytest.param("行が消える", "エクスポートすると行が消えてクラッシュします。", id="japanese"),
        pytest.param("행이 사라짐", "내보내기 후 행이 사라지고 오류가 납니다.", id="korean"),
    ],
)
def test_nothing_is_requested_by_english_words_in_other_languages(title: str, body: str) -> None:
    one = case(title, body)
    assert (missing_from(one, "bug"), missing_from(one, "docs"), needs(one)) == ((), (), ())


def test_what_a_heading_asks_for_is_answered_below_it_in_any_language() -> None:
    assert not missing(
        "### Steps to reproduce\n\nNo se abre nada\n\n### Expected\n\nDebe abrirse todo\n\n### Version\n\n1.4.11\n"
    )


def test_nothing_is_requested_from_a_report_with_a_good_and_a_bad_version() -> None:
    assert STEPS in missing("Rows are gone, it is broken in 8.3.0.")
    assert missing("It worked in 8.2.1 and is broken in 8.3.0.") == ()


def test_text_of_the_form_itself_is_not_an_answer() -> None:
    body = filled(Steps_to_reproduce="1. open\n2. close").replace("Postgres", "Postgres, where I expected rows")
    assert missing(body, BUG) == ("“Steps to reproduce”, which the issue form asks for",)


def test_an_optional_field_may_stay_empty() -> None:
    assert missing(filled(Anything_else="_No response_"), BUG) == ()


def test_an_answer_elsewhere_in_the_issue_counts() -> None:
    body = filled(**{"Which version?": "_No response_"}) + "\n\nIt is version 4.5.6 here."
    assert missing(body, BUG) == ()


def test_a_form_does_not_apply_to_an_issue_written_without_it() -> None:
    assert missing(f"Rows vanish in 1.2.3 but I expected them.{CODE}", WISH, BUG) == ()


def test_the_version_is_asked_for_where_an_earlier_one_worked() -> None:
    no_version = IssueForm("bug.yml", "Bug", (FormField("Steps", required=True),))
    body = f"It is odd, I expected rows.{CODE}"
    worked = f"It used to work, I expected rows.{CODE}"
    assert missing(body) == ()
    assert missing(worked) == ("The version it happens with",)
    assert missing(worked, no_version) == ()
    assert missing(f"See class RegressionTests(TestCase), I expected rows.{CODE}") == ()
    assert missing(f"It used to work before 1f2e3d4c5b6a, I expected rows.{CODE}") == ()
    assert missing(f"It used to work, I expected rows and not 0.944444.{CODE}") == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param("It fails with an error.", "The whole error message or stack trace", id="an-error"),
        pytest.param("It fails with a `ZoneError` there.", None, id="the-name-of-the-error"),
        pytest.param("It broke, I expected rows.\n\n4. See the error", None, id="the-step-of-a-template"),
        pytest.param(
            "When opening a table, the error number is the count of pairs, not the total.", None, id="errors-as-data"
        ),
        pytest.param(f"It fails with an error.{CODE}", None, id="code"),
        pytest.param("It fails with an error " + "after many steps " * 60, None, id="a-long-description"),
        pytest.param("There was an error. Rows are reset on app load.", None, id="action-and-result"),
        pytest.param("An error\n\n1.open it\n2. leave and the rows are not saved", None, id="a-step-with-its-result"),
        pytest.param("There was an error. If you open a table, its filter is ignored.", None, id="in-one-sentence"),
        pytest.param("If you open a table, it fails.", "The whole error message or stack trace", id="a-failure-alone"),
        pytest.param(
            "I get an error when I save a table: Name of the table is taken. It should be saved.",
            None,
            id="a-message-after-a-colon",
        ),
        pytest.param(
            "It fails with an error while saving a table; it should not.\n10:33:48 WARNING the table is full",
            None,
            id="a-line-of-a-log",
        ),
        pytest.param("There was an error. We get this: Unknown table of zones", STEPS, id="a-message-after-this"),
        pytest.param(
            "I get an error: the name is taken by another one\nIt was never so.",
            STEPS,
            id="a-message-of-an-earlier-line",
        ),
        pytest.param("An error\n1. New table\n2. MD5\n3. Submit\nRows get lost.", None, id="a-list-and-a-result"),
        pytest.param("1- New table\n2- MD5\n3- Submit\nThe order its broken.", None, id="a-list-with-dashes"),
        pytest.param(
            "There is an error\n1. Go to '...'\n2. Click on '....'\n3. Scroll '....'\nRows get lost.",
            "The whole error message or stack trace",
            id="a-list-of-the-template",
        ),
        pytest.param("Change the name of a table and its filter resets.", None, id="a-command-and-its-result"),
        pytest.param("Typing a name, then leaving it, makes the old one reappear.", None, id="begins-with-an-action"),
        pytest.param("I went to edit a table, and its filter is ignored.", None, id="a-way-and-its-result"),
        pytest.param("I opened a table, and its filter is ignored.", None, id="what-was-done-and-its-result"),
        pytest.param("Something resets.", STEPS, id="begins-with-no-action"),
        pytest.param("Rows vanish.", STEPS, id="few-words"),
        pytest.param("Rows vanish sometimes, when something happens.", STEPS, id="no-action"),
        pytest.param("When importing, rows vanish.", STEPS, id="no-object"),
        pytest.param("When splitting tables by size, the last row is missing.", None, id="an-action-with-its-object"),
        pytest.param("If you change to a table, its filter is ignored.", None, id="an-action-of-a-person"),
        pytest.param("Rows are sorted by name. Such tables can fail the linter.", STEPS, id="what-may-fail"),
        pytest.param("Rows of `ZoneMap` vanish.", None, id="a-name"),
        pytest.param("Rows vanish " + "if the table is long " * 20, None, id="many-words"),
    ],
)
def test_only_information_that_could_lead_to_a_place_is_requested(body: str, expected: str | None) -> None:
    assert next(iter(missing(body)), None) == expected


def test_a_templates_hints_are_not_the_reporters_words() -> None:
    body = f"**Describe the bug**\nA clear description of what you expected.\n\n**Environment**\nLinux 1.2.3{CODE}"
    with_template = replace(case("Rows are gone", body), forms=(TEMPLATE,))
    assert "expected" in needs(with_template)
    assert "expected" not in needs(case("Rows are gone", body))


def test_a_template_field_is_requested_only_if_a_search_could_use_it() -> None:
    template = IssueForm("bug.md", "bug", (FormField("Version"), FormField("Screenshots"), FormField("Context")))
    body = f"I expected rows.{CODE}\n### Version\n\n### Screenshots\n\n### Context\n"
    assert missing(body, template) == ("“Version”, which the issue form asks for",)


def test_nothing_is_missing_from_an_issue_other_than_a_bug() -> None:
    assert missing_from(replace(case("Add rows", "Please."), forms=(BUG,)), "feature") == ()


def test_at_most_four_items_are_missing() -> None:
    many = IssueForm("bug.yml", "Bug", tuple(FormField(f"Thing {n}", required=True) for n in range(9)))
    empty = "".join(f"\n\n### Thing {n}\n\n_No response_" for n in range(9))
    assert len(missing(f"It fails.{empty}", many)) == 4


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(filled(), "Bug report", id="written-with-it"),
        pytest.param("### What you want\n\nRows", "Feature request", id="written-with-another"),
        pytest.param("Rows are gone.", "Bug report", id="written-with-none"),
    ],
)
def test_the_form_is_the_one_that_the_issue_used(body: str, expected: str) -> None:
    form = form_of(replace(case("Rows", body), forms=(WISH, BUG)))
    assert form is not None
    assert form.name == expected


@pytest.mark.parametrize(
    ("title", "body", "asked"),
    [
        pytest.param("Import fails", "It fails for guests.", True, id="fails"),
        pytest.param("Import fails silently", "It fails for guests.", False, id="silently"),
        pytest.param("Import fails for guests", "There is no crash or dialog.", False, id="no-crash"),
        pytest.param("Import crashes", "It crashes. Expected: no crash.", True, id="expected-no-crash"),
        pytest.param("Import is wrong", "It reads zeros without throwing an error.", False, id="throws-no-error"),
        pytest.param("Import stops", "It fails; no error is shown.", False, id="no-error-shown"),
        pytest.param("Import fails", "It should show no error.", True, id="expected-no-error"),
        pytest.param("Import crashes", "It crashes with no message.", False, id="with-no-message"),
        pytest.param("Import crashes", "It dies without any error message.", False, id="without-a-message"),
        pytest.param("Remove double slashes in paths", "Some servers refuse it; this fails.", False, id="request"),
        pytest.param("Remove fails on empty lists", "It fails.", True, id="a-verb-as-a-name"),
        pytest.param("Import fails", "Its sums are wrong.", False, id="a-wrong-result"),
        pytest.param("Import stops", "It fails to create its folder.", False, id="what-it-fails-to-do"),
        pytest.param("Import stops", "It fails to start.", True, id="fails-to-start"),
        pytest.param("Import stops", "I would expect an error here.", False, id="an-expected-error"),
        pytest.param("Import stops", "The exception mapper keeps its page.", False, id="a-name-of-code-for-errors"),
        pytest.param("Length is negative", "For example: void test1() throws Throwable { check(); }", False, id="java"),
    ],
)
def test_an_error_message_is_requested_only_if_one_was_shown(title: str, body: str, *, asked: bool) -> None:
    assert ("error" in needs(case(title, body))) == asked


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        ("After the start it closes before any screen comes up.", False),
        ("The window does not open.", False),
        ("Calling tools/list: response error -32603.", False),
        ("The window has two rows.", True),
        ("The errors are many.", True),
    ],
)
def test_who_tells_that_a_program_stops_is_not_asked_what_was_expected(body: str, *, asked: bool) -> None:
    assert ("expected" in needs(case("Since the update", body))) == asked


TESTS = [
    pytest.param("def test_rows():\n    assert rows() == 3", id="python"),
    pytest.param("it('counts', () => {\n  expect(rows()).toBe(3)\n})", id="javascript"),
    pytest.param("@Test void rows() {\n  assertEquals(3, rows());\n}", id="java"),
    pytest.param("#[test]\nfn rows() {\n    assert_eq!(rows(), 3);\n}", id="rust"),
    pytest.param('if rows() != 3 {\n\tt.Errorf("got %d", rows())\n}', id="go"),
    pytest.param('TEST_CASE("rows") {\n  REQUIRE(rows() == 3);\n}', id="cpp"),
]


@pytest.mark.parametrize("block", TESTS)
def test_a_report_with_a_failing_test_is_not_asked_for_the_expected_result(block: str) -> None:
    form = IssueForm(".github/ISSUE_TEMPLATE/bug.yml", "Bug report", (FormField("Result", required=True),))
    body = f"The count of rows is wrong:\n\n```\n{block}\n```\n\n### Result\n\n_No response_\n"
    assert "expected" not in needs(case("Rows are gone", body))
    assert not [one for one in missing(body, form) if "Result" in one]
    without = body.replace(block, "run()")
    assert "expected" in needs(case("Rows are gone", without))
    assert [one for one in missing(without, form) if "Result" in one]


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        pytest.param("The documentation says it is an error.", True, id="which"),
        pytest.param("The documentation for the Row class says it is an error.", False, id="of-a-class"),
        pytest.param("The docstring of `Row.save` says it is an error.", False, id="of-a-name"),
        pytest.param("The page about imports is out of date.", False, id="about-a-subject"),
    ],
)
def test_the_page_is_requested_only_if_it_is_unknown(body: str, *, asked: bool) -> None:
    assert bool(missing_from(case("The documentation is wrong", body), "docs")) == asked


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        pytest.param("Current: `25.`\n\nExpected: `25-ти`", False, id="both"),
        pytest.param("**Actual output:** 25\n**Expected output:** 26", False, id="bold"),
        pytest.param("Expected: `25-ти`", True, id="one"),
        pytest.param("Current:\n\nExpected:\n", True, id="empty"),
    ],
)
def test_steps_are_not_requested_if_both_results_are_shown(body: str, *, asked: bool) -> None:
    assert ("steps" in needs(case("Ordinals of Bulgarian", body))) == asked


@pytest.mark.parametrize(
    ("title", "asked"),
    [("Refuse a dot in the name", True), ("Add a check of the name", False)],
)
def test_who_proposes_a_change_is_not_asked_for_steps(title: str, *, asked: bool) -> None:
    found = needs(case(title, "Every dot counts now."))
    assert ("steps" in found, "expected" in found) == (asked, asked)
