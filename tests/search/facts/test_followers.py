"""Facts that explain or support another fact."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.facts.around.called_from import is_call
from nodes.search.facts.around.guarded_by import guard
from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, facts_of, of_kind, verify
from tests.support.repositories import make_repository

CODE = (
    "def check_zone(name):\n    if name is None:\n        return\n    if name not in ZONES:\n"
    "        raise ValueError('the zone %s is not in the table' % name)\n"
)
MESSAGE = "```\nValueError: the zone X is not in the table\n```"


@pytest.mark.parametrize(
    ("code", "line", "found"),
    [
        pytest.param("def f(x):\n    if x:\n        go()\n    raise E\n", 4, None, id="beside"),
        pytest.param("def f(x):\n    if x:\n        go()\n    else:\n        raise E\n", 5, (2, False), id="else"),
        pytest.param(
            "int f(x) {\n  if (x) {\n    go();\n  } else {\n    fail();\n  }\n}\n", 5, (2, False), id="brace-else"
        ),
        pytest.param("fn f() {\n    match g() {\n        _ => h(),\n    }\n}\n", 3, None, id="no-condition"),
        pytest.param("func f() {\n\tswitch x {\n\tcase 1:\n\t\tpanic(1)\n\t}\n}\n", 4, (3, True), id="case"),
        pytest.param("def f\n  begin\n    x\n  rescue E\n    raise\n  end\nend\n", 5, (4, True), id="rescue"),
        pytest.param("def f():\n    raise E(\n        'x'\n    )\n", 3, None, id="none"),
        pytest.param("if __name__ == '__main__':\n    go()\n", 2, None, id="as-a-script"),
    ],
)
def test_the_nearest_condition(code: str, line: int, found: tuple[int, bool] | None):
    assert guard(code.split("\n"), line, 1) == found


def test_deep_and_long_code_is_read_within_limits():
    assert guard(["if x:" + " " * 5_000] * 50_000 + ["    y"], 50_001, 1) is None
    guard([" " * n + "x" for n in range(3_000)], 3_000, 1)


@pytest.mark.parametrize(("text", "found"), [("", []), ("\n    return name.size", [2])], ids=["no-text", "its-text"])
def test_a_line_that_may_have_moved_has_no_condition(tmp_path: Path, text: str, found: list[int]):
    code = "def size_of(name):\n    if name.upper():\n        return name.size\n"
    body = f'```\nTraceback (most recent call last):\n  File "/srv/zones/size.py", line 3, in size_of{text}\nZoneError: bad\n```'
    facts = facts_of(tmp_path, {"zones/size.py": code}, "It fails", body)
    assert [fact.line for fact in of_kind(facts, "raised_here")] == [3]
    assert [fact.line for fact in of_kind(facts, "guarded_by")] == found


def test_the_one_caller_of_a_builder_is_found(tmp_path: Path):
    files = {
        "zones/check.py": CODE,
        "zones/load.py": "from zones.check import check_zone\n\n\ndef load(name):\n"
        "    check_zone(name)\n    # check_zone(name)\n",
    }
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", MESSAGE), "called_from")
    assert (found.path, found.line, found.symbol, found.follows) == (
        "zones/load.py",
        5,
        "check_zone",
        ("zones/check.py", 5),
    )


CALLERS = {
    "python": ("zone.py", "def check_zone(name):\n    raise E('the zone %s is not in the table' % name)\n",
               "load.py", "from zone import check_zone\n\n\ndef load(name):\n    check_zone(name)\n", 5),
    "javascript": ("zone.js", "export function checkZone(name) {\n  throw new Error(`the zone ${name} is not in the table`)\n}\n",
                   "load.js", "import { checkZone } from './zone'\n\nexport function load(name) {\n  return checkZone(name)\n}\n", 4),
    "go": ("zone.go", "package a\n\nfunc checkZone(name string) error {\n\treturn fmt.Errorf(\"the zone %s is not in the table\", name)\n}\n",
           "load.go", "package a\n\nfunc load(name string) error {\n\terr := checkZone(name)\n\treturn err\n}\n", 4),
    "rust": ("zone.rs", "pub fn check_zone(name: &str) {\n    panic!(\"the zone {} is not in the table\", name);\n}\n",
             "load.rs", "pub fn load(name: &str) {\n    check_zone(name);\n}\n", 2),
    "java": ("Zone.java", "class Zone {\n  static void checkZone(String n) {\n    throw new E(\"the zone \" + n + \" is not in the table\");\n  }\n}\n",
             "Load.java", "class Load {\n  void load(String n) {\n    Zone.checkZone(n);\n  }\n}\n", 3),
    "c": ("zone.c", "void check_zone(const char *n) {\n  fail(\"the zone %s is not in the table\", n);\n}\n",
          "load.c", "void check_zone(const char *n);\n\nvoid load(const char *n) {\n  check_zone(n);\n}\n", 4),
    "ruby": ("zone.rb", "def check_zone(name)\n  raise \"the zone #{name} is not in the table\"\nend\n",
             "load.rb", "def load(name)\n  check_zone(name)\nend\n", 2),
}  # fmt: skip


@pytest.mark.parametrize("language", CALLERS)
def test_the_caller_is_found_and_a_declaration_is_no_call(tmp_path: Path, language: str):
    path, code, other, caller, line = CALLERS[language]
    found = of_kind(facts_of(tmp_path, {path: code, other: caller}, "It fails", MESSAGE), "called_from")
    assert [(fact.path, fact.line) for fact in found] == [(other, line)]


@pytest.mark.parametrize(
    ("text", "name", "calls"),
    [
        pytest.param("  if (check(x)) {", "check", True, id="in-a-condition"),
        pytest.param("  x => check(x),", "check", True, id="in-a-function"),
        pytest.param("    obj.load(a).check(b);", "check", True, id="chained"),
        pytest.param("  cond ? check(x) : y", "check", True, id="in-a-choice"),
        pytest.param("check(a) if b else c", "check", True, id="before-if"),
        pytest.param("int check(char *x);", "check", False, id="prototype"),
        pytest.param("  virtual void check(T x) const = 0;", "check", False, id="virtual"),
        pytest.param("  check(x: string): void;", "check", False, id="typescript-interface"),
        pytest.param("\tCheck(ctx Context) error", "Check", False, id="go-interface"),
        pytest.param("    fn check(x: u8) -> u8;", "check", False, id="rust-trait"),
        pytest.param("  check(x) {", "check", False, id="method"),
        pytest.param("raise E('call check() first')", "check", False, id="in-a-string"),
        pytest.param("x = 1  # check() comes later", "check", False, id="in-a-comment"),
        pytest.param("recheck(x)", "check", False, id="part-of-a-name"),
        pytest.param("a " * 40_000 + "check(", "check", True, id="hostile"),
        pytest.param("check" + "(" * 50_000, "check", True, id="brackets"),
    ],
)
def test_calls_on_a_line_are_recognised(text: str, name: str, *, calls: bool):
    assert is_call(text, name) is calls


TESTS = {
    "python": ("zone.py", "def check_zone(name):\n    return name\n", "tests/test_zone.py", "def test_zone():\n    assert check_zone('UTC')\n", 2),
    "javascript": ("src/zone.js", "export function check_zone(name) {\n  return name\n}\n", "test/zone.test.js", "it('works', () => {\n  check_zone('UTC')\n})\n", 2),
    "go": ("zone.go", "package a\n\nfunc check_zone(n string) string {\n\treturn n\n}\n", "zone_test.go", "package a\n\nfunc TestZone(t *testing.T) {\n\tcheck_zone(\"UTC\")\n}\n", 4),
    "rust": ("src/zone.rs", "pub fn check_zone(n: &str) -> &str {\n    n\n}\n", "tests/zone.rs", "#[test]\nfn zone() {\n    check_zone(\"UTC\");\n}\n", 3),
    "java": ("src/main/java/Zone.java", "class Zone {\n  static String check_zone(String n) {\n    return n;\n  }\n}\n", "src/test/java/ZoneTest.java", "class ZoneTest {\n  @Test void zone() {\n    Zone.check_zone(\"UTC\");\n  }\n}\n", 3),
    "c": ("zone.c", "int check_zone(const char *n) {\n  return 1;\n}\n", "tests/zone.c", "int main(void) {\n  return check_zone(\"UTC\");\n}\n", 2),
    "ruby": ("lib/zone.rb", "def check_zone(name)\n  name\nend\n", "spec/zone_spec.rb", "it 'works' do\n  check_zone('UTC')\nend\n", 2),
}  # fmt: skip


@pytest.mark.parametrize("language", TESTS)
def test_the_test_that_uses_a_name_is_listed_and_never_leads(tmp_path: Path, language: str):
    path, code, test, lines, line = TESTS[language]
    found = of_kind(facts_of(tmp_path, {path: code, test: lines}, "`check_zone` fails on None"), "tested_here")
    assert [(fact.path, fact.line, fact.strong) for fact in found] == [(test, line, False)]


USES = [
    ("def test_a():\n    check_zone('UTC')\n", "The test `test_a` uses `check_zone`."),
    ("def make_zone():\n    return check_zone('UTC')\n", "The test file `tests/test_a.py` uses `check_zone`."),
    ("def test_a():\n    run('--x', 'check_zone')\n", "The test `test_a` uses `check_zone`."),
    ("def test_a():\n    # check_zone is slow\n    scan()\n", None),
    ("def test_a():\n    skip('all of check_zone fails')\n", None),
    ("def check_zone():\n    return 1\n", None),
]


@pytest.mark.parametrize(("test", "says"), USES)
def test_a_helper_is_no_test_and_a_comment_a_text_or_a_definition_no_use(tmp_path: Path, test: str, says: str | None):
    files = {"zone.py": "def check_zone(name):\n    return name\n", "tests/test_a.py": test}
    found = of_kind(facts_of(tmp_path, files, "`check_zone` fails on None"), "tested_here")
    assert [fact.says for fact in found] == ([says] if says else [])


def test_a_similar_name_in_a_test_is_not_a_test_of_it(tmp_path: Path):
    files = {
        "zone.py": "def check_zone(name):\n    return name\n",
        "tests/test_a.py": "def test_a():\n    recheck_zones()\n",
    }
    assert of_kind(facts_of(tmp_path, files, "`check_zone` fails on None"), "tested_here") == []


def test_many_callers_are_not_a_fact(tmp_path: Path):
    calls = "".join(f"def load_{n}(name):\n    check_zone(name)\n\n\n" for n in range(3))
    facts = facts_of(tmp_path, {"zones/check.py": CODE, "zones/load.py": calls}, "It fails", MESSAGE)
    assert of_kind(facts, "called_from") == []


def test_tests_that_are_known_to_fail_come_first(tmp_path: Path):
    files = {
        "zones/check.py": CODE,
        "tests/test_a.py": "def test_zone():\n    check_zone('UTC')\n",
        "tests/test_b.py": "import pytest\n\n\n@pytest.mark.xfail\ndef test_none():\n    check_zone(None)\n",
    }
    found = of_kind(facts_of(tmp_path, files, "`check_zone` fails on None"), "tested_here")
    assert [fact.path for fact in found] == ["tests/test_b.py", "tests/test_a.py"]
    assert not any(fact.strong for fact in found)


@pytest.mark.parametrize(
    ("above", "inside", "marked"),
    [
        pytest.param("@pytest.mark.skip(reason='x')", "", True, id="skipped"),
        pytest.param("@unittest.expectedFailure", "", True, id="expected-to-fail"),
        pytest.param("# FIXME: fails for None", "", True, id="a-comment"),
        pytest.param("# XXX another way?", "", False, id="a-remark"),
        pytest.param("", "pytest.skip('broken')", True, id="skips-itself"),
        pytest.param("", "make(skip_key='skip')", False, id="a-value"),
        pytest.param("", "BUG = 1", False, id="a-name"),
        pytest.param("@pytest.mark.skipif(WINDOWS)", "", False, id="on-one-system"),
        pytest.param("", "if WINDOWS:\n        pytest.skip('x')", False, id="under-a-condition"),
        pytest.param("@pytest.mark.skip\ndef test_other():\n    pass\n\n", "", False, id="another-test"),
    ],
)
def test_only_its_own_mark_makes_a_test_skipped(tmp_path: Path, above: str, inside: str, *, marked: bool):
    test = f"import pytest\n\n\n{above}\ndef test_none():\n    {inside or 'x = 1'}\n    check_zone(None)\n"
    sha = make_repository(tmp_path, {"zones/check.py": CODE, "tests/test_b.py": test})
    (fact,) = of_kind(facts_at(tmp_path, sha, "`check_zone` fails on None"), "tested_here")
    known = " and is marked as skipped, failing or a known bug"
    assert fact.says == f"The test `test_none` uses `check_zone`{known if marked else ''}."


def test_a_stated_mark_is_looked_up_again(tmp_path: Path):
    test = "def test_none():\n    make(skip_key='skip')\n    check_zone(None)\n"
    sha = make_repository(tmp_path, {"zones/check.py": CODE, "tests/test_b.py": test})
    (fact,) = of_kind(facts_at(tmp_path, sha, "`check_zone` fails on None"), "tested_here")
    wrong = replace(fact, says=fact.says.removesuffix(".") + " and is marked as skipped, failing or a known bug.")
    assert verify(wrong, Repository.open(tmp_path), sha, "`check_zone`") == "the test has no such mark"


@pytest.mark.parametrize(
    ("path", "code", "name"),
    [
        pytest.param("a.py", "def to_bytes_be(x):\n    return x\n", "to_bytes_le", id="python"),
        pytest.param("a.js", "export function isSameDay(x) {\n  return x\n}\n", "isSameWeek", id="js"),
        pytest.param("a.go", "package a\n\nfunc DialTimeout(x int) {\n}\n", "DialTimeoutContext", id="go"),
        pytest.param("a.rs", "pub fn put_u16_le(x: u16) {\n}\n", "put_u24_le", id="rust"),
        pytest.param("A.java", "class A {\n  int readIntValue() {\n    return 1;\n  }\n}\n", "readLongValue", id="java"),
        pytest.param("a.c", "int zip_open_file(char *x) {\n  return 1;\n}\n", "zip_open_memory", id="c"),
    ],
)  # fmt: skip
def test_a_requested_name_is_absent(tmp_path: Path, path: str, code: str, name: str):
    facts = facts_of(tmp_path, {path: code}, f"Add `{name}`")
    assert [(fact.words, fact.path, fact.strong) for fact in of_kind(facts, "absent")] == [(name, None, False)]


@pytest.mark.parametrize(
    ("files", "title"),
    [
        pytest.param({"a.py": "x = 1\n"}, "`to_bytes_le` fails", id="nothing-is-asked-for"),
        pytest.param({"a.py": "x = 1\n", "notes.txt": "to_bytes_le\n"}, "Add `to_bytes_le`", id="in-any-text"),
        pytest.param({"a.py": "x = 1\n", "data.json": '{"to_bytes_le": 1}\n'}, "Add `to_bytes_le`", id="in-data"),
        pytest.param({"a.py": "def zone_map():\n    pass\n"}, "Add `zone_maps`", id="a-plural"),
        pytest.param({"a.rb": "x = 1\n"}, "[zones/prod] NoMethodError: undefined method '+' for nil", id="an-error"),
    ],
)
def test_a_name_that_occurs_is_not_absent(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "absent") == []


@pytest.mark.parametrize(
    ("page", "text", "line"),
    [
        pytest.param("docs/zones.md", "# Zones\n\n## Checking\n\nCall `check_zone` first.\n", 3, id="markdown"),
        pytest.param(
            "docs/zones.rst", "Zones\n=====\n\nChecking\n--------\n\nCall ``check_zone`` first.\n", 4, id="rst"
        ),
    ],
)
def test_a_question_gets_the_heading_of_the_page(tmp_path: Path, page: str, text: str, line: int):
    files = {"zones/check.py": CODE, page: text}
    (found,) = of_kind(facts_of(tmp_path, files, "How do I use `check_zone`?"), "documented_here")
    assert (found.path, found.line) == (page, line)
    assert of_kind(facts_of(tmp_path, files, "`check_zone` is wrong"), "documented_here") == []
    files[page] = text.replace("## Checking", "").replace("Checking\n--------", "")
    assert of_kind(facts_of(tmp_path / "title", files, "How do I use `check_zone`?"), "documented_here") == []


@pytest.mark.parametrize(
    ("body", "line"),
    [
        pytest.param('In the notes, "zones are read by the the checker, which is slow" has a typo.', 3, id="a-quote"),
        pytest.param("In the notes, “Zones are read by the the checker” has a typo.", 3, id="other-quotes"),
        pytest.param('The notes have a typo: "some other zones that nobody reads".', None, id="another-sentence"),
        pytest.param('In the notes: "zones are read by nobody".', None, id="only-its-beginning"),
        pytest.param("See the docs: `zones-are-read-by.the.rst`.", None, id="one-name"),
        pytest.param("A typo in the notes: `zones_are read by the_the checker`.", None, id="names-with-underscores"),
        pytest.param('It says "zones are read by the the checker, which is slow".', None, id="no-word-of-pages"),
    ],
)
def test_the_line_of_a_page_that_a_report_quotes(tmp_path: Path, body: str, line: int | None):
    page = "Notes\n=====\nZones are ``read`` by the *the* checker, which\nis slow, and zones are read by all.\n"
    facts = facts_of(tmp_path, {"zones/check.py": CODE, "docs/notes.rst": page}, "Doubled word", body)
    assert [fact.line for fact in of_kind(facts, "documented_here")] == [line] * (line is not None)


GHOST = "`renderBorder()` in src/view/render.go line 88 divides by zero."
FILES = {"src/view.go": "package src\n\nfunc open() {}\n", "src/core/run.go": "package core\n\nfunc run() {}\n"}
FILES["src/core/__init__.py"] = "def start():\n    return 1\n"


@pytest.mark.parametrize(
    ("title", "body", "words"),
    [
        pytest.param("Panic", GHOST, ["src/view/render.go", "renderBorder"], id="with-a-function"),
        pytest.param("Panic in src/view/render.go", "Always.", ["src/view/render.go"], id="in-the-title"),
        pytest.param("Panic", "My program is src/main/render.go.", [], id="a-file-of-the-reporter"),
        pytest.param("Panic", GHOST.replace("src/", "app/"), [], id="a-folder-without-own-code"),
        pytest.param("Panic", GHOST.replace("view/render", "core/run"), [], id="a-file-of-the-project"),
        pytest.param("Fails in src/core/init.py, line 2", "Always.", [], id="a-name-that-markdown-emphasised"),
        pytest.param("Panic in clone/src/core/run.go", "Always.", [], id="in-a-clone"),
    ],
)
def test_a_path_that_no_file_has_is_absent(tmp_path: Path, title: str, body: str, words: list[str]):
    assert [fact.words for fact in of_kind(facts_of(tmp_path, FILES, title, body), "absent")] == words
