"""The pages on permissions, tables, commands and settings match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from bot.cli.group import cli
from bot.settings.environment import Settings
from tests.cli.process import ROOT
from tests.store.test_repository_data import tables
from tests.support.tried import marked

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def rows(page: str) -> list[list[str]]:
    """Return the cells of all rows of all tables."""
    lines = [line for line in (DOCS / page).read_text().splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_decision_has_its_number_a_date_and_a_status() -> None:
    _, *entries = (DOCS / "decisions.md").read_text().split("\n## ")
    heads = [(entry.split(".")[0], entry.splitlines()[2]) for entry in entries]
    assert [number for number, _ in heads] == [str(number) for number in range(1, len(entries) + 1)]
    status = re.compile(r"\*\d{4}-\d\d-\d\d · (?:in force|replaced by \d+)\*")
    assert [line for _, line in heads if not status.fullmatch(line)] == []


def test_permissions_and_events_are_the_manifests() -> None:
    manifest = yaml.safe_load((ROOT / "app.yml").read_text())
    cells = rows("permissions.md")
    permissions = {row[0].strip("`"): row[1] for row in cells if len(row) == 3 and row[0].startswith("`")}
    events = [row[0].strip("`") for row in cells if len(row) == 2 and row[0].startswith("`")]
    assert permissions == manifest["default_permissions"]
    assert events == manifest["default_events"]
    assert all(row[-1] for row in cells)


def test_every_table_is_documented() -> None:
    documented = {name for row in rows("privacy.md") if len(row) == 3 for name in re.findall(r"`(\w+)`", row[0])}
    assert tables() <= documented
    assert documented - tables() <= {"checkpoints"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_settings_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text()
    commands = set(re.findall(r"(?:^|`)triage ([a-z]+)", text, re.M))
    assert commands - set(cli.list_commands(None)) == set()  # type: ignore[arg-type]
    named = set(re.findall(r"`(TRIAGE_[A-Z_]+[A-Z])[`= ]", text))
    assert {name.lower() for name in named} - set(Settings.model_fields) == set()


def test_every_file_that_tries_attacks_is_in_the_table_of_security() -> None:
    documented = {name for row in rows("security.md") if len(row) == 4 for name in re.findall(r"`([\w/.]+)`", row[3])}
    assert documented == {path.relative_to(ROOT / "tests").as_posix() for path in marked()}
    counts = [(row[1] or row[2]) for row in rows("security.md") if len(row) == 4 and "`" in row[3]]
    assert all(re.fullmatch(r"[1-9]\d?|([1-9],\d|[1-9])00\+", count) for count in counts)


def folders() -> set[str]:
    """Return every folder of the code that contains a file."""
    roots = ("bot", "nodes", "prompts")
    files = (path for root in roots for path in (ROOT / root).rglob("*") if path.is_file())
    kept = (path.parent.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts)
    return {folder for folder in kept if not re.search(r"/\.|^\.", folder)}


def test_architecture_names_every_folder_and_the_glossary_only_paths_that_exist() -> None:
    assert set(re.findall(r"^- `([\w/]+)`: ", (DOCS / "architecture.md").read_text(), re.MULTILINE)) == folders()
    for page in ("architecture.md", "glossary.md"):
        paths = re.findall(r"`((?:bot|nodes|prompts|tests|benchmarks)/[\w/.]+)`", (DOCS / page).read_text())
        assert [path for path in paths if not (ROOT / path).exists()] == []


def test_the_readme_of_the_benchmarks_lists_each_program_and_no_other() -> None:
    table = (ROOT / "benchmarks" / "README.md").read_text()
    programs = {
        path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
        for path in (ROOT / "benchmarks").rglob("*.py")
        if "__main__" in path.read_text()
    }
    assert set(re.findall(r"^\| `python -m ([\w.]+)`", table, re.M)) == programs - {"benchmarks.chaos.attackers"}


def test_every_page_has_a_title_and_a_place_in_the_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text()
    for page in PAGES:
        # Front matter keeps the archive of decisions out of the search.
        assert re.match(r"(?:---\n(?:.+\n){1,9}---\n\n)?# ", page.read_text()), page
    assert all((DOCS / name).exists() for name in re.findall(r"([\w-]+\.md)", menu))
