"""Issue forms are read from the commit, whatever their content."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodes.search.engine import Engine
from nodes.search.issue.forms import MAX_FIELDS, MAX_FORMS, MAX_LABEL, FormField, IssueForm, read_form, read_forms
from tests.support.growth import assert_linear
from tests.support.repositories import make_repository

BUG = """\
name: Bug report
labels: [bug]
body:
  - type: markdown
    attributes: {value: Thanks!}
  - type: input
    id: version
    attributes: {label: "Which  version?", placeholder: 1.2.3}
    validations: {required: true}
  - type: textarea
    attributes:
      label: Steps to reproduce
      value: |
        1. open
        2. close
  - type: checkboxes
    attributes:
      label: Before you send this
      options: [{label: I searched, required: true}]
"""
TEMPLATE = """\
---
name: Bug
about: Say what is wrong
---
<!-- Thanks! -->
**Describe the bug**
A clear and concise description.

### Version
"""


def test_a_form_names_its_required_fields_and_prefilled_text() -> None:
    form = read_form(".github/ISSUE_TEMPLATE/bug.yml", BUG)
    assert form is not None
    assert form.name == "Bug report"
    assert form.fields == (
        FormField("Which version?", required=True),
        FormField("Steps to reproduce", preset="1. open\n2. close"),
    )


def test_headings_of_a_template_are_its_questions() -> None:
    form = read_form("ISSUE_TEMPLATE/bug.md", TEMPLATE)
    assert form is not None
    assert form.fields == (
        FormField("Describe the bug", preset="A clear and concise description."),
        FormField("Version"),
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="empty"),
        pytest.param("name: [", id="not-yaml"),
        pytest.param("- 1\n- 2", id="a-list"),
        pytest.param("body: 3", id="no-fields"),
        pytest.param("body: [3, {type: input}, {type: input, attributes: [1]}]", id="odd-fields"),
        pytest.param("a: &a [x]\nbody: *a", id="alias"),
        pytest.param("body: " + "[" * 5_000, id="deep"),
        pytest.param("body: [" + "1," * 9_000 + "1]", id="long"),
        pytest.param("!!python/object/apply:os.system ['true']", id="tag"),
        pytest.param("body: 2001-99-99", id="impossible-day"),
        pytest.param("a: \x00", id="control-character"),
    ],
)
def test_a_text_without_questions_is_not_a_form(text: str) -> None:
    assert read_form("bug.yml", text) is None
    assert read_form("bug.md", text) is None


def test_labels_and_their_number_are_bounded() -> None:
    fields = "".join(f"  - {{type: input, attributes: {{label: '{n} {'x' * 300}'}}}}\n" for n in range(100))
    form = read_form("bug.yml", f"name: Bug\nbody:\n{fields}")
    assert form is not None
    assert len(form.fields) == MAX_FIELDS
    assert max(len(field.label) for field in form.fields) == MAX_LABEL


PIECES = [
    "body:",
    " - ",
    "{",
    "[",
    "&a ",
    "*a",
    ": ",
    "type: input",
    "\n",
    "\t",
    "!!x ",
    "'",
    '"',
    "|",
    "? ",
    "---\n",
    "**",
]


@pytest.mark.tried("random texts that must be read without an error")
@settings(deadline=None, max_examples=80)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=80))
def test_no_text_is_refused(text: str) -> None:
    for path in ("a.yml", "a.md"):
        read_form(path, text)


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("piece", [*PIECES, "a: b\n", "- a\n", "# a\n", "a"])
def test_no_text_takes_long(piece: str) -> None:
    assert_linear(lambda text: read_form("a.yml", text), lambda size: piece * size, 200_000)
    assert_linear(lambda text: read_form("a.md", text), lambda size: piece * size, 10_000)


def forms_of(path: Path) -> tuple[IssueForm, ...]:
    engine = Engine(path)
    return read_forms(engine.repository, engine.commit())


def test_forms_are_read_from_the_commit_and_not_from_the_checkout(tmp_path: Path) -> None:
    make_repository(
        tmp_path / "r",
        {
            ".github/ISSUE_TEMPLATE/bug.yml": BUG,
            ".github/ISSUE_TEMPLATE/config.yml": "blank_issues_enabled: false\n",
            ".github/ISSUE_TEMPLATE/huge.yml": BUG + "#" * 100_000,
            ".github/ISSUE_TEMPLATE/old.md": TEMPLATE,
            "docs/other.yml": BUG,
        },
    )
    folder = tmp_path / "r" / ".github" / "ISSUE_TEMPLATE"
    folder.mkdir(parents=True)
    (folder / "bug.yml").write_text("name: other\n", encoding="utf-8")
    assert [form.path.rpartition("/")[2] for form in forms_of(tmp_path / "r")] == ["bug.yml", "old.md"]


def test_the_number_of_forms_is_limited(tmp_path: Path) -> None:
    files = {f".github/ISSUE_TEMPLATE/{n:02}.yml": BUG.replace("Bug report", f"Bug {n}") for n in range(MAX_FORMS + 9)}
    make_repository(tmp_path / "r", files)
    assert len(forms_of(tmp_path / "r")) == MAX_FORMS
