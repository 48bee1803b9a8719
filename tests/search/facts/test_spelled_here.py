"""Words that spell a name of the code lead to the line that decides by it, an environment variable to its setting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.engine import Engine
from tests.search.facts.finding import facts_of, of_kind, verify

STATE = "export const state = {\n  showMenuBarIcon: true,\n};\n"
BAR = """import { state } from './state';

export function setUp() {
  if (!state.showMenuBarIcon) return;
  install(state);
}
"""
FILES = {"src/state.ts": STATE, "src/bar.ts": BAR}
TITLE = "Show menu bar icon is only effective after a restart"


@pytest.mark.parametrize(
    ("files", "title", "place"),
    [
        pytest.param(FILES, TITLE, ("src/bar.ts", 4), id="a-condition-before-the-declaration"),
        pytest.param(FILES, "The menu bar icon stays", ("src/bar.ts", 4), id="without-the-prefix-of-the-name"),
        pytest.param(
            {"app/jobs.py": "def run(job):\n    if job.retry_failed_jobs:\n        job.start()\n"},
            "Retry failed job does nothing",
            ("app/jobs.py", 2),
            id="underscores-and-a-plural",
        ),
        pytest.param(
            {"jobs.js": "const jobs = {\n  failedJobSettings: 3,\n};\n"},
            "The failed job settings are not stored",
            ("jobs.js", 2),
            id="no-underscores-and-a-plural",
        ),
        pytest.param(
            {"Zone.java": "class Zone {\n  static final int MAX_ZONE_COUNT = 3;\n}\n"},
            "Max zone count is wrong",
            ("Zone.java", 2),
            id="capitals",
        ),
        pytest.param(
            {"api/pool.py": "def fill(client):\n    client.create_pool(3)\n"},
            "ClientError when calling the CreatePool operation",
            ("api/pool.py", 2),
            id="another-convention",
        ),
        pytest.param(
            {
                "a/bar.cs": "class Bar {\n  void Set() {\n    UseDarkMode(1);\n  }\n}\n",
                "b/interface.cs": "class Interface {\n  void Enable() {\n    UseDarkMode(2);\n  }\n}\n",
            },
            "Enable UseDarkmode in the interface",
            ("b/interface.cs", 3),
            id="another-capital",
        ),
    ],
)
def test_words_of_the_title_lead_to_a_name(tmp_path: Path, files: dict[str, str], title: str, place: tuple[str, int]):
    (fact,) = of_kind(facts_of(tmp_path, files, title), "quoted_here")
    assert ((fact.path, fact.line), fact.strong, fact.unclaimed) == (place, True, True)
    assert fact.says.startswith("The words “")


@pytest.mark.parametrize(
    ("files", "title"),
    [
        pytest.param({"a.py": "# menu_bar_icon is shown\nx = 1\n"}, TITLE, id="only-in-a-comment"),
        pytest.param({f"{n}.py": f"x{n} = menu_bar_icon\n" for n in range(6)}, TITLE, id="in-many-lines"),
        pytest.param({"a.py": "x = run_it\n"}, "Run it now", id="few-letters"),
        pytest.param({"a.py": "x = code_of_the_menus\n"}, "Code of the menu", id="words-that-say-nothing"),
        pytest.param({"a.py": "x = my_menu_bar_icons_on\n"}, TITLE, id="part-of-a-longer-name"),
        pytest.param({"a.py": "index_error = 1\n"}, "It fails with an IndexError", id="name-of-an-error"),
        pytest.param({f"{n}.py": f"x{n} = pool_size\n" for n in range(6)}, "PoolSize is 0", id="too-many-lines"),
        pytest.param({"a.py": "x = pool_size\n", "b.py": "y = PoolSize\n"}, "PoolSize is 0", id="the-name-itself"),
        pytest.param({"a.py": "x = Poolsize\n", "b.py": "y = POOLSIZE\n"}, "PoolSize is 0", id="two-other-names"),
    ],
)
def test_other_words_lead_nowhere(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "quoted_here") == []


@pytest.mark.parametrize(("code", "line"), [("new Pool({ poolSize: NaN })", 2), ("new Pool(3)", None)])
def test_short_words_spell_a_name_that_the_code_of_the_report_has(tmp_path: Path, code: str, line: int | None):
    files = {"src/pool.js": "export function make(options) {\n  return fill(options.poolSize)\n}\n"}
    facts = facts_of(tmp_path, files, "The pool size is lost", f"```js\n{code}\n```")
    assert [fact.line for fact in of_kind(facts, "quoted_here") if "spell `poolSize`" in fact.says] == [line] * bool(
        line
    )


BACKUP = """class Backup:
    def do_backup_encrypted(self, key):
        return self.write(key)

    def get_backup_key(self):
        return self.key

    def restore(self):
        self.read()


def write(key):
    pass


class CopyEulaView(Backup):
    pass
"""
SHAPE = "export interface BackupEncrypted {\n  key: string;\n}\n"


@pytest.mark.parametrize(
    ("files", "title", "line"),
    [
        pytest.param({"app/backup.py": BACKUP}, "Encrypted copy lost: backup not possible", 2, id="words-apart"),
        pytest.param({"app/backup.py": BACKUP}, "EULA of the copy lost", 16, id="without-the-role"),
        pytest.param({"app/backup.py": BACKUP}, "The key of a backup is lost", None, id="only-reads-a-value"),
        pytest.param({"app/backup.py": BACKUP}, "The backup is not possible", None, id="a-word-is-missing"),
        pytest.param({"app/backup.py": BACKUP, "old.py": BACKUP}, "Encrypted copy lost: backup", None, id="two-of-it"),
        pytest.param({"app/backup.py": BACKUP}, "`do_backup_encrypted`: encrypted backup lost", None, id="is-named"),
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
    (fact,) = of_kind(facts_of(tmp_path, FILES, TITLE), "quoted_here")
    engine = Engine(tmp_path)
    wrong = [
        replace(fact, count=1, says=fact.says.replace("one of 2 lines", "and on no other line")),
        replace(fact, says=fact.says.replace("`showMenuBarIcon`", "`state`")),
        replace(fact, line=5, text="  install(state);"),
    ]
    for one in (fact, *wrong):
        fault = verify(one, engine.repository, engine.commit(), TITLE)
        assert (fault is None) == (one is fact), one


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
