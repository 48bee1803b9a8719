"""The result of a run by rules: kind, severity, versions, platforms and missing form fields."""

from __future__ import annotations

from typing import Any

import pytest

from nodes.brains.rules import RulesBrain
from nodes.issue.facts import read_facts
from nodes.report import TriageReport
from nodes.run import advance, initial_state
from nodes.search.issue.forms import FormField, IssueForm
from nodes.state import Finished
from tests.graph.test_run import graph
from tests.support.fakes import SHA, FakeCode, context

FORM = IssueForm(
    ".github/ISSUE_TEMPLATE/bug.yml",
    "Bug report",
    (FormField("Version", required=True), FormField("Database", required=True)),
)
BODY = """\
### Version

scan-tool 2.4.1 on Windows

### Database

_No response_

### What happens

`scan` hangs. I expected an end.

```
scan("x")
```
"""


async def report_on(title: str, body: str) -> tuple[TriageReport, list[str]]:
    brain = RulesBrain()
    given: dict[str, Any] = {"title": title, "body": body, "facts": read_facts(title, body)}
    ctx = context(brain, code=FakeCode(asks=(FORM,)), rules=brain, **given)
    outcome = await advance(graph(), ctx, "t", initial_state(title, body, repository="o/r", sha=SHA))
    assert isinstance(outcome, Finished)
    report = outcome.state.report
    assert report is not None
    return report, [entry.node for entry in outcome.state.trace]


async def test_a_report_states_environment_severity_and_missing_form_fields() -> None:
    report, nodes = await report_on("scan hangs on an open quote", BODY)
    assert "codebase_search" in nodes
    assert report.kind == "bug"
    assert (report.severity, report.severity_reason) == (
        "high",
        "The report mentions a hang: “scan hangs on an open quote”.",
    )
    assert report.affected_versions == ("scan-tool 2.4.1",)
    assert report.platforms == ("windows",)
    assert report.missing == ("“Database”, which the issue form asks for",)


@pytest.mark.parametrize(
    ("title", "body", "kind"),
    [
        pytest.param("Add support for YAML", "It would be nice to have this option.", "feature", id="feature"),
        pytest.param(
            "How do I read a file?", "I am wondering how to do it. Any help? Thanks.", "question", id="question"
        ),
    ],
)
async def test_an_issue_that_is_certainly_not_a_bug_is_not_searched(title: str, body: str, kind: str) -> None:
    report, nodes = await report_on(title, body)
    assert "codebase_search" not in nodes
    assert report.kind == kind
    assert report.missing == ()
    assert report.severity == "unknown"


async def test_a_possible_bug_is_searched_and_the_report_names_the_likelier_kind() -> None:
    report, nodes = await report_on(
        "The rest of `scan`", "I do not understand why `scan` returns nothing. Is this expected?"
    )
    assert "codebase_search" in nodes
    assert report.kind == "bug"
    assert "bug" not in report.labels
    assert any(note.startswith("This is probably a question") for note in report.notes)


async def test_a_plain_bug_is_classified_as_a_bug() -> None:
    report, _ = await report_on("scan hangs on an open quote", BODY)
    assert "bug" in report.labels
    assert report.notes == ()


@pytest.mark.parametrize(
    ("line", "versions", "platforms"),
    [
        pytest.param("- OS: [e.g. CentOS 8.4.2105]", (), (), id="an-example"),
        pytest.param("- OS信息：  [e.g.：CentOS 8.4.2105 4Core]", (), (), id="of-a-template-in-another-language"),
        pytest.param("- OS: [e.g. iOS] Debian 12.1.0", ("Debian 12.1.0",), ("debian",), id="filled-in-behind-it"),
        pytest.param("- OS: Debian [12.1.0]", ("12.1.0",), ("debian",), id="brackets"),
        pytest.param("scan-tool 1.4-m3", ("scan-tool 1.4-m3",), (), id="a-milestone"),
        pytest.param("It fails with scan-tool 5.4.x", (), (), id="a-series"),
        pytest.param("/scan@v0.0.0-20250213160950-5298bd975b1c/x.go", (), (), id="a-commit-as-a-version"),
    ],
)
def test_an_example_of_a_template_is_not_the_reporters(
    line: str, versions: tuple[str, ...], platforms: tuple[str, ...]
):
    facts = read_facts("It hangs", line)
    assert (facts.versions, facts.platforms) == (versions, platforms)


@pytest.mark.parametrize(
    ("title", "body", "words"),
    [
        pytest.param("它不保存", "不保存。", range(2, 6), id="Chinese, short"),
        pytest.param(
            "更改的设置没有保存",
            "在设置里更改外观和通用选项后关闭程序,重新启动后全部恢复为默认值。预期是重新启动后仍然有效,不需要再次更改。",
            range(25, 40),
            id="Chinese",
        ),
        pytest.param(
            "設定が保存されない", "設定を変更して終了すると、再起動後に既定値へ戻ります。", range(13, 22), id="Japanese"
        ),
        pytest.param("설정이 저장되지 않습니다", "다시 시작하면 기본값으로 돌아갑니다.", range(7, 8), id="Korean"),
    ],
)
def test_text_without_spaces_is_as_long_as_its_words(title: str, body: str, words: range) -> None:
    assert read_facts(title, body).words in words
