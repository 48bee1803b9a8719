"""Files that the prose of a report names by path."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from nodes.search.facts.inquiry import read_issue
from nodes.search.facts.levels import statement
from nodes.search.facts.names.named import names
from nodes.search.types import Query
from tests.search.facts.finding import facts_at, facts_of, of_kind
from tests.support.repositories import git, make_repository

FILES = {
    "src/zones/parse.py": "def parse(text):\n    return text\n",
    "src/zones/load.js": "export function load(x) {\n  return x\n}\n",
    "src/zones/scan.go": "package zones\n\nfunc Scan(x int) int {\n\treturn x\n}\n",
    "src/zones/walk.rs": "pub fn walk(x: u8) -> u8 {\n    x\n}\n",
    "src/zones/Form.java": "class Form {\n  int form() {\n    return 1;\n  }\n}\n",
    "src/zones/table.c": "int table(int x) {\n  return x;\n}\n",
    "other/zones/table.c": "int table2(int x) {\n  return x;\n}\n",
}


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        pytest.param("The fault is in src/zones/parse.py I think.", ["src/zones/parse.py"], id="python"),
        pytest.param("See `zones/load.js`.", ["src/zones/load.js"], id="javascript"),
        pytest.param("(in zones/scan.go)", ["src/zones/scan.go"], id="go"),
        pytest.param("./src/zones/walk.rs is wrong", ["src/zones/walk.rs"], id="rust"),
        pytest.param("**src/zones/Form.java**", ["src/zones/Form.java"], id="java"),
        pytest.param("src/zones/table.c", ["src/zones/table.c"], id="c"),
        pytest.param("zones/table.c", [], id="one-of-two"),
        pytest.param("parse.py", [], id="without-a-folder"),
        pytest.param("my/own/src/zones/parse.pyc and xsrc/zones/parse.py", [], id="another-path"),
        pytest.param("https://example.org/src/zones/parse.py", [], id="inside-an-address"),
        pytest.param("```\nsrc/zones/parse.py\n```", [], id="in-a-block"),
        pytest.param("src/zones/parse.py src/zones/load.js src/zones/scan.go src/zones/walk.rs", [], id="a-list"),
        pytest.param("a/" * 30_000 + "parse.py", [], id="hostile"),
    ],
)
def test_a_file_that_the_prose_names(tmp_path: Path, body: str, paths: list[str]):
    # One file alone: a language of a seventh of the files would not be the project's own.
    kept = {path: FILES[path] for path in paths} or FILES
    found = of_kind(facts_of(tmp_path, kept, "It fails", body), "named_here")
    assert [fact.path for fact in found] == paths


@pytest.mark.parametrize(
    ("title", "body", "found"),
    [
        pytest.param("uniq changes its argument", "```\nuniq([1])\n```", ["uniq"], id="called-in-code"),
        pytest.param("uniq changes its argument", "I use `uniq` here.", ["uniq"], id="in-backticks"),
        pytest.param("uniq changes its argument", "The word uniq alone.", [], id="a-word"),
        pytest.param("print changes its argument", "```\nprint(1)\n```", [], id="built-in"),
    ],
)
def test_a_word_of_the_title_is_a_name_where_code_calls_it(title: str, body: str, found: list[str]):
    named = names(read_issue(Query(title, body)))
    assert [name.last for name in named if name.in_title] == found


def test_an_exception_class_is_equivalent_to_its_operator(tmp_path: Path):
    files = {"approx.py": "class Approx:\n    def near(self, x):\n        return x\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "Approx.operator_call is not const"), "defined_once")
    assert (found.words, found.symbol, found.in_title) == ("Approx", "Approx", True)


def test_a_name_in_code_alone_supports_the_first_file_and_never_leads(tmp_path: Path):
    files = {"vote.py": "class VotingEstimator:\n    def fit(self, x):\n        return x\n", "b.py": "x = 1\n"}
    body = "Voting with weights fails at fit.\n```\nVotingEstimator().fit(1)\n```"
    found = of_kind(facts_of(tmp_path, files, "Voting estimator fails at fit", body), "defined_once")
    assert [(fact.words, fact.path, fact.strong) for fact in found][:1] == [("VotingEstimator", "vote.py", False)]


STEMS = {
    "python": "zones/grpclb.py",
    "javascript": "src/plugin/grpclb/index.js",
    "go": "balancer/grpclb/grpclb.go",
    "rust": "src/grpclb/mod.rs",
    "java": "src/main/java/Grpclb.java",
    "c": "src/grpclb.c",
}
PLAIN = {"py": "x = 1\n", "js": "x = 1\n", "go": "package a\n", "rs": "const X: u8 = 1;\n", "java": "", "c": "int x;\n"}


@pytest.mark.parametrize("language", STEMS)
def test_the_prefix_of_a_title_that_names_one_file(tmp_path: Path, language: str):
    path = STEMS[language]
    content = PLAIN[path.rpartition(".")[2]]
    files = {path: content or "class Zone {\n}\n", f"tests/{path.rpartition('/')[2]}": content or "class Zone {\n}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "grpclb: the drop index is lost"), "named_here")
    assert (found.path, found.words, found.in_title) == (path, "grpclb", True)
    assert found.says.lower() == f"the title may mean `{path.lower()}`, the source file named `grpclb`."


@pytest.mark.parametrize(
    ("kind", "name", "strong"),
    [("class", "ZoneReader", True), ("class", "ZoneException", False), ("interface", "IZoneReader", False)],
)
def test_a_class_of_errors_or_an_interface_in_the_title_does_not_lead(
    tmp_path: Path, kind: str, name: str, *, strong: bool
):
    files = {f"src/{name}.java": f"public {kind} {name} {{\n}}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, f"{name} for correct zones"), "named_here")
    assert found.strong is strong


@pytest.mark.parametrize(
    ("files", "title"),
    [
        pytest.param({"a/grpclb.py": "x = 1\n", "b/grpclb.py": "x = 1\n"}, "grpclb: it is lost", id="two-files"),
        pytest.param({"grpclb.py": "x = 1\n"}, "grpclbs: they are lost", id="another-word"),
        pytest.param({"grpclb.py": "x = 1\n"}, "See https://example.org/grpclb: now", id="an-address"),
        pytest.param(
            {"grpclb.py": "x = 1\n", "drop_index.py": "x = 1\n"}, "grpclb: it loses the drop_index", id="two-words"
        ),
        pytest.param({"error.py": "x = 1\n"}, "error: it is shown", id="a-common-word"),
        pytest.param({"a.py": "x = 1\n", "docs/grpclb.py": "x = 1\n"}, "grpclb: it is lost", id="documentation"),
        pytest.param(
            {"a.py": "def grpclb():\n    pass\n", "grpclb.py": "x = 1\n"}, "grpclb: it is lost", id="a-definition"
        ),
        pytest.param({"grpclb.py": "x = 1\n"}, "The grpclb loses its index", id="a-plain-word"),
        pytest.param({"grpclb.py": "x = 1\n"}, "grpclb/" * 20_000, id="hostile"),
        pytest.param({"grpclb.py": "x = 1\n"}, "[" * 20_000 + "grpclb:", id="hostile-brackets"),
    ],
)
def test_an_ambiguous_word_names_no_file(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "named_here") == []


@pytest.mark.parametrize("title", ["dropIndex loses an entry", "[Bug] The dropIndex is lost", "Zones of dropIndex"])
def test_a_compound_word_of_the_title_that_names_one_file(tmp_path: Path, title: str):
    files = {"src/plugin/dropIndex/index.js": "export default (x) => x\n", "src/index.js": "export default 1\n"}
    (found,) = of_kind(facts_of(tmp_path, files, title), "named_here")
    assert (found.path, found.words) == ("src/plugin/dropIndex/index.js", "dropIndex")


WORDS = {
    "python": ("jobs/run_job.py", "def start(x):\n    return x\n"),
    "javascript": ("src/plugins/RunJob/RunJob.js", "export function start(x) {\n  return x\n}\n"),
    "typescript": ("src/run-job.ts", "export function start(x: number) {\n  return x\n}\n"),
    "go": ("jobs/run_job.go", "package jobs\n\nfunc Start(x int) int {\n\treturn x\n}\n"),
    "rust": ("src/run_job.rs", "pub fn start(x: u8) -> u8 {\n    x\n}\n"),
    "java": ("src/main/java/RunJob.java", "class RunJob {\n  int start() {\n    return 1;\n  }\n}\n"),
    "c": ("src/run_job.c", "int start(int x) {\n  return x;\n}\n"),
}


@pytest.mark.parametrize("language", WORDS)
def test_words_side_by_side_that_spell_the_name_of_one_file(tmp_path: Path, language: str):
    path, content = WORDS[language]
    inquiry = {path: content, f"tests/{path.rpartition('/')[2]}": content}
    (found,) = of_kind(facts_of(tmp_path, inquiry, "Run job fails silently", first=[path]), "named_here")
    assert (found.path, found.words, found.strong, found.in_title) == (path, "Run job", True, True)
    assert found.says == f"The title may mean `{path}`, the source file named `{PurePosixPath(path).stem}`."


@pytest.mark.parametrize(
    ("files", "title"),
    [
        pytest.param({"run.py": "x = 1\n", "job.py": "x = 1\n"}, "Run job fails", id="two-files"),
        pytest.param({"a/run_job.py": "x = 1\n", "b/run_job.py": "x = 1\n"}, "Run job fails", id="the-same-name-twice"),
        pytest.param({"runjob.py": "x = 1\n"}, "Run job fails", id="no-compound-name"),
        pytest.param({"run_job.py": "x = 1\n"}, "Run the job", id="not-side-by-side"),
        pytest.param({"run_job.py": "x = 1\n"}, "See https://example.org/run job", id="in-an-address"),
        pytest.param({"run_job.py": "x = 1\n"}, "run " * 20_000, id="hostile"),
    ],
)
def test_words_that_name_no_single_file(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title, first=list(files)), "named_here") == []


def test_words_side_by_side_are_strong_on_the_first_file_alone(tmp_path: Path):
    files = {"run_job.py": "def start(x):\n    return x\n", "other.py": "def stop(x):\n    return x\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "Run job fails", first=["other.py", "run_job.py"]), "named_here")
    assert (found.path, found.strong) == ("run_job.py", False)


def test_an_include_that_is_not_found_names_no_file_of_another_folder(tmp_path: Path):
    files = {"src/zones/read.h": "int zone;\n", "boat/boat.h": 'int a;\n#include "zones/read.h"\n'}
    for folder, text, count in (("a", "zones/read.h: No such file or directory", 0), ("b", "see zones/read.h", 1)):
        facts = facts_of(tmp_path / folder, files, "It does not compile", f"boat/boat.h:2:10: fatal error: {text}")
        assert sum(fact.path == "src/zones/read.h" for fact in facts) == count


def test_the_error_of_a_log_in_json_precedes_its_warning(tmp_path: Path):
    files = {
        "up/store.go": "package up\n\nfunc put() {\n\tagain()\n}\n",
        "up/work.go": "package up\n\nfunc run() {\n\tflush()\n}\n",
    }
    line = (
        '{{"time":"2026-01-11T19:24:40.731200Z","level":"{}","source":{{"file":"/ci/up/{}.go","line":4}},"msg":"{}"}}'
    )
    body = "\n".join((line.format("WARN", "store", "put again"), line.format("ERROR", "work", "flush failed")))
    found = of_kind(facts_of(tmp_path, files, "It vanishes", body, first=list(files)), "named_here")
    assert [(fact.path, fact.strong) for fact in found] == [("up/work.go", True), ("up/store.go", False)]


def test_words_of_the_title_that_spell_a_type_are_no_fact(tmp_path: Path):
    files = {"jobs.py": "class DropIndex:\n    x = 1\n"}
    facts = facts_of(tmp_path, files, "Drop index loses an entry", first=["jobs.py"])
    assert of_kind(facts, "named_here", "quoted_here") == []


def test_a_part_of_a_dotted_name_that_names_one_file(tmp_path: Path):
    files = {"src/boolean_mask.py": "def apply(x):\n    return x\n", "src/other.py": "x = 1\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "pkg.nd.boolean_mask loses its gradient"), "named_here")
    assert (found.words, found.path, found.strong) == ("boolean_mask", "src/boolean_mask.py", True)


def test_a_name_in_the_title_may_be_defined_in_the_file_that_it_names(tmp_path: Path):
    content = "class DropIndex:\n    def start(self, x):\n        return x\n"
    found = of_kind(facts_of(tmp_path, {"drop_index.py": content, "b.py": "x = 1\n"}, "DropIndex fails"), "named_here")
    assert [(fact.path, fact.strong) for fact in found] == [("drop_index.py", True)]
    elsewhere = {"drop_index.py": "x = 1\n", "b.py": content}
    assert of_kind(facts_of(tmp_path / "b", elsewhere, "DropIndex fails"), "named_here") == []


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        pytest.param(["zones/__init__.py"], ["zones/__init__.py"], id="alone-in-its-folder"),
        pytest.param(["zones/__init__.py", "zones/parse.py"], [], id="one-of-a-package"),
        pytest.param(["zones/__init__.py", "zones/deep/parse.py"], [], id="with-a-folder-below"),
        pytest.param(["zones/__init__.py", "zones/parse.py", "old/zones.py"], ["old/zones.py"], id="another-file"),
    ],
)
def test_the_name_of_a_package_of_several_files_names_none_of_them(tmp_path: Path, files: list[str], paths: list[str]):
    content = {path: f"def f{at}(x):\n    return x\n" for at, path in enumerate([*files, "other/walk.py"])}
    found = of_kind(facts_of(tmp_path, content, "zones: it fails", "It fails."), "named_here")
    assert [(fact.path, fact.strong) for fact in found] == [(path, True) for path in paths]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(
            "Null check operator used on a null value\n\nPlease fix line number 3 of view_state.dart.",
            "`show` uses `_view`; the error says that this was `null`.",
            id="an-error-that-fits",
        ),
        pytest.param(
            "```\n/home/me/app/lib/view_state.dart:3:5: error: the value is of no use here\n```",
            "The report has “error: the value is of no use here” for this line of `show`.",
            id="the-message-of-a-tool",
        ),
        pytest.param(
            "```\n/home/me/app/lib/view_state.dart:3:\nwarning: the value is of no use here\n```",
            "The report has “warning: the value is of no use here” for this line of `show`.",
            id="the-message-below",
        ),
        pytest.param("See lib/view_state.dart:3.", "The report names this line of `show`.", id="no-message"),
    ],
)
def test_the_sentence_about_a_named_line(tmp_path: Path, body: str, says: str):
    files = {"lib/view_state.dart": "void show() {\n  try {\n    _view!.error = 1;\n  }\n}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", body), "named_here")
    assert (found.line, found.says) == (3, says)


def test_a_path_may_begin_with_the_folder_of_the_clone(tmp_path: Path):
    files = {"html/zones/form.py": "def show():\n    return 1\n"}
    (found,) = of_kind(facts_of(tmp_path / "WeZones", files, "Bug em WeZones/html/zones/form.py"), "named_here")
    assert (found.path, found.words) == ("html/zones/form.py", "html/zones/form.py")


def test_a_named_line_that_throws_says_what(tmp_path: Path):
    files = {"lib/sync.ts": "export function sync(data) {\n  if (!data)\n    throw new DataError(data);\n}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", "e (file:///app/lib/sync.ts:3:14)ie"), "named_here")
    assert found.says == "`sync` raises `DataError` on this line."


def test_the_place_of_the_error_comes_first_among_the_lines_of_a_log(tmp_path: Path):
    files = {f"jobs/step_{n}.lua": "local x = 1\nrun(x)\nreturn x\n" for n in range(12)}
    lines = [f"10:00:{n:02} level=info caller=jobs/step_{n}.lua:2 msg=start" for n in range(11)]
    body = "\n".join(("```", *lines * 27, "10:01:00 level=error caller=jobs/step_11.lua:3 msg=stop", "```"))
    found = of_kind(facts_of(tmp_path, files, "It fails", body), "named_here")
    assert found[0].path == "jobs/step_11.lua"


def test_a_line_that_caught_the_error_of_a_trace_supports_no_claim(tmp_path: Path):
    files = {
        "zones/caller.py": "def run(x):\n    # Calls back.\n    return x()\n",
        "zones/io.py": "def load():\n    return 1 / zero\n",
    }
    trace = (
        'Traceback (most recent call last):\n  File "zones/caller.py", line 3, in run\n    return x()\n'
        '  File "zones/io.py", line 2, in load\n    return 1 / zero\nZeroDivisionError: division by zero\n'
    )
    for body, unclaimed in (
        (f"Source: zones/caller.py:3\n\n{trace}", True),
        ("Source: zones/caller.py:3, run of x", False),
    ):
        (found,) = of_kind(facts_of(tmp_path / str(unclaimed), files, "It stops", body), "named_here")
        assert (found.line, found.unclaimed) == (3, unclaimed)


def test_a_line_is_named_also_if_the_report_pastes_it(tmp_path: Path):
    files = {"zones/load.py": "def load(path):\n    return open_it_lazily(path)\n"}
    body = "It is caused by line 2 of zones/load.py:\n\n    return open_it_lazily(path)\n"
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", body), "named_here")
    assert found.line == 2


C = (
    "#include <x.h>\n\nint early(void);\n\nvoid show(struct row *row) {\n"
    "  print(row->first(1, 2));\n  print(row->last(1, 2));\n}\n"
)
PRINTED = {
    "gcc": "src/show.c:60:9: error: too many arguments to 'first'\n   60 |   print(row->first(1, 2));\n      |   ^~~~~",
    "caret": "src/show.c:60:9: error: too many arguments to 'first'\n  print(row->first(1, 2));\n  ~~~~~^",
    "snippet": "Origin: src/show.c:60:3\n\n58 void show(\n59\n60   print(row->first(1, 2));\n     ^ column 3",
    "same-line": "src/show.c:6:9: error: too many arguments to 'first'\n    6 |   print(row->first(1, 2));",
}


@pytest.mark.parametrize("tool", PRINTED)
def test_the_code_that_a_tool_prints_says_which_line_it_is(tmp_path: Path, tool: str):
    body = f"```\n{PRINTED[tool]}\n```"
    (found,) = of_kind(facts_of(tmp_path, {"src/show.c": C}, "It does not build", body), "named_here")
    assert (found.line, found.symbol, found.exact) == (6, "show", True)


def test_a_line_whose_code_is_not_in_the_file_does_not_fit(tmp_path: Path):
    body = "```\nsrc/show.c:6:9: error: too many arguments\n    6 |   write_out(row, other);\n```"
    (found,) = of_kind(facts_of(tmp_path, {"src/show.c": C}, "It does not build", body), "named_here")
    assert found.says == "The report names line 6 of `src/show.c`; it does not fit the error at this commit."
    assert found.unclaimed


def test_an_error_precedes_notes_and_includes_are_no_places(tmp_path: Path):
    body = (
        "```\nIn file included from src/show.c:1:\nsrc/show.c:3:5: note: 'early' declared here\n"
        "src/show.c:7:9: error: 'last' is gone for good\n```"
    )
    found = of_kind(facts_of(tmp_path, {"src/show.c": C}, "early: it does not build", body), "named_here")
    assert [(fact.line, fact.strong) for fact in found] == [(7, True), (3, False)]


@pytest.mark.parametrize(
    ("line", "message", "unclaimed"),
    [
        pytest.param(7, "error: too many arguments to function 'last'; expected 0, have 2", True, id="declaration"),
        pytest.param(7, "error: 'struct row' has no member named 'last'", True, id="member"),
        pytest.param(7, "error: expected ';' before ')' token", False, id="of-the-line"),
        pytest.param(7, "warning: 'last' is deprecated", False, id="warning"),
    ],
)
def test_an_error_about_another_declaration_carries_no_claim(tmp_path: Path, line: int, message: str, unclaimed: bool):
    body = f"```\nsrc/show.c:{line}:9: {message}\n```"
    (found,) = of_kind(facts_of(tmp_path, {"src/show.c": C}, "It does not build", body), "named_here")
    assert (found.line, found.unclaimed) == (line, unclaimed)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("zones/io.py", '_LOGGER.error("No zone %s", name)', id="python"),
        pytest.param("zones/io.go", 'log.Errorf("no zone %s", name)', id="go"),
        pytest.param("zones/io.ts", 'this.logger.warn("no zone")', id="typescript"),
        pytest.param("zones/io.rs", 'tracing::error!("no zone");', id="rust"),
        pytest.param("zones/Io.kt", 'Log.e(TAG, "no zone")', id="kotlin"),
        pytest.param("zones/io.ps1", 'Write-Error "no zone"', id="powershell"),
    ],
)
def test_a_line_that_writes_to_a_log_carries_no_claim(tmp_path: Path, path: str, text: str):
    files = {path: f"x = 1\n    {text}\ny = 2\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", f"Source: {path}:2, no zone"), "named_here")
    assert (found.line, found.unclaimed) == (2, True)


def test_a_frame_that_has_moved_is_not_named_at_its_old_line(tmp_path: Path):
    files = {"zones/io.py": "def load(x):\n    y = 1\n    return x.rows_of_it\n\n\ndef clean(x):\n    pass\n"}
    body = (
        'Source: zones/io.py:7\n\nTraceback (most recent call last):\n  File "/config/zones/io.py", line 7, in load\n'
        "    return x.rows_of_it\nAttributeError: 'Zone' object has no attribute 'rows_of_it'\n"
    )
    found = of_kind(facts_of(tmp_path, files, "It stops", body), "raised_here", "named_here")
    assert [(fact.kind, fact.line) for fact in found] == [("raised_here", 3)]


def test_what_only_repeats_a_named_line_is_left_out(tmp_path: Path):
    files = {
        "set-up-all.sh": "x=1\nif; then\nfi\n",
        "get.sh": "if [[ -e set-up-all.sh ]]; then\n  ./set-up-all.sh\nfi\n",
        "src/show.c": 'void show(int x) {\n  write_it(x, "cannot write the row there");\n}\n',
    }
    body = (
        "```\n./set-up-all.sh\n./set-up-all.sh: line 2: syntax error near unexpected token `;'\n```\n\n```\n"
        "src/show.c:2:3: error: 'write_it' is gone\n    2 |   write_it(x, \"cannot write the row there\");\n```"
    )
    found = facts_of(tmp_path, files, "It fails", body)
    assert {(fact.kind, fact.path) for fact in found if fact.strong} == {
        ("named_here", "set-up-all.sh"),
        ("named_here", "src/show.c"),
    }


@pytest.mark.parametrize(
    ("path", "output", "quoted"),
    [
        pytest.param(
            "src/x.rs",
            "error[E0425]: cannot find value `total` here\n --> src/x.rs:2:5\n  |\n2 |     grow and more of it\n",
            "error[E0425]: cannot find value 'total' here", id="rustc",
        ),
        pytest.param("src/x.go", "./src/x.go:2:5: undefined: total_of_rows", "undefined: total_of_rows", id="go"),
        pytest.param(
            "src/x.ml",
            'File "src/x.ml", line 2, characters 5-9:\n2 |     grow and more of it\n     ^^\nError: Unbound module A_b',
            "Error: Unbound module A_b", id="ocaml",
        ),
        pytest.param(
            "src/X.hs", "src/X.hs:2:5: error: [GHC-39999]\n    • No instance for (Show Total)\n",
            "error: [GHC-39999] No instance for (Show Total)", id="haskell",
        ),
        pytest.param(
            "CMakeLists.txt", "CMake Error at CMakeLists.txt:2 (grow):\n  Total of rows is too large.\n",
            "Total of rows is too large.", id="cmake",
        ),
        pytest.param(
            "src/x.ts", "/app/src/x.ts\n  2:5  error  'total' is not defined  no-undef\n",
            "error  'total' is not defined  no-undef", id="eslint",
        ),
        pytest.param("src/x.go", "src/x.go:2:     grow and more of it", None, id="code-of-a-search"),
        pytest.param("src/x.html.erb", "line 2 of [ROOT]/src/x.html.erb: _src_x_erb__12_4", None, id="a-function"),
    ],
)  # fmt: skip
def test_the_message_of_a_tool_is_quoted(tmp_path: Path, path: str, output: str, quoted: str | None):
    body = f"```\n{output}\n```"
    files = {path: "x = 1\n    grow and more of it\ny = 2\n"}
    found = of_kind(facts_of(tmp_path, files, "No build", body), "named_here")
    says = [fact.says for fact in found if fact.line == 2]
    assert len(says) == 1
    assert f"“{quoted}”" in says[0] if quoted else says[0].startswith("The report names")


def test_a_bare_name_of_several_files_means_that_of_the_root(tmp_path: Path):
    text = "minimum_required(VERSION 3.1)\nproject(zones)\n"
    files = {"CMakeLists.txt": text, "zones/CMakeLists.txt": text, "zones/io.c": "int x;\n"}
    body = "```\nCMake Error at CMakeLists.txt:1 (minimum_required):\n  Versions below 3.5 are removed.\n```"
    (found,) = of_kind(facts_of(tmp_path, files, "It does not build", body), "named_here")
    assert (found.path, found.line) == ("CMakeLists.txt", 1)


@pytest.mark.parametrize(
    ("near", "line"),
    [pytest.param(2, 2, id="as-numbered"), pytest.param(9, 2, id="near"), pytest.param(190, 200, id="the-other")],
)
def test_of_several_lines_with_the_printed_code_the_near_one_is_meant(tmp_path: Path, near: int, line: int):
    text = "x = 1\nstop(row)\n" + "\n" * 197 + "stop(row)\ny = 2\n"
    body = f"```\nzones/io.lua:{near}:1: error: no row\n{near} | stop(row)\n```"
    (found,) = of_kind(facts_of(tmp_path, {"zones/io.lua": text}, "It fails", body), "named_here")
    assert found.line == line


def test_printed_code_that_several_near_lines_have_says_nothing_of_the_line(tmp_path: Path):
    text = "x = 1\nstop(row)\ny = 2\nstop(row)\nz = 3\n"
    body = "```\nzones/io.lua:3:1: error: no row\n3 | stop(row)\n```"
    (found,) = of_kind(facts_of(tmp_path, {"zones/io.lua": text}, "It fails", body), "named_here")
    assert found.says.endswith("it does not fit the error at this commit.")


@pytest.mark.parametrize(
    ("path", "line"),
    [pytest.param("src/main.rs", 2, id="a-program"), pytest.param("src/index.js", None, id="a-name-of-most-projects")],
)
def test_the_whole_path_of_a_programs_main_file_is_the_projects(tmp_path: Path, path: str, line: int | None) -> None:
    files = {path: "fn main() {\n    load().unwrap();\n}\n" * 2}
    found = of_kind(facts_of(tmp_path, files, "It stops at once", f"Location:\n    {path}:2:18"), "named_here")
    assert [fact.line for fact in found if fact.line] == ([line] if line else [])


@pytest.mark.parametrize(
    ("body", "path"),
    [
        pytest.param("It hangs in main.go:3. See the log of cmd/worker.", "cmd/worker/main.go", id="folder"),
        pytest.param("It hangs in main.go:3:\n\n```go\n\tstart(work, 2)\n```", "cmd/worker/main.go", id="pasted-line"),
        pytest.param("It hangs in main.go:3. See cmd/worker/other.go.", None, id="another-file-of-the-folder"),
        pytest.param("It hangs in main.go:3.", None, id="nothing"),
        pytest.param(
            "main.go\n```\npackage main\n```\nIt hangs in main.go:3. See cmd/worker.", None, id="the-reporter's"
        ),
    ],
)
def test_the_report_tells_which_file_of_a_common_name_is_meant(tmp_path: Path, body: str, path: str | None) -> None:
    files = {
        f"cmd/{name}/main.go": f"package main\nfunc main() {{\n\tstart({name[:4]}, 2)\n}}\n"
        for name in ("worker", "admin")
    }
    found = [fact.path for fact in of_kind(facts_of(tmp_path, files, "It hangs", body), "named_here") if fact.line]
    assert found == ([path] if path else [])


def test_a_path_below_a_folder_with_the_projects_name_is_whole(tmp_path: Path):
    files = {
        "ShedInfo.lua": "local a = 1\nlocal function show(box)\n    return #box.rows\nend\n",
        "dkjson.lua": "return 1\n",
    }
    line = "C:/Users/x/My Games/mods/{}/ShedInfo.lua:3: attempt to get length of a nil value"
    for folder, found in (("Shed_Info", ["ShedInfo.lua"]), ("OtherMod", [])):
        project = tmp_path / folder / "Shed_Info"
        facts = of_kind(facts_of(project, files, "Log is flooded", line.format(folder)), "named_here")
        assert [fact.path for fact in facts] == found


def test_a_named_line_that_only_remarks_carries_no_claim(tmp_path: Path):
    files = {"tools/shelve.sh": "set -e\n# Print the summary\necho done\n"}
    facts = of_kind(facts_of(tmp_path, files, "It stops", "tools/shelve.sh: line 2: syntax error"), "named_here")
    assert [(fact.line, fact.unclaimed) for fact in facts] == [(2, True)]


def test_a_bar_before_a_message_is_not_quoted(tmp_path: Path):
    body = "| CMake Error at src/CMakeLists.txt:1 (project):\n|   The version is too low for this."
    (fact,) = of_kind(facts_of(tmp_path, {"src/CMakeLists.txt": "project(x)\n"}, "It fails", body), "named_here")
    assert fact.says == "The report has “The version is too low for this.” for this line of `src/CMakeLists.txt`."


@pytest.mark.parametrize(
    "log",
    [
        "2026-02-01 10:00:01 INFO app  [src/zones/serve.c:2] Listening",
        "2026-02-01T10:00:01Z DEBUG zones::serve: Listening\n    at src/zones/serve.c:2 on main ThreadId(1)",
    ],
)
def test_the_place_of_a_message_that_only_informs_supports_no_claim(tmp_path: Path, log: str):
    files = {"src/zones/serve.c": "int serve(int port) {\n  announce(port);\n  return listen_on(port);\n}\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It stops at once", f"```\n{log}\n```"), "named_here")
    assert (found.line, found.strong, found.unclaimed) == (2, False, True)


def test_what_a_log_only_informs_of_is_no_place_beside_a_trace(tmp_path: Path):
    files = {
        "zones/serve.go": "package zones\n\nfunc Serve(rows []int) int {\n\treturn rows[3]\n}\n",
        "zones/start.go": "package zones\n\nfunc Start() {\n\tannounce()\n}\n",
    }
    log = "2026-02-01 10:00:01 {} app  [zones/start.go:4] cannot announce it yet\n"
    panic = "panic: runtime error\n\ngoroutine 1 [running]:\nacme.org/zones.Serve(...)\n\t/go/zones/serve.go:4"

    def named(body: str, folder: str) -> list[str | None]:
        return [fact.path for fact in of_kind(facts_of(tmp_path / folder, files, "It stops", body), "named_here")]

    assert named(f"```\n{log.format('INFO')}{panic}\n```", "both") == []
    assert named(f"```\n{log.format('ERROR')}{panic}\n```", "error") == ["zones/start.go"]
    assert named(f"```\n{log.format('INFO')}```", "log") == ["zones/start.go"]


@pytest.mark.parametrize("words", [("Source", "First occurred", "Last logged"), ("Quelle", "Zuerst", "Zuletzt")])
def test_the_message_of_a_card_of_a_log_is_quoted(tmp_path: Path, words: tuple[str, str, str]):
    source, first, last = words
    body = (
        f"Logger: custom.zones\n{source}: src/zones/parse.py:2\nintegration: Zones\n{first}: 18:42:32 (2 times)\n"
        f"{last}: 18:44:01\n\nKey Error: the zone of a year\n"
    )
    (found,) = of_kind(facts_of(tmp_path, FILES, "Warnings", body), "named_here")
    assert found.says == "The report has “Key Error: the zone of a year” for this line of `parse`."


@pytest.mark.parametrize(
    "body",
    [
        "- **File:** `src/zones/parse.py`\n- **Function:** `parse()`\n- **Lines:** 2-3",
        "| Where | Line |\n|---|---|\n| `src/zones/parse.py` | 2 |",
        "`src/zones/parse.py`, `parse()`, around line ~2",
    ],
)
def test_a_line_in_a_list_of_findings_is_named(tmp_path: Path, body: str):
    (found,) = of_kind(facts_of(tmp_path, FILES, "Text is returned as it is", body), "named_here")
    assert (found.path, found.line, found.symbol) == ("src/zones/parse.py", 2, "parse")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("In org.acme.Kettle.boil(Water), on line 2, it is wrong.", 2),
        ("The Kettle.boil method fails in line 2.", 2),
        ("Kettle: line 2 has no water.", None),
        ("Kettle at line 2, column 3 has no water.", None),
        ("In Kettle, line 2 of my list is skipped.", None),
        ("It prints KettleError at line 2.", None),
    ],
)
def test_a_line_of_a_class_is_none_of_what_the_class_reads(tmp_path: Path, body: str, line: int | None):
    code = "class {0} {{\n  int boil(Water water) {{\n    return water.heat();\n  }}\n}}\n"
    files = {f"acme/{name}.java": code.format(name) for name in ("Kettle", "KettleError")}
    found = [fact.line for fact in of_kind(facts_of(tmp_path, files, "It is wrong", body), "named_here") if fact.line]
    assert found == ([line] if line else [])


def test_the_line_that_the_message_of_a_trace_names_leads_over_the_frame_that_raised_it(tmp_path: Path):
    native = "int fill(Pool p) {\n  int n = p.size();\n  CHECK_EQ(n, p.depth());\n  return n;\n}\n"
    files = {"src/ops/pool.cc": native, "lib/base.py": "def check_call(code):\n    raise PoolError(last_error())\n"}
    trace = (
        'Traceback (most recent call last):\n  File "/srv/lib/base.py", line 2, in check_call\n    raise PoolError(x)\n'
    )
    body = f"```\n{trace}PoolError: [10:12:44] /home/ci/src/./ops/pool.cc:3: Check failed: n == p.depth()\n```"
    facts = facts_of(tmp_path, files, "Filling a pool fails", body)
    (named,) = of_kind(facts, "named_here")
    assert (named.path, named.line, named.strong) == ("src/ops/pool.cc", 3, True)
    assert statement(facts, ["lib/base.py", "src/ops/pool.cc"], 0.5).headline == named


def test_a_file_is_named_also_in_other_capitals(tmp_path: Path):
    files = {"zones/show-zone.lua": "local x = 1\nlocal y = 2\nprint(x + y)\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "Sums are wrong", "See line 3 of Show-Zone.lua."), "named_here")
    assert (found.path, found.line) == ("zones/show-zone.lua", 3)


def test_a_line_of_output_beyond_the_end_of_an_own_file_is_stated(tmp_path: Path):
    files = {"Sources/Zones/Load.swift": "func load() {\n    read()\n}\n"}
    body = "```\n{}/Sources/Zones/Load.swift:687:4: error: it is no zone\n```"
    (found,) = of_kind(facts_of(tmp_path / "own", files, "No build", body.format("/home/a/zones")), "named_here")
    assert found.says == "The report names line 687 of `Sources/Zones/Load.swift`, which has 3 lines at this commit."
    assert found.is_named_line
    other = facts_of(tmp_path / "other", files, "No build", body.format("/home/a").replace("Sources/", "Other/"))
    assert of_kind(other, "named_here") == []


def test_a_named_line_of_a_release_that_a_change_removed_is_no_longer_in_the_file(tmp_path: Path):
    old = "def load(host):\n    if not host.components.zones.ready():\n        return []\n    return [1]\n"
    make_repository(tmp_path, {"zone/parts/load.py": old})
    git(tmp_path, "tag", "v0.5.0")
    new = old.replace("host.components.zones.ready()", "is_ready(host)")
    change = make_repository(tmp_path, {"zone/parts/load.py": new}, message="Ask by a function")
    body = "Version 0.5.0\n\n```\nSource: zone/parts/load.py:2\nFirst occurred: 21:08:18\n```\n"
    (found,) = of_kind(facts_at(tmp_path, change, "It has no attribute", body), "named_here")
    since = f"since `{change[:10]}` “Ask by a function”, in no final release yet."
    gone = f"The report names line 2 of `zone/parts/load.py`; line 2 of 0.5.0 is no longer in this file, {since}"
    assert (found.says, found.unclaimed) == (gone, True)
