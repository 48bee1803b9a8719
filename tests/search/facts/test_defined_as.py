"""Words of the title lead to the only type whose name consists of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.engine import Engine
from tests.search.facts.finding import facts_of, of_kind, verify

BACKUP = """class Backup:
    def backup_key(self):
        return self.key

    def restore(self):
        self.read()


def write(key):
    pass


class CopyEulaView(Backup):
    pass


class BackupEncrypted(Backup):
    pass
"""
SHAPE = "export interface BackupEncrypted {\n  key: string;\n}\n"


@pytest.mark.parametrize(
    ("files", "title", "line"),
    [
        pytest.param({"app/backup.py": BACKUP}, "Encrypted copy lost: backup not possible", 17, id="words-apart"),
        pytest.param({"app/backup.py": BACKUP}, "EULA of the copy lost", 13, id="without-the-role"),
        pytest.param({"app/backup.py": BACKUP}, "The key of a backup is lost", None, id="a-function"),
        pytest.param({"app/backup.py": BACKUP}, "The backup is not possible", None, id="a-word-is-missing"),
        pytest.param({"app/backup.py": BACKUP, "old.py": BACKUP}, "Encrypted copy lost: backup", None, id="two-of-it"),
        pytest.param({"app/backup.py": BACKUP}, "`BackupEncrypted`: encrypted backup lost", None, id="is-named"),
        pytest.param({"backup.ts": SHAPE}, "Encrypted copy lost: backup not possible", None, id="only-names-members"),
    ],
)
def test_words_of_the_title_lead_to_the_only_definition(
    tmp_path: Path, files: dict[str, str], title: str, line: int | None
):
    found = of_kind(facts_of(tmp_path, files, title, "I do not know why."), "quoted_here")
    assert [fact.line for fact in found if fact.says.endswith(" defines.")] == ([line] if line else [])
    assert all(fact.strong and fact.unclaimed for fact in found)


def test_a_definition_in_the_third_file_is_not_stated(tmp_path: Path):
    files = {"app/backup.py": BACKUP, "app/copy.py": "copy = 1\n", "app/lost.py": "lost = 1\n"}
    found = facts_of(
        tmp_path, files, "Encrypted copy lost: backup", first=("app/copy.py", "app/lost.py", "app/backup.py")
    )
    assert not [fact for fact in found if fact.says.endswith(" defines.")]


def test_what_a_fact_says_is_checked_again(tmp_path: Path):
    title = "Encrypted copy lost: backup not possible"
    (fact,) = of_kind(facts_of(tmp_path, {"app/backup.py": BACKUP}, title), "quoted_here")
    engine = Engine(tmp_path)
    wrong = [
        replace(fact, says=fact.says.replace("backup … Encrypted", "Encrypted … backup")),
        replace(fact, says=fact.says.replace("`BackupEncrypted`", "`CopyEulaView`")),
        replace(fact, line=13, text="class CopyEulaView(Backup):"),
    ]
    for one in (fact, *wrong):
        fault = verify(one, engine.repository, engine.commit(), title)
        assert (fault is None) == (one is fact), one
    assert verify(fact, engine.repository, engine.commit(), "Copy lost: backup not possible")


def test_words_of_an_error_whose_frame_is_found_lead_nowhere(tmp_path: Path):
    files = {
        "lib/tokens.ex": "defmodule Tokens do\n  def start([x]) do\n    x\n  end\nend\n",
        "lib/report.ex": "defmodule Report do\n  def show(kind) do\n    kind == :function_clause && 1\n  end\nend\n",
    }
    title = "no function clause matching in Tokens.start"
    trace = f"** (FunctionClauseError) {title}/1\n    lib/tokens.ex:9: Tokens.start([])"
    facts = facts_of(tmp_path, files, title, f"```\n{trace}\n```", first=("lib/tokens.ex", "lib/report.ex"))
    assert [fact.path for fact in of_kind(facts, "raised_here")] == ["lib/tokens.ex"]
    assert of_kind(facts, "quoted_here") == []


WINDOW = '<Window>\n  <Button\n    x:Name="SettingsButton"\n    Id="SettingsButton"/>\n</Window>\n'
LAYOUT = '<Button\n  android:id="@+id/order_by_date_button"/>\n'
LIST = "class List {\n  void show() {\n    find(R.id.order_by_date_button);\n  }\n}\n"
PAGE = '<button id="resetBtn">\n<script>\nfind("resetBtn").hide();\nfind("resetBtn").addEventListener("click", f);\n'
TOOLS = "export function bar() {\n  return <Bar id='btn-save-zone' />;\n}\n"


@pytest.mark.parametrize("name", ["ZoneMap", "ZoneMapController"])
def test_the_name_of_the_project_leads_nowhere(tmp_path: Path, name: str):
    files = {"src/draw.ts": f"export class {name} {{\n  draw() {{\n    return 1;\n  }}\n}}\n"}
    for folder, more in (("a", {}), ("b", {"package.json": '{"name": "zone-map"}\n'})):
        facts = facts_of(tmp_path / folder, files | more, "Zone map reloads after the update")
        assert any(f" are in the name `{name}`" in fact.says for fact in facts) is (not more)


def test_below_a_trace_of_other_code_words_lead_nowhere(tmp_path: Path):
    files = {"src/draw.ts": "export class ZoneMap {\n  draw() {\n    return 1;\n  }\n}\n"}
    trace = "```\nError: none\n    at run (/srv/node_modules/other/lib/run.js:4:9)\n```"
    facts = facts_of(tmp_path, files, "Zone map reloads after the update", trace)
    assert not any(" are in the name `ZoneMap`" in fact.says for fact in facts)
