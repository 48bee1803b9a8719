"""Options, settings and attributes without a definition are located where they are read."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.git import Repository
from tests.search.facts.finding import facts_of, of_kind, verify
from tests.support.repositories import make_repository

CASES = [
    pytest.param(
        "a.py", "def run(conf):\n    if conf.strict_zones:\n        return 1\n", "strict_zones", 2, id="python"
    ),
    pytest.param("a.js", "function run(o) {\n  return o.strictZones || 1\n}\n", "strictZones", 2, id="js"),
    pytest.param(
        "a.go", "package a\n\nfunc run(c Conf) bool {\n\treturn c.StrictZones\n}\n", "StrictZones", 4, id="go"
    ),
    pytest.param("a.rs", "fn run(c: &Conf) -> bool {\n    c.strict_zones\n}\n", "strict_zones", 2, id="rust"),
    pytest.param(
        "A.java", "class A {\n  boolean run(Conf c) {\n    return c.strictZones;\n  }\n}\n", "strictZones", 3, id="java"
    ),
    pytest.param("a.c", "int run(struct conf *c) {\n  return c->strict_zones;\n}\n", "strict_zones", 2, id="c"),
    pytest.param("a.rb", "class A\n  def run(c)\n    c[:strict_zones]\n  end\nend\n", "strict_zones", 3, id="ruby"),
    pytest.param("a.py", "def add(p):\n    p.option('--strict-zones', help='x')\n", "--strict-zones", 2, id="option"),
]


@pytest.mark.parametrize(("path", "code", "name", "line"), CASES)
def test_a_name_in_backticks_is_found_where_it_is_read(tmp_path: Path, path: str, code: str, name: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "Zones are wrong", f"With `{name}` set it fails."), "read_here")
    assert (found.path, found.line, found.strong, found.users) == (path, line, True, 1)


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("app.add_config_value('zone_x', False)", ["default_here"]),
        ("app.set_config_value('zone_x', False)", []),
        ("app.config_value('zone_x')", ["read_here"]),
    ],
)
def test_a_call_that_adds_a_setting_declares_it(tmp_path: Path, line: str, kinds: list[str]):
    facts = facts_of(tmp_path, {"a.py": f"def setup(app):\n    {line}\n"}, "Wrong", "With `zone_x` set it fails.")
    assert [fact.kind for fact in of_kind(facts, "default_here", "read_here")] == kinds


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("a.py", 'class Key(StrEnum):\n    STRICT_ZONES = "strict_zones"\n'),
        ("a.ts", "export class Keys {\n  static readonly strict: string = 'strict_zones';\n}\n"),
        ("A.java", 'class A {\n  public static final String STRICT = "strict_zones";\n}\n'),
    ],
)
def test_a_constant_that_holds_the_name_declares_it_and_does_not_read_it(tmp_path: Path, path: str, code: str):
    facts = facts_of(tmp_path, {path: code}, "Zones are wrong", "With `strict_zones` set it fails.")
    (declared,) = of_kind(facts, "default_here")
    assert not any("is read" in fact.says for fact in facts)
    assert (declared.line, declared.strong) == (2, False)


@pytest.mark.parametrize(
    ("files", "text"),
    [
        pytest.param(
            {"a.py": "def f(c):\n    return c.zone_x\n", "b.py": "def g(c):\n    return c.zone_x\n"},
            "`zone_x`",
            id="two",
        ),
        pytest.param({"a.py": "def f():\n    zone_x = 1\n"}, "`zone_x`", id="a-local-variable"),
        pytest.param({"a.py": "def f():\n    # zone_x is old\n    return 1\n"}, "`zone_x`", id="a-comment"),
        pytest.param({"a.py": 'def f():\n    """Use\n    zone_x here.\n    """\n'}, "`zone_x`", id="a-docstring"),
        pytest.param({"a.py": "def f(c):\n    return c.zone_x\n"}, "zone_x", id="not-in-backticks"),
        pytest.param(
            {"a.py": 'COLOURS = {\n    "green": 32,\n}\n'}, "`--green`", id="an-option-that-only-a-table-names"
        ),
        pytest.param({"a.c": 'int f() {\n  show("--zone : use it");\n}\n'}, "`--zone`", id="a-line-of-help"),
        pytest.param({"a.js": "export const x = { name: 'en-gb' }\n"}, "`en-gb`", id="a-code-of-a-language"),
        pytest.param(
            {"a.js": "export const x = deprecate(go, 'zone.ip: Use zone.host instead')\n"},
            "`zone.host`",
            id="a-message",
        ),
        pytest.param({"a.js": "export const x = (t) => t.head('Zone-Host-Port')\n"}, "`Zone-Host`", id="a-longer-name"),
        pytest.param({"a.py": "import os\nX = os.environ['LC_ALL']\n"}, "`LC_ALL`", id="the-machine"),
    ],
)
def test_a_name_that_may_be_another_one_is_not_a_fact(tmp_path: Path, files: dict[str, str], text: str):
    assert of_kind(facts_of(tmp_path, files, "Wrong", f"I see {text} fail."), "read_here") == []


TITLES = ["strict_zones does not apply to names", "`strict_zones=False` is ignored", "With strict_zones it fails"]


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize(("path", "code"), [case.values[:2] for case in CASES if "strict_zones" in str(case.values[1])])
def test_a_setting_in_the_title_needs_no_backticks(tmp_path: Path, path: str, code: str, title: str):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, title, "It fails."), "read_here")
    assert (found.path, found.words, found.strong) == (path, "strict_zones", True)


@pytest.mark.parametrize(
    ("files", "title"),
    [
        pytest.param({"a.py": "def f(c):\n    return c.zone_x\n", "b.py": "def g(c):\n    return c.zone_x\n"}, "zone_x fails", id="two-files"),
        pytest.param({"a.py": "def f(c):\n    return c.zones\n"}, "zones fails", id="a-plain-word"),
        pytest.param({"a.py": "def f(c):\n    return c.zone_x\n"}, "my_zone_x fails", id="another-word"),
        pytest.param({"a.py": "def f(c):\n    return c.zone_x\n"}, "zone_" * 10_000, id="hostile"),
    ],
)  # fmt: skip
def test_a_word_of_the_title_that_is_no_setting_of_one_file(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title, "It fails."), "read_here") == []


def test_a_parameter_is_declared_and_does_not_lead(tmp_path: Path):
    files = {"a.py": "def run(path, strict_zones=False):\n    return path\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "Wrong", "`strict_zones` is ignored"), "default_here")
    assert (found.line, found.strong) == (1, False)


DECLARED = [
    pytest.param("cli.py", "def add(p):\n    p.add_argument('-z', '--strict-zones', help='x')\n", "--strict-zones", 2, id="argparse"),
    pytest.param("cli.js", "program\n  .option('--strict-zones', 'x')\n", "--strict-zones", 2, id="commander"),
    pytest.param("short.js", "program\n  .option('-z, --strict-zones', 'x')\n", "--strict-zones", 2, id="commander-short"),
    pytest.param("cli.go", 'package a\n\nfunc add(f *Set) {\n\tf.BoolVar(&x, "strict-zones", false, "y")\n}\n', "--strict-zones", 4, id="go-flag"),
    pytest.param("wrap.go", 'package a\n\nfunc add(f *Set) {\n\tf.BoolVar(\n\t\t&x.y,\n\t\t"strict-zones",\n\t\tfalse,\n\t)\n}\n', "--strict-zones", 6, id="go-flag-wrapped"),
    pytest.param("src/cli.rs", 'fn add() {\n    Arg::with_name("strict-zones");\n}\n', "--strict-zones", 2, id="clap"),
    pytest.param("cli.c", 'int add(char *a) {\n  return !strcmp(a, "--strict-zones");\n}\n', "--strict-zones", 2, id="strcmp"),
    pytest.param("long.c", 'static struct option o[] = {\n  {"strict-zones", no_argument, 0, 1},\n};\n', "--strict-zones", 2, id="getopt"),
    pytest.param("wrap.py", "def add(p):\n    p.add_argument(\n        '-z', '--strict-zones', help='x'\n    )\n", "--strict-zones", 3, id="argparse-wrapped"),
    pytest.param("wrap.py", "@click.option(\n    '--strict-zones/--loose-zones', help='x'\n)\ndef add(p):\n    return p\n", "--strict-zones", 2, id="click-wrapped"),
    pytest.param("wrap.js", "program.option(\n  '--strict-zones', 'x'\n)\n", "--strict-zones", 2, id="commander-wrapped"),
    pytest.param("settings.py", "X = 1\nSTRICT_ZONES = False\n", "STRICT_ZONES", 2, id="setting"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "name", "line"), DECLARED)
def test_an_option_that_several_files_use_and_one_declares(tmp_path: Path, path: str, code: str, name: str, line: int):
    ending = path.rpartition(".")[2]
    bare = name.lstrip("-")
    mark = "#" if ending == "py" else "//"
    uses = f"x = 2  {mark} {bare} is read here\n" if ending in ("py", "js") else f"{mark} {bare} is read here\n"
    facts = facts_of(tmp_path, {path: code, f"use.{ending}": uses}, f"`{name}` is ignored", "Always.")
    (found,) = of_kind(facts, "default_here")
    assert (found.path, found.line, found.words) == (path, line, name)
    assert found.says.endswith("no other file of the project's code declares it.")


def test_an_option_that_two_files_declare_is_not_a_fact(tmp_path: Path):
    code = "def add(p):\n    p.add_argument('--strict-zones')\n"
    facts = facts_of(tmp_path, {"a.py": code, "b.py": code}, "--strict-zones is ignored", "Always.")
    assert of_kind(facts, "default_here", "read_here") == []


def test_an_option_in_a_list_of_arguments_is_not_declared_there(tmp_path: Path):
    files = {
        "cli.py": "def add(p):\n    p.add_argument(\n        '--strict-zones',\n        help='x',\n    )\n",
        "run.py": "ARGUMENTS = [\n    '--strict-zones',\n    'x',\n]\n",
    }
    (found,) = of_kind(facts_of(tmp_path, files, "--strict-zones is ignored", "Always."), "default_here")
    assert (found.path, found.line, found.strong) == ("cli.py", 3, True)


def test_an_option_needs_no_mark_up(tmp_path: Path):
    code = "def add(p):\n    p.add_argument('--strict-zones')\n"
    (found,) = of_kind(facts_of(tmp_path, {"a.py": code}, "--strict-zones is ignored"), "read_here", "default_here")
    assert (found.words, found.line) == ("--strict-zones", 2)


def test_a_variable_is_not_the_declaration_of_an_option(tmp_path: Path):
    files = {"a.ts": "const strictZones: Zones = {\n  rules: 1,\n};\n", "b.ts": "run(strictZones)\n"}
    assert of_kind(facts_of(tmp_path, files, "--strictZones is ignored"), "default_here", "read_here") == []


def test_a_single_word_supports_no_claim_and_an_argument_of_an_error_is_none(tmp_path: Path):
    files = {"a.py": "def f(conf):\n    return conf.get('colour')\n", "b.py": "x = 1\n"}
    (found,) = of_kind(facts_of(tmp_path / "a", files, "It fails", "The `colour` is wrong."), "read_here")
    assert (found.line, found.unclaimed) == (2, True)
    error = "`colour` is not given: TypeError: saved() missing 1 required positional argument: 'colour'"
    assert of_kind(facts_of(tmp_path / "b", files, "It fails", error), "read_here") == []


def test_an_import_reads_nothing(tmp_path: Path):
    code = "import zonelib\n\n\ndef load():\n    zonelib.print_all()\n"
    found = of_kind(facts_of(tmp_path, {"a.py": code}, "`zonelib` cannot be used"), "read_here")
    assert [(fact.line, fact.symbol) for fact in found] == [(5, "load")]


PASSED = "def add(p, handle_gap=max):\n    return join(p, handle_gap)\n\n\ndef join(p, handle_gap):\n{0}    return handle_gap(p)\n"


def test_an_argument_with_its_value_leads_to_the_line_that_calls_it(tmp_path: Path):
    code = PASSED.format("    if handle_gap is None:\n        return p\n")
    found = of_kind(
        facts_of(tmp_path, {"zones.py": code}, "Gaps are lost", "With `handle_gap=min` it fails."), "read_here"
    )
    assert [(fact.line, fact.symbol, fact.strong) for fact in found][:1] == [(8, "join", True)]


def test_the_line_that_reads_a_setting_and_not_its_entry(tmp_path: Path):
    code = "DEFAULTS = {\n    'strict_zones': True,\n}\n\n\ndef run(conf):\n    return conf['strict_zones']\n"
    (found,) = of_kind(facts_of(tmp_path, {"zones.py": code}, "Wrong", "With `strict_zones` it fails."), "read_here")
    assert (found.line, found.symbol) == (7, "run")


def test_the_name_of_the_project_s_package_is_no_setting(tmp_path: Path):
    files = {"a.js": "function run() {\n  return help('zone-plugin-sea')\n}\n"}
    for folder, more in (("a", {}), ("b", {"package.json": '{"name": "zone-plugin-sea"}\n'})):
        facts = facts_of(tmp_path / folder, files | more, "Zones are wrong", "With `zone-plugin-sea` it fails.")
        assert len(of_kind(facts, "read_here")) == (not more)


VIEW = "fn draw(config: &Config) {\n    split(\n        config.zone_list_width.half(),\n    );\n}\n"
CONFIG = "pub struct Config {\n    pub zone_list_width: Size,\n}\n\nfn new() -> Config {\n    Config {\n        zone_list_width: Size::Share(75),\n    }\n}\n"


def test_a_name_that_another_file_mentions_in_a_comment_is_not_read_by_one_alone(tmp_path: Path):
    files = {"src/view.rs": VIEW, "src/other.rs": "// like zone_list_width\nfn other() {}\n"}
    assert of_kind(facts_of(tmp_path, files, "It panics", "With `zone_list_width` it panics."), "read_here") == []


@pytest.mark.parametrize(
    ("block", "line"),
    [
        pytest.param('zone_list_width = "100%"', 3, id="setting"),
        pytest.param("zone_list_width: 100", 3, id="yaml"),
        pytest.param("print('x')\nzone_list_width = 100", None, id="program"),
        pytest.param("\n".join(f"zone_list_width{n or ''} = 1" for n in range(6)), None, id="whole-file"),
    ],
)
def test_the_only_line_that_reads_a_setting_which_another_file_declares(tmp_path: Path, block: str, line: int | None):
    files = {"src/view.rs": VIEW, "src/config.rs": CONFIG}
    body = f"With this it panics:\n\n```\n{block}\n```\n"
    found = of_kind(facts_of(tmp_path, files, "It panics", body), "read_here")
    assert [(fact.path, fact.line) for fact in found] == ([("src/view.rs", line)] if line else [])
    for fact in found:
        assert fact.says == (
            "`zone_list_width` is read on this line in `draw`; no other file of the project's code reads it."
        )
        assert fact.unclaimed
        head = make_repository(tmp_path, {**files, "src/more.rs": VIEW})
        assert verify(fact, Repository.open(tmp_path), head, body) == "`src/more.rs` contains it as well"


def test_the_name_of_a_tool_is_declared_where_it_is_given_and_read_where_it_is_compared(tmp_path: Path):
    code = 'func tools() []Tool {\n\treturn Tool(name: "list_zones", size: 1)\n}\n\nfunc run(name) {\n\tswitch name {\n\tcase "list_zones":\n\t\tlist()\n\t}\n}\n'
    facts = facts_of(tmp_path, {"zones.go": code}, "It is wrong", "`list_zones` is wrong.")
    found = {fact.line: fact.kind for fact in of_kind(facts, "read_here", "default_here")}
    assert found == {2: "default_here", 7: "read_here"}


@pytest.mark.parametrize(
    ("path", "title", "strong"),
    [
        ("a.ts", "It fails", False),
        ("a.ts", "ListZonesSchema fails", True),
        ("a.go", "It fails", True),
    ],
)
def test_a_class_of_a_library_leads_only_as_the_subject(tmp_path: Path, path: str, title: str, *, strong: bool):
    files = {path: "server.setHandler(ListZonesSchema);\n", "b.ts": "run();\n", "b.go": "x := 1\n"}
    (fact,) = of_kind(facts_of(tmp_path, files, title, "I use `ListZonesSchema` here."), "read_here")
    assert fact.strong is strong
