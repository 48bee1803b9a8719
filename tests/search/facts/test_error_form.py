"""An error of a language leads to the line of its form in the code that the report reaches."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of, of_kind

CASES = [
    pytest.param("a.py", "def f(line):\n    key, value = line.split('=')\n    return key\n", "ValueError: too many values to unpack (expected 2)", 2, id="unpacking"),
    pytest.param("a.py", "def f(rows):\n    for a, b, c in rows:\n        print(a)\n", "ValueError: not enough values to unpack (expected 3, got 2)", 2, id="unpacking-in-a-loop"),
    pytest.param("a.py", "def f(row):\n    name = row['zone']\n    return name\n", "KeyError: 'zone'", 2, id="missing-key"),
    pytest.param("a.py", "def f(row):\n    x = row.find()\n    return x.strip()\n", "AttributeError: 'NoneType' object has no attribute 'strip'", 3, id="none"),
    pytest.param("a.py", "def f(row):\n    row.itemset(0)\n", "AttributeError: `itemset` was removed from the ndarray class in NumPy 2.0.", 2, id="removed"),
    pytest.param("a.py", "import numpy as np\n\nKIND = np.bool\n", "AttributeError: module 'numpy' has no attribute 'bool'", 3, id="of-a-module"),
    pytest.param("a.py", "import os\nfrom zones import (a, b)\nc = b\n", "ImportError: cannot import name 'b' from 'zones'", 2, id="import"),
    pytest.param("A.kt", "fun f(row: Row) =\n    row.kind == Kinds.OPEN_ZONE\n", "NoSuchMethodError: a.b.Kinds$Companion.getOPEN_ZONE()", 2, id="method-of-a-library"),
    pytest.param("A.cs", "class A {\n  int F(Rows rows) {\n    var n = rows.Zones.Count;\n    return n;\n  }\n}\n", "Method not found: 'System.Collections.Generic.List`1<A.Zone> A.B.IRows.get_Zones()'.", 3, id="property-of-a-library"),
    pytest.param("a.js", "import {\n  other,\n  zones,\n} from 'acme'\nzones()\n", "SyntaxError: The requested module 'acme' does not provide an export named 'zones'", 3, id="export"),
    pytest.param("a.ts", "import { other, zones } from 'acme'\nzones()\n", "error TS2305: Module '\"acme\"' has no exported member 'zones'.", 1, id="exported-member"),
    pytest.param("a.js", "function f(row) {\n  const x = row.find()\n  return x.zone\n}\n", "TypeError: Cannot read properties of undefined (reading 'zone')", 3, id="undefined"),
    pytest.param("a.js", "function f(row) {\n  return row.next.zone\n}\n", "TypeError: can't access property \"zone\", t.a is undefined", 2, id="undefined-in-firefox"),
    pytest.param("a.js", "function f(row) {\n  return row.next.zone\n}\n", "undefined is not an object (evaluating 'row.next.zone')", 2, id="undefined-in-safari"),
    pytest.param("a.rb", "def f(row)\n  row.zone.strip\nend\n", "undefined method `strip' for nil:NilClass (NoMethodError)", 2, id="nil"),
    pytest.param("A.java", "class A {\n  int f(Row row) {\n    return row.zone().rank();\n  }\n}\n", 'Cannot invoke "Zone.rank()" because the return value of "Row.zone()" is null', 3, id="null"),
    pytest.param("A.java", "class A {\n  Zone f(Object row) {\n    return (Zone) row;\n  }\n}\n", "java.lang.ClassCastException: class b.Row cannot be cast to class b.Zone (b.Row is in unnamed module)", 3, id="cast"),
    pytest.param("a.go", "package a\n\nfunc f(rows, height int) int {\n\tsize := rows + 1\n\treturn size / height\n}\n", "panic: runtime error: integer divide by zero", 5, id="division"),
    pytest.param("a.rs", "fn f(row: &Row) -> u8 {\n    let zone = row.zone();\n    zone.unwrap()\n}\n", "called `Option::unwrap()` on a `None` value", 3, id="unwrap"),
    pytest.param("a.php", "<?php\nfunction f($row) {\n    return $row['zone'];\n}\n", 'Warning: Undefined array key "zone"', 3, id="array-key"),
    pytest.param("a.php", "<?php\nfunction f($row) {\n    list($a, $b) = g($row);\n    list($c, $d, $e) = h($row);\n    return $c;\n}\n", "Warning: Undefined array key 2", 4, id="too-few-values"),
    pytest.param("a.sh", "set -u\nPREFIX=${1:-/usr}\nETC=$2\n", "a.sh: $2: unbound variable", 3, id="unset-variable"),
    pytest.param("a.sh", 'set -u\nrun "${zones[@]}"\n', "a.sh: zones[@]: unbound variable", 2, id="unset-elements"),
    pytest.param("a.dart", "Zone f(Object row) {\n  return row as Zone;\n}\n", "type 'Null' is not a subtype of type 'Zone' in type cast", 2, id="cast-of-null"),
    pytest.param("a.py", "def f(rows):\n    if rows:\n        zone = rows[0]\n    return zone\n\n\ndef g(zone=None):\n    if not zone:\n        zone = 1\n    return zone\n", "UnboundLocalError: cannot access local variable 'zone' where it is not associated with a value", 4, id="unset-local-variable"),
    pytest.param("a.dart", "class Zone {}\n\nclass ZoneIcon extends IconData {\n  final int x = 1;\n}\n", "The class 'IconData' can't be extended outside of its library because it's a final class.", 3, id="final-class"),
    pytest.param("a.ts", 'import { rows } from "acme/core"\nrows()\n', "Error: Cannot find module 'acme/core'", 1, id="module"),
    pytest.param("a.rs", "fn f(row: &Row) {\n    match row {\n        Row::A => a(),\n        Row::B => unreachable!(),\n    }\n}\n", "panicked: internal error: entered unreachable code", 4, id="unreachable"),
    pytest.param("a.kt", "fun f(row: Any?): Zone {\n    val near = row as Zone?\n    return row as Zone\n}\n", "null cannot be cast to non-null type b.Zone", 3, id="cast-to-non-null"),
    pytest.param("a.php", "<?php\nclass Zones {\n    public function firstZone(): Zone\n    {\n        return $this->cache->get('zone');\n    }\n}\n", "Acme\\Zones::firstZone(): Return value must be of type Acme\\Zone, __PHP_Incomplete_Class returned", 3, id="returned-type"),
    pytest.param("a.php", "<?php\nfunction f() {\n    mt_srand((double) microtime());\n}\n", "Deprecated: Non-canonical cast (double) is deprecated, use the (float) cast instead", 3, id="cast-of-php"),
    pytest.param("src/ZoneMixin.java", '@Mixin(Zone.class)\npublic abstract class ZoneMixin {\n    @Inject(method = "draw", at = @At("HEAD"))\n    public void drawZone(Zone zone) {\n        zone.draw();\n    }\n    public void drawZone(Zone zone, int at) {\n    }\n}\n', "Invalid descriptor on acme.mixins.json:ZoneMixin from mod acme->@Inject::drawZone(La/Zone;)V! Expected (La/Zone;I)V", 4, id="mixin"),
    pytest.param("src/ZoneMixin.java", '@Mixin(Zone.class)\npublic abstract class ZoneMixin {\n    @Inject(method = "draw", at = @At("HEAD"))\n    private static void drawZone(Zone zone) {\n        zone.draw();\n    }\n}\n', "Critical injection failure: @Inject annotation on drawZone could not find any targets matching 'draw'", 4, id="mixin-without-a-target"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "code", "error", "line"), CASES)
def test_the_only_line_with_the_form_is_found(tmp_path: Path, path: str, code: str, error: str, line: int):
    found = of_kind(facts_of(tmp_path, {path: code}, "It fails", f"```\n{error}\n```"), "raised_here")
    assert [(fact.path, fact.line, fact.strong) for fact in found] == [(path, line, True)]


def test_a_module_that_a_file_uses_and_does_not_import(tmp_path: Path):
    files = {
        "core/run.py": "import os\n\n\ndef path():\n    return shutil.which('acme') or shutil.which('acme.exe')\n",
        "core/copy.py": "import shutil\n\n\ndef copy(a, b):\n    shutil.copy(a, b)\n",
        "core/bare.py": "from shutil import *\n\n\ndef bare(a, b):\n    return shutil.copy(a, b)\n",
    }
    text = "It logs this:\n\nError getting the status: name 'shutil' is not defined"
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", text), "raised_here")
    assert (found.path, found.line) == ("core/run.py", 5)
    del files["core/run.py"]
    assert not of_kind(facts_of(tmp_path / "bound", files, "It fails", text), "raised_here")


def test_an_identifier_that_a_host_refuses_is_found_below_its_frames(tmp_path: Path):
    files = {
        "acme/entity.py": "class Reef:\n    def __init__(self, name):\n        self.entity_id = f'sensor.{name}'\n"
    }
    trace = 'Traceback (most recent call last):\n  File "/usr/src/host/platform.py", line 82, in add\n    raise HostError(x)\n'
    text = f"{trace}host.HostError: Invalid entity ID: sensor.Big_Reef"
    (found,) = of_kind(facts_of(tmp_path, files, "It stopped", text), "raised_here")
    assert (found.path, found.line) == ("acme/entity.py", 3)


def test_a_missing_module_is_found_below_frames_of_the_host(tmp_path: Path):
    files = {"pages.py": "from acme.web import page\n\n\ndef show():\n    return page()\n", "main.py": "import pages\n"}
    trace = (
        'Traceback (most recent call last):\n  File "/opt/acme/host/star.py", line 434, in load\n    __import__(path)\n'
    )
    text = f"It says “No module named 'acme.web'”.\n\n{trace}"
    (found,) = of_kind(facts_of(tmp_path, files, "It does not install", text), "raised_here")
    assert (found.path, found.line) == ("pages.py", 1)


def test_in_a_large_project_the_files_with_a_distinctive_name_are_read(tmp_path: Path):
    files = {f"lib/a{number}.dart": f"int f{number}() => {number};\n" for number in range(50)}
    files["lib/queue.dart"] = "List f(List rows) {\n  return rows.map((row) => row as MediaItem).toList();\n}\n"
    error = "type 'Null' is not a subtype of type 'MediaItem' in type cast"
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", f"```\n{error}\n```"), "raised_here")
    assert (found.path, found.line) == ("lib/queue.dart", 2)


def test_a_value_that_was_null_is_found_below_frames_of_a_merged_program(tmp_path: Path):
    files = {
        "Title.java": "class Title {\n  void draw() {\n    if (Zones.rows.shown) {\n      show();\n    }\n  }\n}\n",
        "Holder.java": "class Holder {\n  boolean get(Rows rows) {\n    return rows.shown;\n  }\n}\n",
    }
    error = 'java.lang.NullPointerException: Cannot read field "shown" because "acme.Zones.rows" is null'
    trace = f"{error}\n\tat net.game.Screen.handler$draw(Screen.java:15)\n\tat net.game.Main.main(Main.java:2)\n"
    (found,) = of_kind(facts_of(tmp_path, files, "It crashes", trace), "raised_here")
    assert (found.path, found.line, found.strong) == ("Title.java", 3, True)


def test_the_first_use_of_a_method_that_a_library_lacks_is_found_in_the_function_of_a_frame(tmp_path: Path):
    uses = "    var n = host.Zones.Count;\n    return n + host.Zones.Max;\n"
    code = f"class ZonePage {{\n  int ReadRows(Host host) {{\n{uses}  }}\n}}\n"
    error = "System.MissingMethodException: Method not found: 'A.Zones A.B.IHost.get_Zones()'.\n"
    untraced = facts_of(tmp_path / "untraced", {"Acme/ZonePage.cs": code}, "It fails", f"```\n{error}```\n")
    assert of_kind(untraced, "raised_here") == []
    body = f"```\n{error}   at Acme.ZonePage.ReadRows(Host host)\n   at System.Main()\n```\n"
    found = of_kind(facts_of(tmp_path / "traced", {"Acme/ZonePage.cs": code}, "It fails", body), "raised_here")
    assert [fact.line for fact in found if fact.strong and "Zones" in fact.says] == [3]


READS = "<?php\nfunction f($rows) {\n    return str_contains($rows, '-');\n}\n"
ARGUMENT = "str_contains(): Argument #1 ($haystack) must be of type string, null given"


def test_a_file_that_the_report_names_has_the_line(tmp_path: Path):
    files = {"src/zone_parser.php": READS, "src/other.php": READS, "src/more.php": READS}
    (found,) = of_kind(facts_of(tmp_path, files, ARGUMENT, "It is thrown in zone_parser.php"), "raised_here")
    assert (found.path, found.line) == ("src/zone_parser.php", 3)
    assert found.says == "`f` passes `$rows` to `str_contains`; the error says that this was `null`."


def test_an_index_in_a_function_that_the_report_names(tmp_path: Path):
    code = "func loadMore(rows: [Int]) {\n    let last = rows[rows.count - offset]\n    print(rows[0], last)\n}\n"
    files = {"a.swift": code, "b.swift": code.replace("loadMore", "loadLess")}
    (found,) = of_kind(facts_of(tmp_path, files, "Index out of range in `loadMore()`"), "raised_here")
    assert (found.path, found.line) == ("a.swift", 2)
    assert found.says == "`loadMore` reads `rows[rows.count - offset]`; the error says that the index is out of range."


UNPACKS = "def {}(line):\n    key, value = line.split('=')\n    return key\n"
UNPACK_ERROR = "```\nValueError: too many values to unpack (expected 2)\n```"


def test_two_such_lines_are_no_fact_unless_the_report_names_a_function(tmp_path: Path):
    files = {"a.py": f"{UNPACKS.format('load')}\n\n{UNPACKS.format('scan')}"}
    assert of_kind(facts_of(tmp_path / "neither", files, "It fails", UNPACK_ERROR), "raised_here") == []
    (found,) = of_kind(facts_of(tmp_path / "named", files, "`scan` fails", UNPACK_ERROR), "raised_here")
    assert (found.line, found.symbol) == (7, "scan")


@pytest.mark.parametrize(("body", "lines"), [("I have no tracker", [2]), ("I have no zone", [])])
def test_of_several_such_lines_the_one_in_the_function_that_words_spell(tmp_path: Path, body: str, lines: list[int]):
    code = "def trackers\n  names.map { |n| n }\nend\n\ndef enumerate_issues\n  all.map { |n| n }\nend\n"
    found = facts_of(tmp_path, {"a.rb": code}, "undefined method `map' for nil:NilClass", f"{body}.")
    assert [fact.line for fact in of_kind(found, "raised_here")] == lines


def test_the_answer_to_a_question_is_read(tmp_path: Path):
    answer = "ValueError: too many values to unpack (expected 2)"
    files = {"a.py": UNPACKS.format("load"), "b.py": "def run():\n    return 1\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "It fails", "Always.", extra=[answer]), "raised_here")
    assert (found.path, found.line) == ("a.py", 2)


def test_the_answer_leads_to_the_first_file_of_a_larger_project(tmp_path: Path):
    files = {f"m{number}.py": f"def run_{number}(x):\n    a, b = x\n" for number in range(50)}
    files["conf/settings.py"] = UNPACKS.format("read_settings")
    title, answer = "A value of the settings has an equals sign", "ValueError: too many values to unpack (expected 2)"
    found = of_kind(facts_of(tmp_path, files, title, "It fails.", extra=[answer]), "raised_here")
    assert [(fact.path, fact.line, fact.strong) for fact in found] == [("conf/settings.py", 2, False)]


@pytest.mark.parametrize(("others", "lines"), [(3, []), (2, [2])])
def test_a_common_call_names_no_place_in_the_first_file(tmp_path: Path, others: int, lines: list[int]):
    files = {f"m{number}.js": f"export const replace{number} = {number}; // replace\n" for number in range(50)}
    calls = {
        f"m{number}.js": f"export function run{number}(x) {{\n  return x.replace(1, 2);\n}}\n"
        for number in range(others)
    }
    zone = {"zone.js": "export function replaceZone(zone) {\n  return zone.name.replace('a', 'b');\n}\n"}
    error = "Zone: Cannot read properties of undefined (reading 'replace')"
    found = of_kind(facts_of(tmp_path, files | calls | zone, error, error), "raised_here")
    assert [fact.line for fact in found if fact.path == "zone.js"] == lines


@pytest.mark.parametrize(
    ("code", "error"),
    [
        pytest.param("def f(row):\n    a, b, c = row\n", "too many values to unpack (expected 2)", id="another-number"),
        pytest.param("def f(row):\n    # x = row['zone']\n    return 1\n", "KeyError: 'zone'", id="a-comment"),
        pytest.param("def f(row):\n    return row['zone']\n", "KeyError with zones", id="no-key"),
        pytest.param(
            "def f(row):\n    x = row if hasattr(row, 'zone') else Row\n    return x.zone\n",
            "AttributeError: 'Row' object has no attribute 'zone'",
            id="asked-for-before",
        ),
        pytest.param("def f(rows):\n    return rows / 2\n", "ZeroDivisionError: division by zero", id="a-constant"),
    ],
)
def test_another_form_is_no_fact(tmp_path: Path, code: str, error: str):
    assert of_kind(facts_of(tmp_path, {"a.py": code}, "It fails", error), "raised_here") == []


RUST = {
    "src/error.rs": '#[derive(Debug, thiserror::Error)]\npub enum ScanError {\n    #[error("barcode {0} belongs to two books")]\n    Twice(u64),\n    #[error("no scanner")]\n    NoScanner,\n    #[error("scanner at {port} does not answer")]\n    Silent {\n        port: String,\n    },\n}\n',
    "src/scan.rs": "use crate::error::ScanError::Silent;\n\npub fn run(code: u64, port: String) -> Result<(), ScanError> {\n    if code > 9 {\n        return Err(ScanError::Twice(code));\n    }\n    if port.is_empty() {\n        return Err(ScanError::NoScanner);\n    }\n    Err(ScanError::Silent { port })\n}\n",
    "src/main.rs": "fn main() -> Result<(), ScanError> {\n    match scan::run(1, port()) {\n        Err(ScanError::Silent { .. }) => retry(),\n        other => other,\n    }\n}\n",
}


@pytest.mark.parametrize(
    ("error", "line"),
    [
        pytest.param("Error: Twice(12)", 5, id="what-main-returns"),
        pytest.param("Error: NoScanner", 8, id="without-a-value"),
        pytest.param('Error: Silent { port: "COM3" }', 10, id="matched-elsewhere"),
        pytest.param("Error: barcode 12 belongs to two books", 5, id="message-of-a-variant"),
        pytest.param("Error: scanner at COM3 does not answer", 10, id="message-of-a-variant-with-fields"),
    ],
)
def test_an_error_of_rust_leads_to_the_line_that_makes_it(tmp_path: Path, error: str, line: int):
    (found,) = of_kind(facts_of(tmp_path, RUST, "It stops", f"```\n{error}\n```"), "raised_here")
    assert (found.path, found.line) == ("src/scan.rs", line)


def test_an_error_of_rust_that_two_lines_make_names_neither(tmp_path: Path):
    twice = {**RUST, "src/again.rs": "pub fn again() -> ScanError {\n    ScanError::Twice(1)\n}\n"}
    text = "```\nError: barcode 12 belongs to two books\n```"
    assert not of_kind(facts_of(tmp_path, twice, "It stops", text), "raised_here")


def test_an_error_that_the_innermost_frame_explains_fits_no_outer_line(tmp_path: Path):
    code = (
        "package a\n\nfunc (self *Rows[T]) Pick() T {\n\treturn self.rows()[self.Line()]\n}\n\n"
        "func Fill() {\n\tvar all *set.Set[types.View]\n\tuse(all, rows.Pick())\n}\n"
    )
    trace = (
        "panic: runtime error: index out of range [-1]\n\ngoroutine 1 [running]:\n"
        "example.org/a.(*Rows[...]).Pick(0x1)\n\t/home/a/rows.go:4 +0x80\nexample.org/a.Fill()\n\t/home/a/rows.go:9 +0x44\n"
    )
    (found,) = of_kind(facts_of(tmp_path, {"rows.go": code}, "It crashes", f"```\n{trace}```"), "raised_here")
    assert (found.line, "reads `self.rows()[self.Line()]`" in found.says) == (4, True)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("isset($row['zone']) ? $row['zone'] : 0", id="isset"),
        pytest.param("$row['zone'] ?? 0", id="or-another-value"),
        pytest.param('array_key_exists("zone", $row) && $row["zone"]', id="a-function"),
    ],
)
def test_a_key_that_its_line_checks_is_not_the_missing_one(tmp_path: Path, value: str):
    code = f"<?php\nfunction f($row) {{\n    return {value};\n}}\n"
    report = '```\nWarning: Undefined array key "zone"\n```'
    assert of_kind(facts_of(tmp_path, {"a.php": code}, "It fails", report), "raised_here") == []


@pytest.mark.parametrize(("package", "count"), [("zone-tools", 1), ("other-tools", 0)])
def test_below_a_built_file_of_the_package_an_error_leads_to_its_source(tmp_path: Path, package: str, count: int):
    files = {
        "src/index.ts": "export const rule = {\n  create: (context: any) => {\n    return context.getZone();\n  },\n};\n"
    }
    files = {f"tools/{path}": content for path, content in files.items()}
    files |= {"tools/package.json": '{"name": "zone-tools"}\n', "sea/src/index.ts": "export const sea = 1;\n"}
    trace = (
        "TypeError: while loading: context.getZone is not a function\n"
        f"    at Object.create (/home/a/app/node_modules/{package}/lib/index.js:95:44)\n"
        "    at run (/home/a/app/node_modules/host/lib/run.js:497:15)\n"
    )
    found = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{trace}```"), "raised_here")
    assert [(fact.path, fact.line) for fact in found] == [("tools/src/index.ts", 3)] * count


@pytest.mark.parametrize(
    ("error", "says"),
    [
        pytest.param("called `Result::unwrap()` on an `Err` value: NotFound", "failed", id="result"),
        pytest.param("called `Option::unwrap()` on a `None` value", "has no value", id="option"),
    ],
)
def test_a_value_that_is_unwrapped_is_missing_or_failed(tmp_path: Path, error: str, says: str):
    files = {"src/a.rs": "pub fn zone(rows: &Rows) -> u8 {\n    rows.first().unwrap()\n}\n"}
    panic = f"thread 'main' panicked at src/a.rs:2:18:\n{error}\n"
    (found,) = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{panic}```"), "raised_here")
    assert found.says == f"`zone` unwraps `rows.first()`; the error says that it {says}."


@pytest.mark.parametrize(
    ("code", "error", "line"),
    [
        pytest.param(
            "class A:\n    async def f(self):\n        self.load_zone()\n        await self.load_zone()\n",
            "RuntimeWarning: coroutine 'A.load_zone' was never awaited",
            3,
            id="not-awaited",
        ),
        pytest.param(
            "class A:\n    async def f(self):\n        await self.load_zone()\n",
            "RuntimeWarning: coroutine 'A.load_zone' was never awaited",
            None,
            id="awaited",
        ),
    ],
)
def test_a_coroutine_that_nothing_awaits(tmp_path: Path, code: str, error: str, line: int | None):
    body = f"```\n/srv/a.py:{line or 3}: {error}\n```"
    found = facts_of(tmp_path, {"a.py": code}, "It does nothing", body)
    assert [fact.line for fact in found if "never awaited" in fact.says] == ([line] if line else [])


def test_a_call_that_is_no_method_is_not_the_method_that_is_missing(tmp_path: Path):
    for folder, call, count in (("a", "context.getZone()", 1), ("b", "getZone(context)", 0)):
        files = {"a.js": f"function f(context) {{\n  return {call}\n}}\n"}
        found = facts_of(tmp_path / folder, files, "It stops", "```\nTypeError: context.getZone is not a function\n```")
        assert len(of_kind(found, "raised_here")) == count


def test_of_several_imports_the_one_in_the_folder_that_the_log_names(tmp_path: Path):
    line = "from host.schemas import BuildData\n"
    files = {
        "plugins/zonehelper/__init__.py": f"import os\n{line}",
        "plugins/zonehelper/patch.py": f"def patch():\n    {line}    return BuildData\n",
        "plugins/othertool/__init__.py": line,
    }
    body = "```\nplugin.py - loading plugin zonehelper failed: cannot import name 'BuildData' from 'host.schemas'\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It does not start", body), "raised_here")
    assert (fact.path, fact.line) == ("plugins/zonehelper/__init__.py", 2)
    body = body.replace("zonehelper", "zones")
    assert of_kind(facts_of(tmp_path / "other", files, "It does not start", body), "raised_here") == []


def test_a_member_that_is_searched_for_in_nothing_below_a_bundle(tmp_path: Path):
    files = {
        "package.json": '{"name": "zones", "main": "dist/run.js"}\n',
        "src/index.ts": "export const fail = (error: unknown) => {\n  if ('isZoneError' in error && error.isZoneError) {\n    stop();\n  }\n};\n",
    }
    error = "TypeError: Cannot use 'in' operator to search for 'isZoneError' in undefined"
    body = f"```\n{error}\n    at Object.fail (/snapshot/zones/dist/run.js:7:21)\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It stops", body), "raised_here")
    assert (fact.line, "has `'isZoneError' in error`" in fact.says) == (2, True)


def test_the_line_that_includes_a_header_which_is_not_found(tmp_path: Path):
    line = "#include <soc/kelp_peripherals.h>\n"
    files = {"src/config_six.h": f"#ifdef KELP\n{line}#endif\n", "src/config_five.h": f"{line}int five;\n"}
    error = "fatal error: soc/kelp_peripherals.h: No such file or directory"
    body = f"The failing include is in `src/config_six.h`:\n\n```text\n{error}\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It does not build", body), "raised_here")
    assert (fact.path, fact.line) == ("src/config_six.h", 2)
    (tmp_path / "both").mkdir()
    assert of_kind(facts_of(tmp_path / "both", files, "It does not build", f"```\n{error}\n```"), "raised_here") == []


@pytest.mark.parametrize(
    ("error", "count"),
    [
        pytest.param("can't access property 0, Se.zoneVals is undefined", 1, id="firefox"),
        pytest.param("undefined is not an object (evaluating 'e.zoneVals[0]')", 1, id="safari"),
        pytest.param("can't access property 1, Se.zoneVals is undefined", 0, id="another-index"),
    ],
)
def test_the_member_that_a_bundle_names_leads_to_its_only_use(tmp_path: Path, error: str, count: int):
    code = "export function edit(rule) {\n  const all = rule.zoneVals;\n  return keep(+rule.zoneVals[0], all);\n}\n"
    facts = of_kind(
        facts_of(tmp_path, {"src/edit.ts": code}, "It stops", f"```\nTypeError: {error}\n```"), "raised_here"
    )
    assert [fact.line for fact in facts] == [3] * count
