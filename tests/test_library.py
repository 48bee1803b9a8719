"""``from bot import triage``: the result of `triage run`, from Python."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import stat
import subprocess
import sys
from operator import attrgetter
from pathlib import Path
from typing import Literal

import jsonschema
import pytest

import bot
from bot import Result, UserError, triage
from bot.report.document import result_schema
from tests.cli.process import triage as run_command
from tests.report.catalogues import exact
from tests.support.repositories import make_repository

FILES = {
    "feed/dates.py": """\
def parse_zone(text):
    if not text:
        raise ValueError("the zone is empty")
    return text
""",
    "feed/store.py": "def keep(entry):\n    return entry\n",
    "README.md": "A feed reader.\n",
}
ISSUE = "Reading a feed fails with 'the zone is empty'\n\nEvery feed ends with `ValueError: the zone is empty`.\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "feed"
    make_repository(path, FILES)
    return path


THIN = [
    pytest.param("Watch the zones stops", ["feed/page.html:2"], id="a-text-of-the-program"),
    pytest.param("It stops again", [], id="nothing"),
]


@pytest.mark.parametrize(("text", "places"), THIN)
def test_a_short_report_has_a_place_if_it_names_a_text_of_the_program(
    tmp_path: Path, text: str, places: list[str]
) -> None:
    make_repository(tmp_path / "feed", FILES | {"feed/page.html": "<form>\n  <b>Watch the zones</b>\n</form>\n"})
    result = triage(tmp_path / "feed", text, brain="rules", data_dir=tmp_path / "data")
    visible = result.report.github_comment.partition("<details>")[0]
    assert re.findall(r"feed/page\.html:\d+", visible) == places


def test_the_result_names_the_place(repository: Path, tmp_path: Path) -> None:
    result = triage(repository, ISSUE, brain="rules", data_dir=tmp_path / "data")
    assert isinstance(result, Result)
    first = result.report.suspects[0]
    assert (first.path, first.start_line <= 3 <= first.end_line) == ("feed/dates.py", True)
    assert result.gathered, "the evidence comes with it"
    jsonschema.validate(json.loads(result.model_dump_json()), result_schema())
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_it_is_the_result_of_the_command(repository: Path, tmp_path: Path) -> None:
    result = triage(repository, ISSUE, brain="rules", data_dir=tmp_path / "one")
    options = ("--repo", str(repository), "--text", ISSUE, "--brain", "rules", "--format", "json")
    printed = run_command(tmp_path, "run", *options, TRIAGE_DATA_DIR=str(tmp_path / "two"))
    assert json.loads(printed.stdout)["report"] == json.loads(result.model_dump_json())["report"]


def test_the_library_asks_no_question(repository: Path, tmp_path: Path) -> None:
    result = triage(repository, "It breaks", brain="rules", data_dir=tmp_path / "data")
    assert [exchange.answer for exchange in result.questions] == [None] * len(result.questions)
    assert result.questions


async def test_in_an_event_loop_it_runs_in_a_thread(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"asyncio\.to_thread"):
        triage(repository, ISSUE)
    result = await asyncio.to_thread(triage, repository, ISSUE, brain="rules", data_dir=tmp_path / "data")
    assert result.report.suspects[0].path == "feed/dates.py"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param({"rev": "nowhere"}, "nowhere", id="revision"),
        pytest.param({"issue": "  "}, "empty", id="issue"),
        pytest.param({"repository": "/no/such/folder"}, "/no/such/folder", id="repository"),
        pytest.param({"brain": "oracle"}, "TRIAGE_BRAIN: must be 'auto', 'llm' or 'rules'", id="brain"),
        pytest.param({"data_dir": "/proc/nowhere"}, "cannot write to /proc/nowhere", id="data-dir"),
    ],
)
def test_invalid_input_is_refused_with_a_reason(
    repository: Path, tmp_path: Path, arguments: dict[str, str], says: str
) -> None:
    given = {"repository": repository, "issue": ISSUE, "data_dir": tmp_path / "data", "brain": "rules"} | arguments
    with pytest.raises(UserError, match=says):
        triage(**given)  # type: ignore[arg-type]


PAGE = Path(__file__).parents[1] / "docs" / "python.md"
FIRST_CELL = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)


def test_the_programs_in_the_documentation_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TRIAGE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "path" / "to").mkdir(parents=True)
    repository.rename(tmp_path / "path" / "to" / "clone")
    programs = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    for program in programs:
        exec(program, {})
    printed = capsys.readouterr().out
    assert "feed/dates.py:" in printed
    assert "no-such-branch" in printed
    assert len(programs) == 2


def test_the_names_in_the_documentation_exist(repository: Path, tmp_path: Path) -> None:
    result = triage(repository, ISSUE, brain="rules", data_dir=tmp_path / "data")
    arguments, names = (FIRST_CELL.findall(part) for part in PAGE.read_text(encoding="utf-8").split("## The result"))
    assert [cell.strip("`") for cell in arguments] == list(inspect.signature(triage).parameters)
    fields = [name for cell in names for name in re.findall(r"`([\w.]+)`", cell)]
    assert len(fields) >= 13
    for name in fields:
        attrgetter(name)(result)


def test_all_public_names_exist() -> None:
    assert bot.__all__ == ["Result", "UserError", "triage"]
    assert set(bot.__all__) <= set(dir(bot))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        bot.nothing  # noqa: B018


def test_importing_the_package_imports_nothing_large() -> None:
    """`triage --help` imports it too."""
    code = "import sys, bot; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert "bot" in loaded.split()
    assert not {"pydantic", "langgraph", "numpy", "click", "nodes"} & set(loaded.split())


@pytest.mark.parametrize("language", ["de", "ja"])
def test_the_comment_is_in_the_language_and_the_facts_are_the_same(
    repository: Path, tmp_path: Path, language: Literal["de", "ja"]
) -> None:
    english = triage(repository, ISSUE, brain="rules", data_dir=tmp_path / "data").report
    report = triage(repository, ISSUE, brain="rules", data_dir=tmp_path / "data", language=language).report
    assert (report.language, report.facts, report.verdict) == (language, english.facts, english.verdict)
    assert exact(report.github_comment) == exact(english.github_comment)
    assert report.github_comment != english.github_comment
    options = ("--repo", str(repository), "--text", ISSUE, "--brain", "rules", "--language", language)
    printed = run_command(tmp_path, "run", *options, TRIAGE_DATA_DIR=str(tmp_path / "two"))
    assert printed.stdout.strip() == report.github_comment.strip()


def test_an_unknown_language_is_refused_with_those_that_exist(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="use en, de, zh, es, ja"):
        triage(repository, ISSUE, data_dir=tmp_path, language="fr")  # type: ignore[arg-type]
