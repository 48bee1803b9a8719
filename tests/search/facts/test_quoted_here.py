"""An expression of the report is located where the project's own code has it."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.facts.levels import statement
from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, facts_of, of_kind, verify
from tests.support.repositories import make_repository

CASES = [
    pytest.param("a.py", "def run(p):\n    return Popen(p, shell=True)\n", "`shell=True` is unsafe", 2, id="keyword"),
    pytest.param("a.py", "def run(p):\n    return Popen(p, shell=True)\n", "It passes shell=True to it.", 2, id="in-prose"),
    pytest.param("a.js", "function f(z) {\n  return z.length === 0\n}\n", "`z.length===0` is too strict", 2, id="other-spaces"),
    pytest.param("a.go", "package a\n\nfunc f(z []int) bool {\n\treturn time.Since(z) > limit\n}\n", "`time.Since(` is odd", 4, id="qualified-call"),
    pytest.param("a.rs", "fn f(z: &Zone) -> u8 {\n    z.table[\"west\"]\n}\n", "It reads `table['west']` there", 2, id="other-quotes"),
    pytest.param("A.java", "class A {\n  int f() {\n    return Zones.first().rank;\n  }\n}\n", "`return Zones.first().rank;`", 3, id="statement"),
    pytest.param("a.rb", "def f(z)\n  z.match?(/^zone-[a-z]+$/)\nend\n", "The pattern `/^zone-[a-z]+$/` is wrong", 2, id="regular-expression"),
    pytest.param("a.c", "int f(int z) {\n  return z & 0xDC00FF;\n}\n", "Why `0xDC00FF`?", 2, id="number"),
    pytest.param("a.swift", "let key = \"CHWA\"\n", "keyNotFound(code: \"CHWA\")", 1, id="string-in-prose"),
    pytest.param("a.R", "f <- function(z) {\n  as.name(z)[[3]]\n}\n", "> f(z)\nError in as.name(z)[[3]] : subscript out of bounds", 2, id="the-call-of-an-error"),
    pytest.param("a.R", "f <- function(z) {\n  rank(z)[[3]]\n}\n", "```\nError in rank(z)[[3]] :\n  subscript out of bounds\n```", 2, id="the-call-of-an-error-in-a-block"),
    pytest.param("a.sh", "load() {\n  cp -r /srv/zones/* /\n}\n", "Сбой:\n\nError at line 2: cp -r /srv/zones/* /", 2, id="the-command-of-an-error"),
    pytest.param("a.py", "def f(z):\n    return '北区' in z\n", "It has `'北区' in z`.", 2, id="other-script"),
]  # fmt: skip


ROUTES = [
    pytest.param("a.go", "package a\n\nfunc f(m string) {\n\tswitch m {\n\tcase \"zones/read\":\n\t}\n}\n", "`zones/read` fails", 5, id="method"),
    pytest.param("a.js", "app.get('/zones/:id', read)\n", "`GET /zones/:id` fails", 1, id="route"),
    pytest.param("a.js", "app.get('/zones', read)\n", "その後 GET /zones で一覧を取得", 1, id="request"),
    pytest.param("a.js", "app.get('/zones', read)\n", "It sends GET /api/v1/zones twice", 1, id="mounted-request"),
    pytest.param("a.py", "def f(z):\n    return z == 'text/x-zone'\n", "It ignores `text/x-zone`", 2, id="medium"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "text", "line"), ROUTES)
def test_a_route_leads_to_the_string_of_the_code(tmp_path: Path, path: str, code: str, text: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "Zones are wrong", text), "quoted_here")
    assert (found.line, found.strong) == (line, True)


MISSED = [
    pytest.param("Unable to find component: [zone_form]", [2], id="in-brackets"),
    pytest.param("error: Route “zone.form” is not defined", [4], id="named-before-the-error"),
    pytest.param("unknown event 'zone:form'", [3], id="another-sign"),
    pytest.param("Unable to find component: [form]", [], id="one-word"),
    pytest.param("Found component: [zone_form]", [], id="no-error"),
    pytest.param("Expected org.acme.zones.boot.ZoneFactory here.", [5], id="class-of-a-library"),
    pytest.param("It threw org.acme.zones.boot.ZoneFormException there.", [], id="class-of-errors"),
]


@pytest.mark.parametrize(("text", "lines"), MISSED)
def test_a_name_that_an_error_misses_leads_to_the_string_of_the_code(tmp_path: Path, text: str, lines: list[int]):
    php = "<?php\n$parts->put('zone_form', Form::class);\non('zone:form', $go);\n$a = 'zone.form';\n"
    code = php + "$b = new ZoneFactory(ZoneFormException::class);\n$c = 'form';\n"
    found = of_kind(facts_of(tmp_path, {"a.php": code}, "It stops", text), "quoted_here")
    assert [fact.line for fact in found] == lines
    assert all(fact.strong for fact in found)


TITLES = [
    pytest.param("zone$set(double x, double y) stops", [2, 3], id="called-on-two-lines"),
    pytest.param("It stops in drawZoneMap", [4], id="of-a-library"),
    pytest.param("Crash in ZPanes::height()", [11], id="class-of-a-member-of-a-library"),
    pytest.param("It stops in keepZoneMap", [], id="defined-here"),
    pytest.param("It throws DrawZoneException", [], id="class-of-errors"),
    pytest.param("It stops in showZoneMap", [], id="used-often"),
]


@pytest.mark.parametrize(("title", "lines"), TITLES)
def test_a_name_of_the_title_that_no_own_file_defines_leads_to_its_uses(tmp_path: Path, title: str, lines: list[int]):
    code = "class A {\n  void a() { zone$set(1, 2); }\n  void b() { zone$set(3, 4); }\n  int c() { return drawZoneMap(); }\n"
    code += "  void keepZoneMap() { keepZoneMap(); throw new DrawZoneException(); }\n"
    code += "  void d() {\n    showZoneMap(1);\n    showZoneMap(2);\n    showZoneMap(3);\n  }\n  int e() { return new ZPanes().top(); }\n}\n"
    found = of_kind(facts_of(tmp_path, {"A.java": code}, title, "It happens each time."), "quoted_here")
    assert [fact.line for fact in found] == lines
    assert all(fact.strong for fact in found)


@pytest.mark.parametrize(("words", "lines"), [("`custom:zone-card`", []), ("`custom:zone-list`", [2])])
def test_the_name_of_the_project_is_no_expression(tmp_path: Path, words: str, lines: list[int]):
    files = {
        "package.json": '{"name": "zone-card"}\n',
        "a.ts": "f({\n  type: 'custom:zone-list',\n  kind: 'custom:zone-card',\n})\n",
    }
    found = of_kind(facts_of(tmp_path, files, "It stops", f"I use {words} here."), "quoted_here")
    assert [fact.line for fact in found] == lines


@pytest.mark.parametrize(("words", "unclaimed"), [("`zone.rank(`", True), ("`zone.height(`", False)])
def test_the_call_of_a_method_of_the_project_leads_and_claims_nothing(tmp_path: Path, words: str, unclaimed: bool):
    files = {
        "a.py": "def f(zone):\n    return zone.rank(1), zone.height(2)\n",
        "z.py": "class Z:\n    def rank(self, n):\n        return n\n",
    }
    (found,) = of_kind(facts_of(tmp_path, files, "It is wrong", f"I think that {words} fails."), "quoted_here")
    assert (found.path, found.line, found.unclaimed) == ("a.py", 2, unclaimed)


def test_a_frame_leads_before_a_library_of_the_title(tmp_path: Path):
    files = {"a/run.py": "def run(z):\n    return z.size\n", "b.py": "drawZoneMap()\n"}
    trace = 'Traceback (most recent call last):\n  File "a/run.py", line 2, in run\n    return z.size\nTypeError: it is wrong\n'
    for body, found in (("It stops.", ["b.py"]), (f"```\n{trace}```\n", [])):
        facts = of_kind(facts_of(tmp_path / str(len(body)), files, "drawZoneMap stops", body), "quoted_here")
        assert [fact.path for fact in facts] == found


VALUES = [
    pytest.param("The default zone-v2-west is gone.", [1], id="words-and-a-number"),
    pytest.param("区域默认为zone-v2-west，已停用", [1], id="in-a-language-without-spaces"),
    pytest.param("The default zone-v2-west-b is gone.", [], id="a-longer-value"),
    pytest.param("The default zone-v-west is gone.", [], id="without-a-number"),
    pytest.param("See zone-v2-west.md for it.", [], id="a-file"),
]


@pytest.mark.parametrize(("text", "lines"), VALUES)
def test_a_value_leads_to_the_string_of_the_code(tmp_path: Path, text: str, lines: list[int]):
    files = {"a.py": "ZONE = 'zone-v2-west'\nOLD = 'zone-v-west'\n"}
    found = of_kind(facts_of(tmp_path, files, "Zones", text), "quoted_here")
    assert [(fact.line, fact.unclaimed) for fact in found] == [(line, True) for line in lines]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("https://zones.example.com/zones/all?x=1 is empty", 2, id="an-address"),
        pytest.param("http://localhost:4200/#/zones/all is empty", 2, id="an-address-with-a-hash"),
        pytest.param("The page /zones/all is empty", 2, id="in-prose"),
        pytest.param("https://zones.example.com/zones/all/them is empty", None, id="a-longer-one"),
        pytest.param("The page of zones/all is empty", None, id="not-from-the-root"),
    ],
)
def test_an_address_leads_to_the_line_that_defines_its_route(tmp_path: Path, text: str, line: int | None):
    files = {"menu.ts": "go('/zones/all');\n", "routes.ts": "export default [{\n  path: '/zones/all',\n}];\n"}
    found = of_kind(facts_of(tmp_path, files, "It is empty", text), "quoted_here")
    assert [(fact.path, fact.line, fact.strong) for fact in found] == ([("routes.ts", line, True)] if line else [])


def test_a_longer_route_is_another_one(tmp_path: Path):
    routes = "app.route('/zones/all-new')\napp.route('/zones/all')\napp.route('/zones/all/<id>')\n"
    (found,) = of_kind(facts_of(tmp_path, {"app.py": routes}, "GET /zones/all is empty", "It is."), "quoted_here")
    assert (found.line, found.count) == (2, 1)


@pytest.mark.parametrize("text", ["`zones/a.py` fails", "zones/table fails"])
def test_a_path_is_no_route(tmp_path: Path, text: str):
    files = {"a.py": "def f(z):\n    return z == 'the zones/read of all' or z == 'zones/a.py' or z == 'zones/table'\n"}
    assert of_kind(facts_of(tmp_path, files, "Wrong", text), "quoted_here") == []


@pytest.mark.parametrize(("path", "code", "text", "line"), CASES)
def test_an_expression_on_one_line_is_strong(tmp_path: Path, path: str, code: str, text: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "Zones are wrong", text), "quoted_here")
    assert (found.path, found.line, found.strong, found.count) == (path, line, True, 1)


def test_a_word_in_quotes_is_no_expression(tmp_path: Path):
    files = {"a.py": "def f(z):\n    return z['zone']\n"}
    assert of_kind(facts_of(tmp_path, files, "Wrong", 'It says "zone" there.'), "quoted_here") == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param('It says "[DD] [HH:[MM:]]ss[.uuuuuu]" there.', [2], id="its-own-string"),
        pytest.param("Format “[DD] [HH:[MM:]]ss[.uuuuuu]” is wrong", [2], id="typographic-quotes"),
        pytest.param('It says "[DD] [HH:MM]ss[.uuuuuu]" there.', [], id="another-string"),
        pytest.param('It says "the day and time" there.', [], id="only-words"),
    ],
)
def test_a_quoted_string_with_other_characters_than_prose(tmp_path: Path, text: str, lines: list[int]):
    files = {"a.py": "def f(z):\n    z.form = 'the day and time as [DD] [HH:[MM:]]ss[.uuuuuu].'\n"}
    found = of_kind(facts_of(tmp_path, files, "It is wrong", text), "quoted_here")
    assert [fact.line for fact in found] == lines


HELD = "def f(z):\n    return z.rank == 3\n"
NONE = [
    pytest.param({"a.py": "def f(z):\n    # z.rank == 3 is old\n    return z\n"}, "`z.rank == 3`", id="a-comment"),
    pytest.param({"a.py": 'def f(z):\n    """Use\n    z.rank == 3 here.\n    """\n'}, "`z.rank == 3`", id="a-docstring"),
    pytest.param({"a.py": "import zones.rank\n"}, "`zones.rank` is imported", id="an-import"),
    pytest.param({"tests/test_a.py": HELD, "a.py": "A = 1\n"}, "`z.rank == 3`", id="a-test"),
    pytest.param({"docs/a.py": HELD, "a.py": "A = 1\n"}, "`z.rank == 3`", id="an-example"),
    pytest.param({"a.py": HELD}, "`z.rank == 30`", id="another-value"),
    pytest.param({"a.py": "def f(z):\n    z.order = False\n"}, "`order=False`", id="an-attribute"),
    pytest.param({"a.py": HELD}, "`xz.rank == 3`", id="another-name"),
    pytest.param({"a.py": "def f(z):\n    return measure_rank()\n"}, "`measure_rank()`", id="only-a-name"),
    pytest.param({"a.py": "def f(z):\n    return z.rank == 3\n" * 5}, "`z.rank == 3`", id="five-lines"),
    pytest.param({"a.py": "def f(z):\n    raise E('not with rank=3 here')\n"}, "`rank=3`", id="a-message"),
    pytest.param({"a.c": "int f() {\n  doc(R\"(\n>>> z.rank == 3\n)\");\n}\n"}, "`z.rank == 3`", id="a-session"),
    pytest.param({"a.py": HELD}, "```\nassert z.rank == 3\n```", id="the-reporter's-program"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "text"), NONE)
def test_other_code_is_no_fact(tmp_path: Path, files: dict[str, str], text: str):
    assert of_kind(facts_of(tmp_path, files, "Wrong", text), "quoted_here") == []


def test_an_expression_on_two_lines_is_stated_and_does_not_lead(tmp_path: Path):
    files = {"a.py": HELD, "b.py": "def g(z):\n    return z.rank == 3\n"}
    found = of_kind(facts_of(tmp_path, files, "Wrong", "`z.rank == 3`"), "quoted_here")
    assert [(fact.path, fact.line, fact.strong, fact.count) for fact in found] == [
        ("a.py", 2, False, 2),
        ("b.py", 2, False, 2),
    ]


def test_a_string_that_is_the_expression_counts_as_a_line_of_it(tmp_path: Path):
    files = {"a.py": "def f(z):\n    return z.rankOf + 1\n", "b.py": "KEYS = ['z.rankOf']\n"}
    found = of_kind(facts_of(tmp_path, files, "Wrong", "`z.rankOf` is wrong"), "quoted_here")
    assert [(fact.path, fact.line, fact.count) for fact in found] == [("a.py", 2, 2), ("b.py", 1, 2)]


def test_a_longer_expression_precedes_the_part_of_it_that_the_report_has_before(tmp_path: Path):
    files = {"a.py": "def f(z):\n    if g(z.rank == 3) and z.rank == 3:\n        return z.rank == 3\n"}
    found = of_kind(facts_of(tmp_path, files, "Wrong", "`z.rank == 3` of `g(z.rank == 3)`"), "quoted_here")
    assert [(fact.line, fact.words) for fact in found] == [(2, "g(z.rank == 3)"), (3, "z.rank == 3")]


def test_a_fact_is_refused_if_another_line_has_the_expression(tmp_path: Path):
    body = "`z.rank == 3`"
    before = make_repository(tmp_path, {"a.py": HELD})
    (fact,) = of_kind(facts_at(tmp_path, before, "Wrong", body), "quoted_here")
    after = make_repository(tmp_path, {"a.py": HELD, "b.py": HELD})
    repository = Repository.open(tmp_path)
    assert verify(fact, repository, before, body) is None
    assert verify(fact, repository, after, body) == "`b.py` contains it as well"
    # Scripts of a site are few among the files, but own code.
    script = make_repository(tmp_path, {"a.py": HELD, "static/b.js": "const g = z => z.rank == 3\n"})
    assert verify(fact, repository, script, body) == "`static/b.js` contains it as well"
    assert verify(replace(fact, line=1, text="def f(z):"), repository, before, body) is not None


@pytest.mark.parametrize(
    ("title", "body", "strong"),
    [("No event for 'zone_out_v2'", "", True), ("No event", "It has 'zone_out_v2'.", False)],
)
def test_a_string_that_the_title_quotes_is_what_the_report_is_about(
    tmp_path: Path, title: str, body: str, strong: bool
):
    files = {"a.c": 'const char *name = "zone_out_v2";\n', "b.c": "int zone_out_v2;\n"}
    (fact,) = of_kind(facts_of(tmp_path, files, title, body, first=("b.c", "a.c")), "quoted_here")
    assert (fact.path, fact.strong) == ("a.c", strong)


@pytest.mark.parametrize(("option", "holds"), [("--wide=false", False), ("-wide=false", False), ("wide=false", True)])
def test_an_option_of_a_command_is_no_expression(tmp_path: Path, option: str, *, holds: bool):
    files = {"a.go": "package a\n\nfunc f() {\n\tvar wide bool\n\twide = false\n\tuse(wide)\n}\n"}
    found = of_kind(facts_of(tmp_path, files, "It is ignored", f"I pass `{option}` to it."), "quoted_here")
    assert [fact.line for fact in found] == ([5] if holds else [])


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Replace most `log(...)` calls with `zone.write(err, ...)`, perhaps.", False),
        ("It should rather be `zone.write(err)`.", False),
        ("It stops in `zone.write(err)`.", True),
    ],
)
def test_code_that_a_report_proposes_is_no_fact(tmp_path: Path, text: str, *, holds: bool):
    files = {"a.py": "def f(zone, err):\n    zone.write(err)\n"}
    found = of_kind(facts_of(tmp_path, files, "Mixed output", text), "quoted_here")
    assert [fact.line for fact in found] == ([2] if holds else [])


def test_nothing_is_claimed_from_where_a_flag_is_passed_on(tmp_path: Path):
    files = {
        "guards.py": 'def start(run):\n    return run(["weather", "--frost-guard", "{}"])\n',
        "shields.py": "def stop(run):\n    return run('weather --frost-guard no')\n",
    }
    facts = facts_of(tmp_path, files, "It passes --frost-guard={} and stops", first=["guards.py"])
    (found,) = of_kind(facts, "quoted_here")
    assert (found.line, found.strong, found.unclaimed) == (2, True, True)


@pytest.mark.parametrize(
    ("body", "others"),
    [
        pytest.param("zones.php:3: Function zone_free() is deprecated since 8.5", [6], id="the-call-of-the-error"),
        pytest.param("zones.php:3: the rows are empty", [], id="not-in-the-error"),
        pytest.param("zones.php:2: Function zone_free() is deprecated since 8.5", [], id="not-on-the-line"),
    ],
)
def test_other_lines_with_the_call_of_a_named_line_are_stated_below_it(tmp_path: Path, body: str, others: list[int]):
    code = "<?php\nfunction one($a) {\n    zone_free($a);\n}\nfunction two($a) {\n    zone_free($a->rows);\n}\n"
    facts = facts_of(tmp_path, {"zones.php": code}, "A warning is shown", f"```\n{body}\n```")
    found = [fact for fact in of_kind(facts, "quoted_here") if fact.words == "zone_free"]
    assert [fact.line for fact in found] == others
    assert all(fact.unclaimed and fact.follows == ("zones.php", 3) for fact in found)
    if found:
        stated = statement(facts, ["zones.php"], 0.5).stated
        assert [fact.line for fact in stated][:2] == [3, 6]


def test_the_script_of_a_page_has_the_expression_as_well(tmp_path: Path):
    files = {"src/seek.js": "function seek(video, t) {\n  video.currentZone = t;\n}\n"}
    page = {"web/page.html": "<script>\nvideo.currentZone = t;\n</script>\n"}
    for name, more, count in (("alone", {}, 1), ("page", page, 0)):
        facts = facts_of(tmp_path / name, files | more, "It is wrong", "It is `video.currentZone = t` there.")
        assert len([fact for fact in of_kind(facts, "quoted_here") if "on no other line" in fact.says]) == count
