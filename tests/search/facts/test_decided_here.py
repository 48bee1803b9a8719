"""An option of a report leads to the few conditions that test it, or else to the calls that read it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.engine import Engine
from tests.cli.process import triage
from tests.search.facts.finding import facts_of, of_kind, verify
from tests.support.repositories import make_repository

SENDER = """import log


def send(mail, options):
    log.note(options.dry_run)
    if options.dry_run:
        return None
    return mail.post()
"""
OPTIONS = """def parse(line):
    # --dry-run sends nothing
    return {"dry_run": "--dry-run" in line}
"""
LIMIT = 'import os\n\nLIMIT = int(os.environ.get("POST_LIMIT", 3))\n'
HELP = 'def usage():\n    return "set POST_LIMIT to a number"\n'
FILES = {"post/send.py": SENDER, "post/options.py": OPTIONS, "post/limit.py": LIMIT, "post/usage.py": HELP}
TESTED = "`--dry-run` is tested by this condition in `send`, and by no other in the project's own code."


@pytest.mark.parametrize(
    ("title", "body", "place", "says"),
    [
        pytest.param("Mail is sent", "I gave --dry-run and it was.", ("post/send.py", 6), TESTED, id="a-condition"),
    ],
)
def test_an_option_leads_to_what_it_decides(tmp_path: Path, title: str, body: str, place: tuple[str, int], says: str):
    (fact,) = of_kind(facts_of(tmp_path, FILES, title, body), "read_here")
    assert ((fact.path, fact.line), fact.says) == (place, says)
    assert (fact.strong, fact.unclaimed) == (True, True)


@pytest.mark.parametrize(
    ("files", "body"),
    [
        pytest.param(FILES, "I use a dry-run option.", id="without-its-hyphens"),
        pytest.param(
            {**FILES, "post/send.py": SENDER.replace("    if", "    # if")}, "It has --dry-run.", id="no-condition"
        ),
        pytest.param(FILES | {f"post/send{n}.py": SENDER for n in range(3)}, "It has --dry-run.", id="many-conditions"),
        pytest.param(
            {"a.py": "def f(x):\n    if x:  # the dry_run of it\n        pass\n"}, "It has --dry-run.", id="a-remark"
        ),
        pytest.param({"a.js": "if (x) send(dry_run)\n"}, "It has --dry-run.", id="what-it-guards"),
        pytest.param(
            {"a.sh": "x=$(send --not-match=1 --not-match=2)\n"}, "It has --not-match.", id="an-option-if-given"
        ),
        pytest.param({"a.py": "if x == 'no dry_run':\n    y = 1\n"}, "It has --dry-run.", id="a-longer-string"),
        pytest.param({"a.py": "y = 1 if x else dry_run\n"}, "It has --dry-run.", id="the-other-value"),
        pytest.param({"a.py": 'app.add_config_value("dry_run", 0)\n'}, "It has --dry-run.", id="a-declaring-call"),
        pytest.param({"a.py": 'dry = Prefix("dry_run", 3)\n'}, "It has --dry-run.", id="a-word-that-begins-alike"),
        pytest.param({"a.py": 'dry = target("dry_run", 3)\n'}, "It has --dry-run.", id="a-word-that-ends-alike"),
        pytest.param(
            {"a.py": 'x = config.get("dry_run")\nsend(config.dry_run)\n'}, "It has --dry-run.", id="attribute"
        ),
        pytest.param({"a.py": "def f(x):\n    if dry_run(x):\n        pass\n"}, "It has --dry-run.", id="a-call"),
        pytest.param(
            {"a.go": 'package a\n\nfunc f() {\n\tif at := find("dry_run", 1); at > 0 {\n\t\tg()\n\t}\n}\n'},
            "It has --dry-run.",
            id="what-precedes-the-condition",
        ),
        pytest.param(
            {"pyproject.toml": '[project]\nname = "dry-run"\n', "a.py": "if dry_run:\n    pass\n"},
            "The project is `dry-run`.",
            id="the-projects-own-name",
        ),
        pytest.param(
            {"a.go": "package a\n\nfunc f(x bool) {\n\tstrict := x\n\tif strict {\n\t\tg()\n\t}\n}\n"},
            "It has --strict=false.",
            id="a-variable-named-as-an-option-of-one-word",
        ),
    ],
)
def test_other_words_and_places_are_none(tmp_path: Path, files: dict[str, str], body: str):
    assert [fact for fact in of_kind(facts_of(tmp_path, files, "Mail is sent", body), "read_here") if fact.strong] == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "if x and not options.dry_run:  # as asked"),
        ("a.js", "const sent = options.dryRun ? 0 : send()"),
        ("a.go", "\tif opts.dryRun {"),
        ("a.go", "\tif at := find(1); opts.dryRun && at > 0 {"),
        ("A.java", '    } else if ("--dry-run".equals(option)) {'),
        ("a.rb", "send unless dry_run"),
        ("a.lua", "if dry_run then send() end"),
    ],
)
def test_conditions_of_several_languages(tmp_path: Path, path: str, line: str):
    facts = of_kind(facts_of(tmp_path, {path: f"{line}\n"}, "Mail is sent", "I gave --dry-run."), "read_here")
    assert [fact.line for fact in facts if "tested by this condition" in fact.says] == [1]


def test_two_conditions_are_both_found(tmp_path: Path):
    files = FILES | {"post/keep.py": SENDER.replace("send", "keep")}
    facts = of_kind(facts_of(tmp_path, files, "Mail is sent", "I gave --dry-run and it was."), "read_here")
    assert {(fact.path, fact.count, fact.several) for fact in facts} == {
        ("post/send.py", 2, True),
        ("post/keep.py", 2, True),
    }


ALONE = [
    pytest.param("a.py", "class Mail:\n    retry_count: int = 3\n", 2, id="field"),
    pytest.param("a.ts", "export const options = {\n  retryCount: 3,\n};\n", 2, id="entry"),
    pytest.param("a.py", "class Mail:\n    retry_count = 3\n\nget = Mail.getRetryCount\n", None, id="in-another"),
    pytest.param("a.py", "send(retry_count=3)\n", None, id="only-given"),
    pytest.param("a.go", 'type Mail struct {\n\tTries int `yaml:"retry_count"`\n}\n', None, id="of-another-field"),
]  # fmt: skip


def test_the_check_counts_again(tmp_path: Path):
    (fact,) = of_kind(facts_of(tmp_path, FILES, "Mail is sent", "I gave --dry-run and it was."), "read_here")
    engine = Engine(tmp_path)
    sha, text = engine.commit(), "Mail is sent\nI gave --dry-run and it was."
    assert verify(fact, engine.repository, sha, text) is None
    assert verify(replace(fact, count=2), engine.repository, sha, text) == "another number of lines has it"
    moved = replace(fact, line=5, text="    log.note(options.dry_run)")
    assert verify(moved, engine.repository, sha, text) == "the line does not test the option"


def test_a_report_leads_with_the_condition(tmp_path: Path):
    make_repository(tmp_path / "post", FILES)
    options = ("--repo", str(tmp_path / "post"), "--brain", "rules", "--format", "json", "--issue", "-")
    done = triage(
        tmp_path, "run", *options, stdin=b"Mail is sent\n\nI gave --dry-run and all the mail was sent anyway.\n"
    )
    report = json.loads(done.stdout)["report"]
    assert report["facts"][report["headline"]]["says"] == TESTED
    # The search is sure of a single file; an option says nothing about the function.
    assert report["statement"] == "claim"
    assert "- The fix is probably in this file.\n" in report["github_comment"]


LUA = """local trigger = {}
function trigger.show(char)
  if trigger.is_open()
    and not config.show_on_key
  then
    return nil
  elseif config.show_on_type then
    return char
  end
end
"""


@pytest.mark.parametrize(("name", "line"), [("show_on_key", 4), ("show_on_type", 7)])
def test_a_name_of_the_title_leads_to_a_condition_over_lines(tmp_path: Path, name: str, line: int):
    (fact,) = of_kind(facts_of(tmp_path, {"trigger.lua": LUA}, f"setting {name} to false shows nothing"), "read_here")
    assert (fact.line, fact.count, fact.strong) == (line, 1, True)


def test_the_name_of_a_file_is_no_option(tmp_path: Path):
    code = "def run(app):\n    if app.zone_panel.open:\n        app.draw()\n"
    for path, found in (("app/zone_panel.py", []), ("app/zone_list.py", ["zone_panel"])):
        facts = facts_of(tmp_path / path[-7:-3], {"app/run.py": code, path: "KIND = 1\n"}, "zone_panel stops")
        assert [fact.words for fact in of_kind(facts, "read_here")] == found
